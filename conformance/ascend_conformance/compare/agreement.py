"""Agreements: documents of rules that state where two deliverables must agree.

Both sides are selections of rows with columns of the same names. Some of them are keys, by which
the rows of the sides are paired; others are compared in each pair.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import product
from typing import Any, Literal, TypeAlias

import msgspec

from ..ruleset import fill

Which: TypeAlias = Literal["left", "right"]
WHICH: tuple[Which, Which] = ("left", "right")


def other_than(which: Which) -> Which:
    """The other of two sides."""
    return "right" if which == "left" else "left"


OneSided = Literal["both", "left", "right", "neither"]
"""Whose rows without a counterpart are findings."""

TABLE_NAME = re.compile(r'\b(raw|csv|trace|doc|db|unit|layer|view|derived)\.("[^"]+"|[A-Za-z_]\w*)')
_QUOTED = re.compile(r'"([^"]+)"')
_OWN_QUOTED = re.compile(r'(?<![.\w])"([^"]+)"')
"""Not a column of another table that the expression looks into, as ``o."Task ID"``."""
_WORD = re.compile(r"[A-Za-z_]\w*\b(?!\()")
"""A name that is no function's."""
_TEXT = re.compile(r"'(?:[^']|'')*'")


@dataclass(frozen=True, slots=True)
class Side:
    """One selection: SQL for each of its columns.

    ``of`` is a table of the facts, a view (views.yaml) or a derived table. ``where`` are conditions
    of its rows; one about a column that does not stand in the file is left out, but a side is
    absent without a table that one looks into. ``together``: rows with equal keys are one row, and
    the compared columns are aggregates. ``called`` is its name for users, where its files and
    tables do not give one. ``kinds``: the only kinds of a layer's events that count. ``showers``:
    the tables whose columns a view passes on, where not just its own. ``unless``: SQL for the
    reason why a row of ``of`` cannot be compared, where no row can.
    """

    of: str
    columns: Mapping[str, str] = field(default_factory=dict)
    kinds: tuple[str, ...] = ()
    showers: tuple[str, ...] = ()
    where: tuple[str, ...] = ()
    together: bool = False
    called: str | None = None
    unless: str | None = None

    @property
    def sources(self) -> tuple[str, ...]:
        """``of``, and the tables that conditions and columns look into."""
        named = tables_in("; ".join((*self.where, *self.columns.values())))
        return tuple(dict.fromkeys((self.of, *named)))


@dataclass(frozen=True, slots=True)
class Comparison:
    """How a column is compared. ``unit``: of its numbers; ``ns`` are shown as us.

    Texts and whole numbers are equal, these within ``tolerance`` where there is one. Numbers with
    decimals lie within one unit of the last decimal that the column of each side prints, and
    ``extra``. ``decimals``: the fewest that any writer prints. ``step``: what a trial adds to a
    number so that it is wrong, in units of the cell.

    ``tolerance`` and ``extra`` are numbers or SQL over ``left.`` and ``right.`` columns;
    ``{left.column}`` is the unit of the last decimal of a column.
    """

    unit: str | None = None
    tolerance: str | float | None = None
    extra: str | float | None = None
    decimals: int = 3
    step: float | None = None


@dataclass(frozen=True)
class Agreement:
    """What must be the same on two sides.

    With ``entities`` both sides are showers of these: what both show is compared, ``but`` for the
    columns named there, and ``columns`` and ``compare`` state only what differs from that.
    Rows are paired by ``keys``; those with equal keys by ``near`` where it is equal, the others in
    its order, and it is compared, too. ``unstated`` columns do not count where they are
    empty on a whole side. ``one_sided``: the side whose rows need a counterpart. ``readings`` are
    values of the placeholder ``{reading}``; the one that fits best counts. ``inputs``: columns of
    a side from which its values are computed, which findings state with their units.
    """

    left: Side
    right: Side
    keys: tuple[str, ...] = ()
    compare: Mapping[str, Comparison] = field(default_factory=dict)
    near: str | None = None
    unstated: tuple[str, ...] = ()
    one_sided: OneSided = "both"
    readings: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    but: tuple[str, ...] = ()
    inputs: Mapping[str, str] = field(default_factory=dict)
    each: tuple[Mapping[str, str], ...] = ({},)

    def side(self, which: Which) -> Side:
        """One of the two."""
        return self.left if which == "left" else self.right

    @property
    def sources(self) -> tuple[str, ...]:
        """The tables that the sides read."""
        return tuple(dict.fromkeys((*self.left.sources, *self.right.sources)))

    def counts(self, which: Which) -> bool:
        """Whether a row of a side that stands alone is a finding."""
        return self.one_sided in (which, "both")

    @cached_property
    def instances(self) -> tuple[Agreement, ...]:
        """The agreement at each of its places."""
        return tuple(
            replace(
                self, left=_filled(self.left, place), right=_filled(self.right, place), each=({},)
            )
            for place in self.each
        )

    @cached_property
    def read_as(self) -> tuple[Agreement, ...]:
        """The agreement in each of its readings."""
        return tuple(
            replace(
                self, left=_filled(self.left, place), right=_filled(self.right, place), readings=()
            )
            for place in ({"reading": reading} for reading in self.readings or ("",))
        )


def _filled(side: Side, place: Mapping[str, str]) -> Side:
    filled = {one.name: fill(getattr(side, one.name), place) for one in fields(side)}
    filled["columns"] = {name: sql for name, sql in filled["columns"].items() if sql}
    return Side(**filled)


def agreement_of(document: Mapping[str, Any] | None) -> Agreement | None:
    """The agreement of a rule document, ``None`` for a rule that has none."""
    if document is None:
        return None
    each = [one for place in document.get("each", ({},)) for one in combinations_of(place)]
    return msgspec.convert({**document, "each": each}, Agreement)


def combinations_of(place: Mapping[str, Any]) -> Iterator[Mapping[str, str]]:
    """The values of placeholders; where some have several, every combination of them."""
    values = [value if isinstance(value, list) else [value] for value in place.values()]
    for chosen in product(*values):
        yield dict(zip(place, map(str, chosen), strict=True))


def names_in(sql: str, columns: Sequence[str]) -> list[str]:
    """Those of the columns that an expression names, in its order."""
    known = {name.casefold(): name for name in columns}
    bare = _TEXT.sub("''", sql)
    found = [(match.start(), match[1]) for match in _QUOTED.finditer(bare)]
    plain = _QUOTED.sub(lambda match: " " * len(match[0]), bare)
    found += [(match.start(), match[0]) for match in _WORD.finditer(plain)]
    named = [known[name.casefold()] for _, name in sorted(found) if name.casefold() in known]
    return list(dict.fromkeys(named))


def quoted_names(sql: str) -> list[str]:
    """The names in double quotes, which can only be columns; not those with their table."""
    return [match[1] for match in _OWN_QUOTED.finditer(_TEXT.sub("''", sql))]


def tables_in(sql: str) -> list[str]:
    """The tables that a query names, as ``schema.name``."""
    named = TABLE_NAME.finditer(_TEXT.sub("''", sql))
    found = [f"{match[1]}.{match[2].strip(chr(34))}" for match in named]
    return list(dict.fromkeys(found))
