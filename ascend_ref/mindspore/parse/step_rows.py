"""The rows of ``step_trace_raw``: steps with their reductions, and the average."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import NamedTuple, TypeAlias

from ascend_spec.mindspore import REDUCTION_BEGIN, REDUCTION_END, TableColumn

from .operator import last_part
from .steps import FIRST, Step

Cell: TypeAlias = int | str

AVERAGE = "-"
"""In place of the number of a step."""

UNNAMED = "parallel"
"""In place of the operator of a reduction that is not known."""


class Reduction(NamedTuple):
    """A reduction of a step. ``number``: of it on the stream there. ``operator``: its full name
    or nothing.
    """

    stream: object
    number: int
    operator: str
    begin: int
    end: int


@dataclass
class StepRows:
    """Rows as they come. ``columns``: of the day; ``gain`` and ``averaged``: the ways of
    step_columns and step_average.

    ``reductions``: those of a step. ``header``: of all rows so far; earlier ones may be shorter.
    """

    columns: Sequence[TableColumn]
    gain: str
    averaged: str
    reductions: Callable[[Step], Iterable[Reduction]]
    header: dict[str, None] = field(default_factory=dict)
    rows: list[list[Cell]] = field(default_factory=list)
    number: int = 0

    def __post_init__(self) -> None:
        self._fixed = [
            one.name for one in self.columns if one.each is None and one.mode != "inference"
        ]
        self._forms = [one.form for one in self.columns if one.each is not None]
        self._names: dict[tuple[object, int, str], list[str]] = {}

    def add(self, step: Step) -> None:
        """A row for a step, where it has start, forward start, backward end and end."""
        self.number += 1
        if not (step.start and step.fp and step.bp and step.end):
            return
        start = step.fp if step.start == FIRST else int(step.start)
        total, interval = step.end - start, step.fp - start
        forward, tail = step.bp - step.fp, step.end - step.bp
        fixed = (self.number, start, step.end, total, step.fp, step.bp, interval, forward, tail)
        cells = dict(zip(self._fixed, fixed, strict=True))
        for one in self.reductions(step):
            cells |= self._cells(one)
        if not self.header or self.gain == "growing":
            self.header |= dict.fromkeys(cells)
        self.rows.append([cells.get(name, 0) for name in self.header])

    @property
    def average(self) -> list[Cell]:
        """The row of averages, with 0 in all cells where there is nothing to average."""
        averaged = self.rows[1:] if self.averaged == "without-first" else self.rows
        if not averaged:
            return [0] * len(self.header)
        # Not by rows: the shortest one ends the average.
        columns = zip(*averaged, strict=False)
        next(columns)
        return [AVERAGE, *(_mean(column) for column in columns)]

    def table(self, is_training: bool) -> Iterator[Sequence[Cell]]:
        """The header, the rows and the average."""
        header, rows = list(self.header), [*self.rows, self.average]
        if is_training:
            yield header
            yield from rows
            return
        # Parsers count these columns from the end, which is right where there are no reductions.
        backward = next(n for n, one in enumerate(self.columns) if one.mode == "training")
        forward = next(one.name for one in self.columns if one.mode == "inference")
        yield [*header[:backward], *header[backward + 1 : -2], forward]
        for *front, last, tail in rows:
            yield [*front[:backward], *front[backward + 1 :], int(last) + int(tail)]

    def _cells(self, one: Reduction) -> Mapping[str, int]:
        key = one.stream, one.number, one.operator
        if key not in self._names:
            self._names[key] = [form.of(**_parts(one)) for form in self._forms]
        values = (
            one.begin
            if form.template.endswith(REDUCTION_BEGIN)
            else one.end
            if form.template.endswith(REDUCTION_END)
            else one.end - one.begin
            for form in self._forms
        )
        return dict(zip(self._names[key], values, strict=True))


def _mean(cells: Sequence[Cell]) -> int:
    """The mean, rounded half to even as one of 28 digits, which parsers have."""
    return round(Decimal(sum(map(int, cells))) / len(cells))


def _parts(one: Reduction) -> Mapping[str, object]:
    """The parts of names of columns: with the operator as its type, without its scope, or whole."""
    name = last_part(one.operator)
    return {
        "stream": one.stream,
        "index": one.number,
        "type": name.split("-")[0] or UNNAMED,
        "name": name or UNNAMED,
        "operator": one.operator or UNNAMED,
    }
