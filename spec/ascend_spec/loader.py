"""From the YAML documents to the objects of :mod:`ascend_spec.model`.

The packaged documents are validated against ``vocabulary/`` by the test suite, not here:
loading trusts them and only merges each column with its value type.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib.resources import files
from typing import Any

import yaml

from . import model

Document = dict[str, Any]

LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_documents(folder: str) -> Iterator[tuple[str, Document]]:
    """Every YAML document below a folder of the package, as (relative name, content), by name."""
    root = files(__package__) / folder
    for entry in sorted(root.iterdir(), key=lambda item: item.name):
        if entry.is_dir():
            yield from read_documents(f"{folder}/{entry.name}")
        elif entry.name.endswith(".yaml"):
            yield f"{folder}/{entry.name}", parse(entry.read_text(encoding="utf-8"))


def read_document(name: str) -> Any:
    """One YAML document of the package."""
    return parse((files(__package__) / name).read_text(encoding="utf-8"))


def parse(text: str) -> Any:
    """YAML text to plain Python values, with libyaml where it was built in."""
    return yaml.load(text, Loader=LOADER)  # noqa: S506 - both loaders are the safe ones


def load_sources() -> dict[str, model.Source]:
    """Sources by id."""
    return {row["id"]: model.Source(**row) for row in read_document("sources.yaml")}


def load_revisions() -> tuple[model.Revision, ...]:
    """Revisions, oldest first."""
    rows = (model.Revision(**row) for row in read_document("revisions.yaml"))
    return tuple(sorted(rows, key=lambda revision: revision.date))


def load_switches() -> dict[str, model.Switch]:
    """Switches by id."""
    rows = read_document("switches.yaml")
    return {
        row["id"]: model.Switch(row["id"], row["summary"], tuple(row["spelled"])) for row in rows
    }


def load_foreign_objects() -> tuple[model.ForeignObject, ...]:
    """Tables and columns that exporters do not write."""
    return tuple(
        model.ForeignObject(row["table"], row.get("column"), row["added_by"], row["summary"])
        for row in read_document("foreign.yaml")
    )


def load_value_types(name: str = "value_types.yaml") -> dict[str, model.ValueType]:
    """The value types of one document by name."""
    return {
        kind: model.ValueType(
            id=kind,
            declared=row["declared"],
            storage=tuple(row["storage"]),
            summary=row["summary"],
            unit=row.get("unit"),
            minimum=row.get("minimum"),
            maximum=row.get("maximum"),
            references=tuple(row.get("references", ())),
        )
        for kind, row in read_document(name).items()
    }


def load_enums(sources: Mapping[str, model.Source]) -> dict[str, model.Enum]:
    """Every enum with the members of all revisions."""
    return {row["enum"]: _enum(row, sources) for _, row in read_documents("enums")}


def load_errata(name: str = "errata.yaml") -> dict[str, model.Erratum]:
    """The errata of one document by id."""
    return {
        row["id"]: model.Erratum(
            id=row["id"],
            title=row["title"],
            at=tuple(row["at"]),
            says=tuple((claim["source"], claim["claim"]) for claim in row["says"]),
            resolution=row["resolution"],
            documented=row.get("documented", {}),
        )
        for row in read_document(name)
    }


def load_tables(
    types: Mapping[str, model.ValueType],
    sources: Mapping[str, model.Source],
    in_full: Callable[[Document, str], Document],
) -> dict[str, model.Table]:
    """Every table of every carrier. One document may name several tables of identical shape.

    ``in_full`` lays what a document leaves to the matrix of products open, for one of its tables.
    """
    tables: dict[str, model.Table] = {}
    for _, row in read_documents("tables"):
        for name in row["table"] if isinstance(row["table"], list) else [row["table"]]:
            tables[name] = _table(name, in_full(row, name), types, sources)
    return tables


def best_grade(source: tuple[str, ...], sources: Mapping[str, model.Source]) -> model.Grade:
    """The strongest grade among cited sources (``"seed-001 TASK"``: source id, then the place)."""
    grades = {sources[citation.split(" ", 1)[0]].grade for citation in source}
    order: tuple[model.Grade, ...] = ("documented", "observed", "inferred")
    return next(grade for grade in order if grade in grades)


def _table(
    name: str,
    row: Document,
    types: Mapping[str, model.ValueType],
    sources: Mapping[str, model.Source],
) -> model.Table:
    source = tuple(row["source"])
    columns = {
        column: merge_column(column, facts, source, types, sources)
        for column, facts in row["columns"].items()
    }
    interval = row.get("interval")
    return model.Table(
        name=name,
        summary=row["summary"],
        writer=row["writer"],
        carriers=row["carriers"],
        columns=columns,
        grade=best_grade(source, sources),
        source=source,
        data=tuple(row.get("data", ())),
        switches=tuple(row.get("switches", ())),
        products=tuple(row.get("products", ())),
        readers=tuple(row.get("readers", ())),
        levels=tuple(row.get("levels", (0, 1, 2))),
        indexes={index: tuple(over) for index, over in row.get("indexes", {}).items()},
        interval=(interval[0], interval[1]) if interval else None,
        sample=row.get("sample"),
        session_start=row.get("session_start"),
        device=row.get("device"),
        rows=row.get("rows"),
        since=row.get("since"),
        until=row.get("until"),
        note=row.get("note"),
        errata=tuple(row.get("errata", ())),
    )


def merge_column(
    name: str,
    facts: Document,
    table_source: tuple[str, ...],
    types: Mapping[str, model.ValueType],
    sources: Mapping[str, model.Source],
) -> model.Column:
    """A column's own facts laid over those of its value type."""
    kind = types[facts["type"]]
    source = tuple(facts.get("source", table_source))
    return model.Column(
        name=facts.get("name", name),
        type=kind.id,
        declared=facts.get("declared", kind.declared),
        storage=tuple(facts.get("storage", kind.storage)),
        summary=facts.get("summary", kind.summary),
        grade=best_grade(source, sources),
        source=source,
        also_declared=tuple(facts.get("also_declared", ())),
        primary_key=facts.get("primary_key", False),
        unit=facts.get("unit", kind.unit),
        minimum=facts.get("minimum", kind.minimum),
        maximum=facts.get("maximum", kind.maximum),
        references=tuple(facts.get("references", kind.references)),
        soft_reference=facts.get("soft_reference", False),
        none=tuple(facts.get("none", ())),
        nullable=facts.get("nullable"),
        members=tuple(facts.get("members", ())),
        since=facts.get("since"),
        until=facts.get("until"),
        renamed_from=facts.get("renamed_from"),
        errata=tuple(facts.get("errata", ())),
    )


def _enum(row: Document, sources: Mapping[str, model.Source]) -> model.Enum:
    members = tuple(
        model.Member(
            id=member["id"],
            name=member["name"],
            grade=best_grade(tuple(member.get("source", row["source"])), sources),
            since=member.get("since"),
            until=member.get("until"),
            carriers=tuple(member.get("carriers", ())),
            emitted=member.get("emitted", True),
            source=tuple(member.get("source", row["source"])),
            errata=tuple(member.get("errata", ())),
        )
        for member in row["members"]
    )
    return model.Enum(row["enum"], row["summary"], members, row.get("closed", True))
