"""What ``spec export`` writes of the thing at an address, and in which formats."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ascend_ref.cli.suggest import unknown
from ascend_ref.db.ddl import create_indexes, create_table, creation_order
from ascend_ref.markdown import RENDERED, code, page, table
from ascend_spec import (
    Schema,
    api_catalog,
    bin_catalog,
    catalog,
    document_catalog,
    ge_catalog,
    mindspore_catalog,
    text_catalog,
    timeline_catalog,
)
from ascend_spec.api import LATEST
from ascend_spec.core.dialect import Node, exported
from ascend_spec.db.model import CARRIERS, Reading
from ascend_spec.exchange import exchange_schema
from ascend_spec.ge import ge_schema
from ascend_spec.mindspore import openapi_document
from ascend_spec.mindspore.requests import LAST_VIEWED
from ascend_spec.timeline import document_schema, event_schema
from ascend_spec.timeline.schema import STEP_TRACE

from .c_header import export_c_header
from .csv_schema import csv_schema
from .formats import FORMATS, JSON_SCHEMA, OPENAPI
from .json_schema import export_json_schema
from .pages import table_page
from .subject import Subject


class CannotExport(Exception):
    """The thing, format or state cannot be exported; the message says what can."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """How an export is asked for: its format, and the state that it describes.

    ``at`` is a revision or SCHEMA_VERSION, epoch, writer or generation; ``None``: the newest one,
    or the first writer. ``part`` is what of a command.
    """

    format: str
    at: str | None = None
    reading: Reading = "observed"
    part: str = "body"


@dataclass(frozen=True, slots=True)
class Exported:
    """A text and the name of a file for it."""

    text: str
    file_name: str


def export(subject: Subject, wanted: Wanted) -> Exported:
    """The description of a subject for other programs. Raises :class:`CannotExport`."""
    give = EXPORTS.get(subject.kind)
    if give is None:
        known = ", ".join(f"{one}/…" for one in EXPORTS)
        raise CannotExport(f"{subject.address} is not exported; what is: {known}")
    formats = {"carrier": tuple(WRITERS), "interface": (OPENAPI,)}.get(subject.kind, (JSON_SCHEMA,))
    if wanted.format not in formats:
        raise CannotExport(f"{subject.address} is exported as {' or '.join(formats)} only")
    return give(subject.name, wanted)


def _database(name: str, wanted: Wanted) -> Exported:
    revisions = [one.id for one in catalog().revisions]
    try:
        carrier = next(one for one in CARRIERS if one == name)
        schema = catalog().at(wanted.at or revisions[-1], carrier, wanted.reading)
    except KeyError:
        raise CannotExport(unknown("revision", str(wanted.at), revisions)) from None
    reading = "" if schema.reading == "observed" else f"-{schema.reading}"
    name = f"ascend-{schema.carrier}-{schema.revision.id}{reading}{FORMATS[wanted.format]}"
    return Exported(WRITERS[wanted.format](schema), name)


def export_ddl(schema: Schema) -> str:
    """A script for SQLite: every table, the members of every enum table, then the indexes.

    The statements are those of the exporters. They create a table only when they have rows for it
    (``spec list`` and the table's page state when), and an index only after the rows.
    """
    tables = creation_order(schema)
    statements = [
        *(create_table(table, schema) for table in tables),
        *(
            statement
            for table in tables
            if table.name in schema.enums
            for statement in _members(schema, table.name)
        ),
        *(statement for table in tables for statement in create_indexes(table)),
    ]
    heading = f"-- {schema.carrier} database, {schema.revision.id}, {schema.reading} reading\n"
    return heading + "".join(f"{statement};\n" for statement in ("BEGIN", *statements, "COMMIT"))


def _members(schema: Schema, enum: str) -> Iterator[str]:
    for identifier, name in sorted(schema.enums[enum].items()):
        quoted = name.replace("'", "''")
        yield f"INSERT INTO {enum} (id, name) VALUES ({identifier}, '{quoted}')"


def export_markdown(schema: Schema) -> str:
    """A section per table, as its page has it, and a section per enum with its members."""
    inner = RENDERED.below()
    tables = [one for name, one in schema.tables.items() if name not in schema.enums]
    return page(
        RENDERED.heading(f"{schema.carrier} database, {schema.revision.id}"),
        RENDERED.prose(schema.revision.summary),
        f"SCHEMA_VERSION {schema.revision.schema_version}, {schema.reading} reading.",
        *(table_page(one, inner) for one in tables),
        *(
            inner.page(
                name,
                schema.tables[name].summary,
                table(
                    ("id", "name"),
                    ((str(one), code(text)) for one, text in sorted(members.items())),
                ),
            )
            for name, members in schema.enums.items()
        ),
    )


WRITERS: Mapping[str, Callable[[Schema], str]] = {
    "json-schema": export_json_schema,
    "ddl": export_ddl,
    "c-header": export_c_header,
    "markdown": export_markdown,
}
"""What writes a database, by format."""


def _block(name: str, wanted: Wanted) -> Exported:
    bins = bin_catalog()
    block = bins.blocks[int(name, 16)]
    if not bins.has_schema(block.code):
        raise CannotExport(f"block/{name} {block.name} holds no JSON")
    known = {one.id: one for one in bins.epochs}
    state = known[_chosen("epoch", wanted.at, list(known), list(known)[-1])]
    if not bins.axis.in_force(block, state.id):
        raise CannotExport(
            f"block/{name} {block.name} has been there since {block.since}, and not at {state.id}"
        )
    schema = bins.payload_schema(block.code, state.id)
    return _schema(schema, f"bin-{block.code:02X}-{block.slug}-{state.id}")


def _csv(name: str, wanted: Wanted) -> Exported:
    file = text_catalog().csv[name]
    writer = file.writers[_chosen("writer", wanted.at, list(file.writers))]
    return _schema(csv_schema(file, writer), f"csv-{file.name}-{writer.id}")


def _document(name: str, wanted: Wanted) -> Exported:
    timelines, documents = timeline_catalog(), document_catalog()
    writers = timelines.files[name].writers if name == STEP_TRACE else documents.writers_of(name)
    writer = _chosen("writer", wanted.at, writers)
    return _schema(document_schema(timelines, documents, name, writer), f"{name}-{writer}")


def _timeline(name: str, wanted: Wanted) -> Exported:
    if name != STEP_TRACE:
        raise CannotExport(f"timeline/{name} is exported by its layers, as layer/CANN")
    return _document(name, wanted)


def _layer(name: str, wanted: Wanted) -> Exported:
    timelines = timeline_catalog()
    layer = timelines.layers[name]
    writers = [writer for writer in timelines.forms if layer in timelines.layers_of(writer)]
    writer = _chosen("writer", wanted.at, writers)
    return _schema(event_schema(timelines, name, writer), f"event-{layer.slug}-{writer}")


def _command(name: str, wanted: Wanted) -> Exported:
    command = api_catalog().commands[name]
    definitions = {"parameters": command.params, "body": command.body}
    return _message(definitions[wanted.part], f"command/{name}", f"{name}-{wanted.part}", wanted)


def _message(definition: str, address: str, name: str, wanted: Wanted) -> Exported:
    api = api_catalog()
    generation = _chosen("generation", wanted.at, [one.id for one in api.generations], LATEST)
    try:
        schema = api.schema(definition, generation)
    except KeyError:
        raise CannotExport(f"{address} is not part of generation {generation}") from None
    return _schema(schema, f"api-{name.replace('/', '-')}-{generation}")


def _interface(name: str, wanted: Wanted) -> Exported:
    catalog = mindspore_catalog()
    at = wanted.at or LAST_VIEWED
    try:
        document = openapi_document(catalog, catalog.day_of(at))
    except KeyError as problem:
        raise CannotExport(str(problem.args[0])) from None
    text = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    return Exported(text, f"{name}-{at}{FORMATS[OPENAPI]}")


def _exchange(name: str, wanted: Wanted) -> Exported:
    return _schema(exchange_schema(name), name)


def _ge(name: str, wanted: Wanted) -> Exported:
    return _schema(ge_schema(ge_catalog().documents, name), f"ge-{name}")


def _schema(schema: Node, name: str) -> Exported:
    """A JSON Schema; what it says beyond the standard stands in ``x-`` annotations."""
    text = json.dumps(exported(schema), indent=2, ensure_ascii=False) + "\n"
    return Exported(text, f"ascend-{name}.schema.json")


EXPORTS: Mapping[str, Callable[[str, Wanted], Exported]] = {
    "carrier": _database,
    "block": _block,
    "csv": _csv,
    "document": _document,
    "timeline": _timeline,
    "layer": _layer,
    "command": _command,
    "exchange": _exchange,
    "ge-schema": _ge,
    "interface": _interface,
    "event": lambda name, wanted: _message(
        api_catalog().events[name].body, f"event/{name}", name, wanted
    ),
    "envelope": lambda name, wanted: _message(
        name.removesuffix("-message"), f"envelope/{name}", name, wanted
    ),
}


def _chosen(what: str, name: str | None, known: Sequence[str], usual: str | None = None) -> str:
    if name is None:
        return usual or known[0]
    if name not in known:
        raise CannotExport(unknown(what, name, known))
    return name
