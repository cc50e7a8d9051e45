"""What a source states against what the spec holds at a state: changes from the one to the other.

Only what a source states is compared: of tables the names, places, types and keys of columns and
the indexes, of enum tables the members. Tables of one exporter that another creates as well are
judged by the sources of the first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ascend_conformance.schema import Change, State
from ascend_conformance.schema.change import named
from ascend_ref.states import Element, Found, differences
from ascend_ref.states.databases import databases
from ascend_spec import Spec
from ascend_spec.db.model import Carrier, Table

from .stated import Stated, StatedNames, StatedTable

STATED_FACTS = frozenset(("declared", "primary key", "columns"))
"""Of the facts of columns and indexes those that a source states."""

STATED_PARTS = frozenset(("column", "table index", "member"))
"""Of what is in a table that which a source states."""


def changes_of(stated: Stated, state: State) -> list[Change]:
    """The changes that lead from the spec at a revision or on a day to what a source states."""
    return [named(one) for one in _of_databases(stated, state)]


def _of_databases(stated: Stated, state: State) -> Iterator[Found]:
    spec, known = state.spec, _tables_by_name(state.spec)
    roots = databases(spec, spec.db.observed[-1] if state.at is None else spec.db.state(state.at))
    for carrier in stated.carriers:
        old = {
            one.key: _trimmed(one)
            for one in roots[carrier].children
            if known[one.key].writer == stated.writer
        }
        new = [
            _table(table, stated.enums.get(table.name), old.get(table.name), known.get(table.name))
            for table in stated.tables.values()
            if _is_of(known.get(table.name), carrier, stated)
        ]
        before, after = (
            Element("", "", "", children=tuple(tables)) for tables in (old.values(), new)
        )
        yield from (Found("db", one, (carrier,)) for one in differences(before, after))


def _tables_by_name(spec: Spec) -> dict[str, Table]:
    """Every table by each name that it has had."""
    tables = spec.db.tables.values()
    former = {one.renamed_from: one for one in tables if one.renamed_from is not None}
    return {**former, **spec.db.tables}


def _is_of(table: Table | None, carrier: Carrier, stated: Stated) -> bool:
    """Whether a table is one of this writer in this database; what the spec has never known stands
    in the first one.
    """
    if table is None:
        return carrier == stated.carriers[0]
    return table.writer == stated.writer and carrier in table.carriers


def _trimmed(element: Element) -> Element:
    """An element with what sources state of it."""
    return replace(
        element,
        facts={name: fact for name, fact in element.facts.items() if name in STATED_FACTS},
        children=tuple(_trimmed(one) for one in element.children if one.sort in STATED_PARTS),
    )


def _table(
    table: StatedTable, names: StatedNames | None, old: Element | None, fact: Table | None
) -> Element:
    if names is not None:
        children = tuple(_members(names, old))
    else:
        before = [one for one in old.children if one.sort == "column"] if old else []
        children = (*_columns(table, before, fact), *_indexes(table))
    kind = old.kind if old else "table" if names is None else "enum"
    former = (fact.renamed_from,) if fact and fact.renamed_from else ()
    shown = f"{len(children)} {'columns' if names is None else 'members'}"
    return Element(kind, table.name, table.name, children=children, former=former, shown=shown)


def _columns(
    table: StatedTable, before: Sequence[Element], fact: Table | None
) -> Iterator[Element]:
    stated = {one.name for one in table.columns}
    for place, column in enumerate(table.columns):
        was = before[place].key if place < len(before) else ""
        facts = fact.columns.values() if fact else ()
        known = [one for one in facts if one.name == column.name]
        former = tuple(one.renamed_from for one in known if one.renamed_from)
        if (
            not former
            and was not in stated
            and was
            and before[place].facts["declared"] == column.declared
        ):
            former = (was,)
        yield Element(
            "column",
            f"{table.name}.{column.name}",
            column.name,
            facts={"declared": column.declared, "primary key": column.primary_key},
            former=former,
            ordered=True,
            returned=len({one.shows for one in known}) > 1,
            shown=column.declared,
        )


def _indexes(table: StatedTable) -> Iterator[Element]:
    for name, columns in table.indexes.items():
        yield Element(
            "table", table.name, name, {"columns": columns}, part="index", place=f"index {name}"
        )


def _members(names: StatedNames, old: Element | None) -> Iterator[Element]:
    """The members; of those whose numbers the source does not hold, those that the spec knows."""
    for one in old.children if old else ():
        if one.label in names.elsewhere:
            yield one
    for number, name in names.members.items():
        yield Element("member", f"{names.name}/{number}", str(number), label=name)
