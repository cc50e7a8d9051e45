"""An agreement of two showers: what they compare follows from what both show of an entity."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ascend_spec.recording import Entity

from .agreement import WHICH, Agreement, Comparison, Side, Which

TIME = Comparison("ns", "1")
"""How times are compared: the last printed digit is a ns."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A value as a shower has it: SQL in the unit of the entity.

    ``cell``: SQL in the cell's own unit, of which one is ``times`` of the entity's. ``bare``: SQL
    of the cell as it is, where ``sql`` leaves out what stands there for no value. ``follows``: from
    two other cells of the row, as the third of start, end and length does.
    """

    sql: str
    cell: str | None = None
    times: int = 1
    bare: str | None = None
    follows: bool = False


Shows = Mapping[Which, Mapping[str, Shown]]
"""The columns of an entity that each side shows."""


def followed(agreement: Agreement, entities: Sequence[Entity], shows: Shows) -> Agreement:
    """The agreement with the columns of its sides and what is compared of them."""
    whole = {which: {**shows[which], **_stated(agreement.side(which))} for which in WHICH}
    numbers = {name for entity in entities for name in entity.identity}
    left_out = {*agreement.but, *agreement.keys, *numbers} - agreement.compare.keys()
    compare = {
        name: agreement.compare.get(name, TIME if _is_time(entities, name) else Comparison())
        for name in _common(entities, whole)
        if name not in left_out
    }
    amounts = {name for name, one in compare.items() if one.unit != TIME.unit}
    asked = {*agreement.keys, agreement.near, *compare}
    left, right = (
        replace(
            agreement.side(which),
            columns={
                name: _with(one, whole[other].get(name, one), name in amounts)
                for name, one in whole[which].items()
                if name in asked or name in agreement.side(which).columns
            },
        )
        for which, other in zip(WHICH, WHICH[::-1], strict=True)
    )
    return replace(agreement, left=left, right=right, compare=compare)


def _stated(side: Side) -> Mapping[str, Shown]:
    return {name: Shown(sql, bare=sql) for name, sql in side.columns.items()}


def _common(entities: Sequence[Entity], shows: Shows) -> Iterator[str]:
    """What both show, of start, end and length those that a side does not work out itself."""
    left, right = shows["left"], shows["right"]
    ends = {entity.interval[1] for entity in entities if entity.interval}
    names = [name for entity in entities for name in entity.columns]
    for name in dict.fromkeys([*names, *left]):
        if name in left and name in right:
            worked_out = left[name].follows + right[name].follows
            if not worked_out or (worked_out == 1 and name not in ends):
                yield name


def _is_time(entities: Sequence[Entity], name: str) -> bool:
    units = [entity.columns[name].unit for entity in entities if name in entity.columns]
    return units[:1] == [TIME.unit]


def _with(own: Shown, other: Shown, is_amount: bool) -> str:
    """A value as it can be compared: an amount in the unit of the coarser cell, as users see it.

    What stands for no value does so where both sides say so; else it is a value as any other.
    """
    if own.bare is not None and other.bare is None:
        return own.bare
    if not is_amount or own.cell is None is other.cell:
        return own.sql
    cell = own.cell or own.sql
    return cell if other.times <= own.times else f"{cell} / {other.times // own.times}"
