"""Tables made of the facts: views and what Python computes, with the cells that they show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ...compare.match import Cell

EVERY = "*"
"""Every column that has no cell of its own."""


class LacksColumn(Exception):
    """A derived table reads a column that the files do not have; the text is its name."""


@dataclass(frozen=True, slots=True)
class Input:
    """A cell that a derived table follows from, in rows that meet a condition."""

    table: str
    column: str
    where: str = "true"


@dataclass(frozen=True)
class Made:
    """A query that several sides share (views.yaml, sample_views.yaml), or what is computed from
    one (derived.yaml).

    ``of`` is the table that ``file`` and ``row`` are of, and all columns that ``cells`` does not
    mention. ``timeline``: it is absent without this file of the spec. ``told``: it is absent where
    this condition does not hold, since the table that it is of then states nothing about it.
    ``gathers``: a row stands for several.

    ``compute``: the function of :mod:`.derived` that makes the table of the rows of ``select``;
    ``needs``: further sources that it reads, ``takes`` those that it reads if they are there;
    ``inputs``: which cells of any row change it. ``given``: the values of its placeholders.
    """

    summary: str
    select: str = ""
    of: str | None = None
    timeline: str | None = None
    told: str | None = None
    cells: Mapping[str, Cell] = field(default_factory=dict)
    gathers: bool = False
    compute: str | None = None
    needs: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()
    inputs: tuple[Input, ...] = ()
    given: Mapping[str, str] = field(default_factory=dict)

    def cell(self, column: str) -> Cell | None:
        """The cell that a column shows."""
        found = self.cells.get(column) or self.cells.get(EVERY)
        return found or (Cell(self.of, column) if self.of else None)


def cell_of(place: str) -> Cell:
    """A cell from ``schema.table.column``, with ``@row`` where its row has another column.

    ``trace.event.args/Input Dims`` is a member of args.
    """
    schema, table, column = place.split(".", 2)
    column, _, key = column.partition("/") if column.startswith("args/") else (column, "", "")
    named = column.startswith("@")
    column, _, row = column[named:].partition("@")
    return Cell(f"{schema}.{table}", f"{'@' * named}{column}", row or "row", key or None)


def input_of(given: Mapping[str, str]) -> Input:
    """An input from its cell and condition."""
    schema, table, column = given["cell"].split(".", 2)
    return Input(f"{schema}.{table}", column, given.get("where", "true"))
