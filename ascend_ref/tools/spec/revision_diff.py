"""What distinguishes two revisions of the database schema, table by table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ascend_spec import Schema, catalog
from ascend_spec.db.model import CARRIERS, Carrier, Column, Revision, Table


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference: ``place`` is a table, ``TABLE.column`` or ``ENUM id``."""

    carrier: Carrier
    place: str
    what: str


def revision_differences(
    old: Revision, new: Revision, carrier: Carrier | None = None
) -> list[Difference]:
    """What the second revision has that the first has not, and the other way round."""
    return [
        difference
        for one in CARRIERS
        if carrier in (None, one)
        for difference in _of_schemas(catalog().at(old.id, one), catalog().at(new.id, one))
    ]


def _of_schemas(old: Schema, new: Schema) -> Iterator[Difference]:
    carrier = new.carrier
    for name in dict.fromkeys((*old.tables, *new.tables)):
        if name not in new.tables:
            yield Difference(carrier, name, "removed")
        elif name not in old.tables:
            yield Difference(carrier, name, "added")
        else:
            yield from _of_tables(carrier, old.tables[name], new.tables[name])
    for name in old.enums.keys() & new.enums.keys():
        before, after = old.enums[name], new.enums[name]
        for identifier in sorted(before.keys() | after.keys()):
            place = f"{name} {identifier}"
            was, now = before.get(identifier), after.get(identifier)
            if was is None:
                yield Difference(carrier, place, f"{now} added")
            elif now is None:
                yield Difference(carrier, place, f"{was} removed")
            elif was != now:
                yield Difference(carrier, place, f"{was} became {now}")


def _of_tables(carrier: Carrier, old: Table, new: Table) -> Iterator[Difference]:
    renamed = {one.renamed_from: one.name for one in new.columns.values() if one.renamed_from}
    for name in dict.fromkeys((*old.columns, *new.columns)):
        place = f"{new.name}.{name}"
        was, now = old.columns.get(name), new.columns.get(name)
        if now is None:
            if renamed.get(name) not in new.columns or renamed[name] in old.columns:
                yield Difference(carrier, place, "removed")
        elif was is None:
            source = now.renamed_from if now.renamed_from in old.columns else None
            yield Difference(carrier, place, f"renamed from {source}" if source else "added")
        else:
            yield from (Difference(carrier, place, what) for what in _of_columns(was, now))


def _of_columns(old: Column, new: Column) -> Iterator[str]:
    for name, was, now in (
        ("declared", old.declared, new.declared),
        ("unit", old.unit, new.unit),
        ("no value", _texts(old.none), _texts(new.none)),
    ):
        if was != now:
            yield f"{name} {now or 'none'} instead of {was or 'none'}"
    if old.summary != new.summary:
        yield f"new meaning: {new.summary}"


def _texts(values: tuple[int, ...]) -> str:
    return ", ".join(map(str, values))
