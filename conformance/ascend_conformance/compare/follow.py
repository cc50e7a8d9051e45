"""An agreement of two showers of an entity: what they compare follows from what both show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from ascend_spec.recording import Entity

from .agreement import WHICH, Agreement, Comparison, Side, Which

TIME = Comparison("ns", "1")
"""How times are compared: the last printed digit is a ns."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A value as a shower has it: SQL in the unit of the entity.

    ``cell``: SQL in the cell's own unit, of which one is ``times`` of the entity's. ``follows``:
    from two other cells of the row, as the third of start, end and length does.
    """

    sql: str
    cell: str | None = None
    times: int = 1
    follows: bool = False


Shows = Mapping[Which, Mapping[str, Shown]]
"""The columns of an entity that each side shows."""


def followed(agreement: Agreement, entity: Entity, shows: Shows) -> Agreement:
    """The agreement with the columns of its sides and what is compared of them."""
    whole = {which: {**shows[which], **_stated(agreement.side(which))} for which in WHICH}
    left_out = {*agreement.but, *agreement.keys, *entity.identity} - agreement.compare.keys()
    names = [one for one in _common(entity, whole) if one not in left_out]
    compare = {name: _comparison(agreement, entity, name) for name in names}
    left, right = (
        replace(
            agreement.side(which),
            columns={
                name: one.sql
                if compare.get(name, TIME).unit == TIME.unit
                or name in agreement.side(which).columns
                else _in_common_unit(one, whole[other].get(name, one))
                for name, one in whole[which].items()
            },
        )
        for which, other in zip(WHICH, WHICH[::-1], strict=True)
    )
    return replace(agreement, left=left, right=right, compare=compare)


def _stated(side: Side) -> Mapping[str, Shown]:
    return {name: Shown(sql) for name, sql in side.columns.items()}


def _common(entity: Entity, shows: Shows) -> Iterator[str]:
    """What both show, of start, end and length those that a side does not work out itself."""
    left, right = shows["left"], shows["right"]
    end = entity.interval[1] if entity.interval else None
    for name in dict.fromkeys([*entity.columns, *left]):
        if name in left and name in right:
            worked_out = left[name].follows + right[name].follows
            if not worked_out or (worked_out == 1 and name != end):
                yield name


def _comparison(agreement: Agreement, entity: Entity, name: str) -> Comparison:
    is_time = name in entity.columns and entity.columns[name].unit == "ns"
    return agreement.compare.get(name, TIME if is_time else Comparison())


def _in_common_unit(own: Shown, other: Shown) -> str:
    """A value in the unit of the coarser cell, as users see it there."""
    cell = own.cell or own.sql
    return cell if other.times <= own.times else f"{cell} / {other.times // own.times}"
