"""What tables made of the facts are: views and derived tables, and the cells they follow from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import pyarrow as pa

from ...compare.match import Cell
from .database import Facts


class LacksColumn(Exception):
    """A derived table reads a column that the files do not have; the text is its name."""


@dataclass(frozen=True, slots=True)
class Input:
    """A cell that a derived table follows from, in rows that meet a condition."""

    table: str
    column: str
    where: str = "true"


@dataclass(frozen=True)
class View:
    """A query that several sides share (views.yaml, sample_views.yaml).

    ``of`` is the table that ``file`` and ``row`` are of, and all columns that ``cells`` does not
    mention. ``timeline``: the view is absent without this file of the spec. ``told``: it is absent
    where this condition does not hold, since the table that it is of then tells nothing about it.
    ``gathers``: a row of the view stands for several.
    """

    summary: str
    select: str
    of: str | None = None
    timeline: str | None = None
    told: str | None = None
    cells: Mapping[str, Cell] = field(default_factory=dict)
    gathers: bool = False


@dataclass(frozen=True)
class Derived:
    """A table that Python computes from the facts.

    ``needs`` are the sources that it reads; without them it is absent. ``takes`` are further ones
    that it reads if they are there.
    ``cells`` say which cells a column follows from, in the row that the table names, ``inputs``
    which cells of any row change it.
    """

    name: str
    summary: str
    needs: tuple[str, ...]
    compute: Callable[[Facts], pa.Table | pa.RecordBatchReader]
    of: str | None = None
    cells: Mapping[str, Cell] = field(default_factory=dict)
    inputs: tuple[Input, ...] = ()
    takes: tuple[str, ...] = ()


def cell_of(place: str) -> Cell:
    """A cell from ``schema.table.column``, with ``@row`` where its row has another column.

    ``trace.event.args/Input Dims`` is a member of args.
    """
    schema, table, column = place.split(".", 2)
    column, _, key = column.partition("/") if column.startswith("args/") else (column, "", "")
    named = column.startswith("@")
    column, _, row = column[named:].partition("@")
    return Cell(f"{schema}.{table}", f"{'@' * named}{column}", row or "row", key or None)
