"""What a source states against what the spec holds at a state: changes from the one to the other.

Only what a source states is compared: of tables the names, places, types and keys of columns and
the indexes, of enum tables the members. Tables of one exporter that another creates as well are
judged by the sources of the first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from ascend_conformance.schema import Change, State
from ascend_conformance.schema.change import named
from ascend_ref.states import AxisName, Element, Fact, Found, differences
from ascend_ref.states.blocks import blocks
from ascend_ref.states.databases import databases
from ascend_ref.states.texts import csv_files
from ascend_spec import Spec
from ascend_spec.db.model import Carrier, Table

from .stated import Stated, StatedNames, StatedTable

STATED_FACTS = frozenset(("declared", "primary key", "columns"))
"""Of the facts of columns and indexes those that a source states."""

VIEWER_NAME = "viewer name"
"""The fact of a type of blocks that the viewer states."""

STATED_PARTS = frozenset(("column", "table index", "member"))
"""Of what is in a table that which a source states."""


def changes_of(stated: Stated, state: State) -> list[Change]:
    """The changes that lead from the spec at a state to what a source states.

    At a state of an axis only the families of that axis are compared; without one all that the
    source states, at the newest state of each.
    """
    found = [
        one
        for axis, compare in COMPARISONS.items()
        if state.axis in (None, axis)
        for one in compare(stated, state)
    ]
    return [named(one) for one in found]


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


def _of_headers(stated: Stated, state: State) -> Iterator[Found]:
    """The CSV files of the writer whose headers these are, each that the source states."""
    writers = state.spec.text.writers.values()
    newest = next((one.id for one in writers if one.current and one.output == stated.output), None)
    writer = state.at or newest
    if writer is None or not stated.headers:
        return
    files = {one.key: one for one in csv_files(state.spec, writer).children if one.kind == "csv"}
    for name, headers in stated.headers.items():
        was = files.get(name)
        known = {one.key: one for one in was.children} if was else {}
        old = [
            replace(_trimmed(one), children=())
            for key, one in known.items()
            if headers.whole or key in headers.headers
        ]
        new = [
            replace(_trimmed(known[one]), children=())
            if one in known
            else Element("header", f"{name}/{one}", one, ordered=True, shown="a header")
            for one in headers.headers
        ]
        before, after = (Element("", "", "", children=tuple(some)) for some in (old, new))
        yield from (Found("text", one, (writer,)) for one in differences(before, after))


def _of_blocks(stated: Stated, state: State) -> Iterator[Found]:
    """The types of blocks that have a name in the viewer."""
    if stated.blocks is None:
        return
    epoch = state.at or state.spec.bin.epochs[-1].id
    old = [
        replace(one, facts={VIEWER_NAME: one.facts[VIEWER_NAME]}, children=())
        for one in blocks(state.spec, epoch).children
        if one.sort == "block" and one.facts.get(VIEWER_NAME)
    ]
    labels = {one.key: one.label for one in old}
    new = []
    for code, name in stated.blocks.members.items():
        key = f"0x{code:02X}"
        facts: dict[str, Fact] = {VIEWER_NAME: name}
        new.append(Element("block", key, key, facts, label=labels.get(key, name), shown=name))
    before, after = (Element("", "", "", children=tuple(some)) for some in (old, new))
    yield from (Found("bin", one, ()) for one in differences(before, after))


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


COMPARISONS: Mapping[AxisName, Callable[[Stated, State], Iterator[Found]]] = {
    "revision": _of_databases,
    "writer": _of_headers,
    "epoch": _of_blocks,
}
"""By the axis of the families of formats what is compared of them."""
