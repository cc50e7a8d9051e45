"""The short lists of ``spec list``: one line per object."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ascend_spec import Catalog, Schema
from ascend_spec.bin import bin_catalog
from ascend_spec.db.model import CARRIERS
from ascend_spec.documents import DOCUMENTS, source_of
from ascend_spec.text import text_catalog
from ascend_spec.timeline import timeline_catalog

from .blocks import hexed
from .disagreements import disagreements


@dataclass(frozen=True, slots=True)
class Scope:
    """What a list covers: everything, or the state that the given schemas hold."""

    catalog: Catalog
    schemas: tuple[Schema, ...] = ()


@dataclass(frozen=True, slots=True)
class Listing:
    """Headers and rows of text, all of equal length."""

    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def tables(scope: Scope) -> Listing:
    """Tables with their carriers, number of columns and contents; enum tables apart."""
    rows = []
    for table in scope.catalog.tables.values():
        if table.name in scope.catalog.enums:
            continue
        found = [(schema, schema.tables.get(table.name)) for schema in scope.schemas]
        held = {schema.carrier: state for schema, state in found if state is not None}
        if scope.schemas and not held:
            continue
        carriers = [
            name for name in CARRIERS if name in (held if scope.schemas else table.carriers)
        ]
        columns = {column for state in held.values() for column in state.columns} or {
            column.name for column in table.columns.values()
        }
        rows.append((table.name, ",".join(carriers), str(len(columns)), table.summary))
    return Listing(("table", "databases", "columns", "what it holds"), tuple(rows))


def enums(scope: Scope) -> Listing:
    """Enum tables with their number of members."""
    rows = []
    for enum in scope.catalog.enums.values():
        held = [schema.enums[enum.name] for schema in scope.schemas if enum.name in schema.enums]
        if scope.schemas and not held:
            continue
        count = max(map(len, held)) if held else len({member.id for member in enum.members})
        rows.append((enum.name, str(count), enum.summary))
    return Listing(("enum", "members", "what it names"), tuple(rows))


def errata(scope: Scope) -> Listing:
    """Disagreements between sources; in a scope, those at an object that stands in it."""
    rows = [
        (one.erratum.id, ", ".join(one.erratum.at), one.erratum.title)
        for one in disagreements(scope.catalog)
        if not scope.schemas
        or (
            one.erratum.id in scope.catalog.errata
            and any(
                place.partition(".")[0] in schema.tables
                for place in one.erratum.at
                for schema in scope.schemas
            )
        )
    ]
    return Listing(("erratum", "at", "disagreement"), tuple(rows))


def revisions(scope: Scope) -> Listing:
    """The known states of the schema, oldest first."""
    chosen = {schema.revision.id for schema in scope.schemas}
    rows = (
        (revision.id, revision.schema_version, revision.grade, revision.summary)
        for revision in scope.catalog.revisions
        if not chosen or revision.id in chosen
    )
    return Listing(("revision", "SCHEMA_VERSION", "grade", "state"), tuple(rows))


def switches(scope: Scope) -> Listing:
    """Collection switches and how the tools spell them."""
    rows = (
        (switch.id, ", ".join(switch.spelled), switch.summary)
        for switch in scope.catalog.switches.values()
    )
    return Listing(("switch", "spelled", "what it collects"), tuple(rows))


def products(scope: Scope) -> Listing:
    """Product families and their chips."""
    rows = (
        (product.id, product.name, ", ".join(product.chips))
        for product in scope.catalog.products.values()
    )
    return Listing(("product", "name", "chips"), tuple(rows))


def types(_scope: Scope) -> Listing:
    """Value types with unit and storage, those of text last."""
    rows = (
        (kind.id, kind.declared, kind.unit or "", kind.summary)
        for kind in text_catalog().value_types.values()
    )
    return Listing(("type", "declared", "unit", "what it is"), tuple(rows))


def sources(scope: Scope) -> Listing:
    """Where the facts come from."""
    rows = ((source.id, source.grade, source.title) for source in scope.catalog.sources.values())
    return Listing(("source", "grade", "title"), tuple(rows))


def blocks(_scope: Scope) -> Listing:
    """The block types of visualize_data.bin."""
    rows = (
        (hexed(block.code), block.name, block.payload, block.since or "", block.summary)
        for block in bin_catalog().blocks.values()
    )
    return Listing(("type", "name", "payload", "since", "what it holds"), tuple(rows))


def epochs(_scope: Scope) -> Listing:
    """The known states of visualize_data.bin, oldest first."""
    rows = ((one.id, one.date, one.grade, one.summary) for one in bin_catalog().epochs)
    return Listing(("epoch", "from", "grade", "state"), tuple(rows))


def files(_scope: Scope) -> Listing:
    """The CSV files of msprof and of the PyTorch adapter."""
    rows = (
        (
            file.name,
            ", ".join(file.outputs),
            str(len({column.name for column in file.own_columns})),
            file.summary,
        )
        for file in text_catalog().csv.values()
    )
    return Listing(("file", "written by", "columns", "what it holds"), tuple(rows))


def writers(_scope: Scope) -> Listing:
    """The generations of the writers of text."""
    rows = (
        (one.id, one.output, one.date, one.grade, one.summary)
        for one in text_catalog().writers.values()
    )
    return Listing(("writer", "output", "as of", "grade", "what it is"), tuple(rows))


def metrics(_scope: Scope) -> Listing:
    """The groups of performance counters."""
    rows = (
        (one.name, ", ".join(one.spelled), ", ".join(one.families), one.summary)
        for one in text_catalog().pmu.groups.values()
    )
    return Listing(("metrics", "in options", "products", "what they count"), tuple(rows))


def layers(_scope: Scope) -> Listing:
    """The layers of the timelines."""
    rows = (
        (one.name, one.side, ", ".join(one.writers), str(len(one.events)), one.summary)
        for one in timeline_catalog().layers.values()
    )
    return Listing(("layer", "of", "writers", "events", "what it shows"), tuple(rows))


def flows(_scope: Scope) -> Listing:
    """The arrows of the timelines."""
    rows = (
        (f"flow/{one.flow}", one.cat, one.start.layer, ", ".join(one.end.at), one.summary)
        for one in timeline_catalog().flows.values()
    )
    return Listing(("arrow", "category", "from", "to", "what it means"), tuple(rows))


def documents(_scope: Scope) -> Listing:
    """The JSON documents beside the timelines."""
    rows = ((name, source_of(name)["title"], source_of(name)["description"]) for name in DOCUMENTS)
    return Listing(("document", "file", "what it holds"), tuple(rows))


LISTINGS: Mapping[str, Callable[[Scope], Listing]] = {
    "tables": tables,
    "enums": enums,
    "errata": errata,
    "revisions": revisions,
    "switches": switches,
    "products": products,
    "types": types,
    "sources": sources,
    "blocks": blocks,
    "epochs": epochs,
    "files": files,
    "writers": writers,
    "metrics": metrics,
    "layers": layers,
    "flows": flows,
    "documents": documents,
}
