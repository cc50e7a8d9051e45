"""SQL for the cells of a column at another revision, and for those that do not come back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from ascend_ref.db.introspect import quote_identifier
from ascend_ref.db.neutral import neutral
from ascend_spec.core.units import factor
from ascend_spec.db.model import STRINGS, Column

from .account import Effect
from .members import Members

OWN = "own"
"""The old row in all SQL of this package."""


class Converted(NamedTuple):
    """``sql``: the new cell. ``lost``: the old rows of which it does not come back, and ``why``.
    ``words``: by effect, with the old rows that it concerns.
    """

    sql: str
    lost: str | None
    why: str
    words: Mapping[Effect, tuple[str, str]]


def cell(name: str) -> str:
    """A cell of the old row."""
    return f"{OWN}.{quote_identifier(name)}"


def literal(value: int | str | None) -> str:
    """A value as SQL."""
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return "NULL" if value is None else str(value)


def nothing(column: Column, members: Mapping[int, str], number: Callable[[str], int | None]) -> str:
    """SQL for what stands for nothing in a column. ``number``: the id of a text of STRING_IDS."""
    found = neutral(column, members)
    if found.kind == "null":
        return literal(None)
    if found.kind == "number":
        return literal(found.number)
    if column.text_reference == STRINGS:
        return literal(number(found.text))
    return literal(found.text)


def convertible(old: Column, new: Column) -> bool:
    """Whether cells of the one mean the same as cells of the other, but for their form."""
    return factor(old.unit, new.unit) is not None or factor(new.unit, old.unit) is not None


def is_same(old: Column, new: Column, members: Members | None) -> bool:
    """Whether cells are the same at both revisions."""
    return (
        (old.declared, old.storage, old.none) == (new.declared, new.storage, new.none)
        and (old.unit == new.unit or None in (old.unit, new.unit))
        and not (members and members.moved)
    )


def converted(
    name: str, old: Column, new: Column, members: Members | None, empty: str
) -> Converted:
    """The cells of the column ``name`` of the old table. ``empty``: what stands for nothing."""
    own = cell(name)
    words: dict[Effect, tuple[str, str]] = {}
    lost: dict[str, str] = {}
    cases: list[str] = []
    others = [value for value in old.none if value not in new.none]
    if others:
        cases.append(f"WHEN {own} IN ({_numbers(others)}) THEN {empty}")
        words["converted"] = f"{empty} for no value", f"{own} IN ({_numbers(others)})"
    if members and members.moved:
        cases += [f"WHEN {own} = {one} THEN {to}" for one, to in members.moved.items()]
        moved = f"{own} IN ({_numbers(sorted(members.moved))})"
        words["remapped"] = f"by the names of {members.enum}", moved
    if members and members.nameless:
        listed = _numbers(members.nameless)
        lost[f"{listed}: no member here, one at the target"] = f"{own} IN ({listed})"
    form = _scaled(own, old, new) or _retyped(own, old, new)
    if form:
        words["converted"] = _form(old, new), f"{own} IS NOT NULL"
        lost[f"no value of {new.declared}"] = form.unfit
    sql = form.sql if form else own
    if cases:
        sql = f"CASE {' '.join(cases)} ELSE {sql} END"
    return Converted(sql, " OR ".join(lost.values()) or None, "; ".join(lost), words)


class _Form(NamedTuple):
    """``unfit``: the old rows whose cells do not come back."""

    sql: str
    unfit: str


def _form(old: Column, new: Column) -> str:
    if old.unit != new.unit and old.unit and new.unit:
        return f"from {old.unit} to {new.unit}"
    return f"from {old.declared} to {new.declared}"


def _numbers(values: Sequence[int]) -> str:
    return ", ".join(map(str, values))


def _retyped(own: str, old: Column, new: Column) -> _Form | None:
    """Whole numbers as text, and text as whole numbers where it is one."""
    if new.storage == ("text",) != old.storage:
        return _Form(
            f"CASE typeof({own}) WHEN 'integer' THEN CAST({own} AS TEXT) ELSE {own} END",
            f"typeof({own}) = 'real'",
        )
    if old.storage == ("text",) != new.storage:
        # Beyond 2^63 the exporters bind unsigned numbers as signed ones.
        beyond = (
            f"length({own}) = 20 AND {own} NOT GLOB '*[^0-9]*' AND {own} <= '18446744073709551615'"
            f" AND {own} >= '10000000000000000000' OR length({own}) = 19 AND"
            f" {own} NOT GLOB '*[^0-9]*' AND {own} > '9223372036854775807'"
        )
        signed = (
            f"(CAST(substr({own}, 1, length({own}) - 9) AS INTEGER) - 18446744073) * 1000000000"
            f" + (CAST(substr({own}, -9) AS INTEGER) - 709551616)"
        )
        plain = f"CAST(CAST({own} AS INTEGER) AS TEXT) = {own}"
        return _Form(
            f"CASE WHEN typeof({own}) <> 'text' THEN {own} WHEN {plain} THEN CAST({own} AS INTEGER)"
            f" WHEN {beyond} THEN {signed} ELSE {own} END",
            f"typeof({own}) = 'text' AND NOT {plain}",
        )
    return None


def _scaled(own: str, old: Column, new: Column) -> _Form | None:
    """Numbers in another unit."""
    if old.unit == new.unit or old.unit is None or new.unit is None:
        return None
    is_number = f"typeof({own}) IN ('integer', 'real')"
    times = factor(old.unit, new.unit)
    if times is not None:
        return _Form(
            f"CASE WHEN {is_number} THEN {own} * {times} ELSE {own} END",
            f"typeof({own}) = 'integer' AND typeof({own} * {times}) <> 'integer'",
        )
    parts = factor(new.unit, old.unit)
    whole = f"typeof({own}) = 'integer' AND {own} % {parts} = 0"
    if "real" in new.storage:
        return _Form(
            f"CASE WHEN {whole} THEN {own} / {parts} WHEN {is_number} THEN {own} * 1.0 / {parts}"
            f" ELSE {own} END",
            f"typeof({own}) = 'integer' AND CAST({own} * 1.0 / {parts} * {parts} AS INTEGER)"
            f" <> {own}",
        )
    return _Form(
        f"CASE WHEN {is_number} THEN CAST({own} / {parts} AS INTEGER) ELSE {own} END",
        f"{is_number} AND NOT ({whole})",
    )
