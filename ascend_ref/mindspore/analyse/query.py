"""Queries of rows: filter, size, sort, page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from ascend_ref.cli.suggest import unknown
from ascend_spec.mindspore import Analyser, AnswerColumn
from ascend_spec.mindspore.requests import OPERATORS

from ..sheet import Flags, Indexes
from .cells import Column, NotText
from .condition import Condition, Filter, WrongCondition

Narrow: TypeAlias = "Callable[[Rows, Indexes, Condition], Indexes]"
"""Which of the rows that passed the filters an analyser keeps, in their order."""


@dataclass(frozen=True, slots=True)
class Rows:
    """What an analyser has loaded.

    ``shown``: the columns of its answer on the day, ``columns`` their cells, by name.
    """

    analyser: Analyser
    day: str
    shown: tuple[AnswerColumn, ...]
    columns: Mapping[str, Column]
    more: Mapping[str, Any] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """The number of rows."""
        return len(self.columns[self.shown[0].name])

    @property
    def every(self) -> Indexes:
        """All rows."""
        return np.arange(self.count, dtype=np.int64)

    def shown_as(self, name: str) -> AnswerColumn | None:
        """The column of a name of any day; ``None`` for one that is not shown."""
        found = self.analyser.column_on(name, self.day)
        return found if found in self.shown else None


def answer_rows(rows: Rows, condition: Condition, narrow: Narrow | None = None) -> dict[str, Any]:
    """``col_name``, ``object`` and ``size``, as the viewer has them.

    Raises :class:`WrongCondition` for a column by which nothing can be sorted, or of which no part
    can be compared.
    """
    found = np.flatnonzero(_passing(rows, condition)).astype(np.int64)
    if narrow is not None:
        found = narrow(rows, found, condition)
    size = len(found)
    if condition.sort is not None:
        column = _sortable(rows, condition.sort)
        found = found[column.taken(found).order(descending=condition.descending)]
    if condition.page is not None:
        limit, offset = condition.page
        found = found[limit * offset : limit * (offset + 1)]
    hidden = [one for one in rows.shown if one.shown_by and not condition.switch(one.shown_by)]
    shown = [one.name for one in rows.shown if one not in hidden]
    cells = [rows.columns[name].at(found) for name in shown]
    return {
        "col_name": shown,
        "object": [list(row) for row in zip(*cells, strict=True)],
        "size": size,
        **rows.more,
    }


def _passing(rows: Rows, condition: Condition) -> Flags:
    passing = np.ones(rows.count, np.bool_)
    for one in condition.filters:
        column = rows.shown_as(one.column)
        if column is not None:
            passing &= _matches(rows.columns[column.name], one)
    return passing


def _matches(column: Column, wanted: Filter) -> Flags:
    if wanted.operator not in OPERATORS:
        return np.zeros(len(column), np.bool_)
    if wanted.operator == OPERATORS[2]:
        try:
            return column.has_part(wanted.values)
        except NotText as reason:
            raise WrongCondition(
                f"{wanted.column}: {wanted.operator}: {reason}", "filter"
            ) from None
    found = column.is_in(wanted.values)
    return found if wanted.operator == OPERATORS[0] else ~found


def _sortable(rows: Rows, name: str) -> Column:
    column = rows.shown_as(name)
    if column is None:
        listed = [one.name for one in rows.shown]
        raise WrongCondition(unknown("column", name, listed), "no-column")
    if not column.can_sort:
        raise WrongCondition(f"rows cannot be sorted by {name}", "unsortable")
    return rows.columns[column.name]
