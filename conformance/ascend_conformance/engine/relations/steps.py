"""Windows that compare a row with the one before it, or count equal rows, without a window.

SQLite sorts all rows for a window and keeps them. The step from one row to the next is a difference
of NumPy in batches that come in the order of an index; how often a value occurs is a GROUP BY.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ascend_ref import arrays
from ascend_ref.arrays import Mask
from ascend_ref.capture.batch import Integers

from .rule import Relation, RelationSearch
from .walks import NONE

MOST_GROUPS = 1 << 16
"""Groups of which the last row is remembered."""

WIDEST = 1 << 62

_STEP = re.compile(
    r"\(SELECT (?P<columns>[\w., ]+), (?P<value>[\w.]+) - lag\((?P=value)\) OVER "
    r"\(PARTITION BY (?P<by>[\w., ]+) ORDER BY (?P<order>[\w., ]+)\) AS step "
    r"FROM (?P<source>.*)\) \w+"
)
_TIMES = re.compile(
    r"\(SELECT [\w., ]+, count\(\*\) OVER \(PARTITION BY (?P<by>[\w., ]+)\) AS (?P<name>\w+) "
    r"FROM (?P<source>.*)\) (?P<alias>\w+)"
)
_TERM = re.compile(r"\w+\.(?P<name>\w+) (?P<sign><=|<|>=|>) (?P<number>-?\d+)")
_SIGNS = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}


class NotSteps(Exception):
    """Rows that only SQL can judge: too many groups, or numbers that are too large."""


class SameMoment(Exception):
    """Two rows of a group have one moment, so that their order matters."""


@dataclass(frozen=True, slots=True)
class Steps:
    """Rows and what must not hold. ``query``: value and moment of a row, others, and its group.

    ``order``: that of the moments, which an index may give; ``further``: that of rows of one
    moment. ``terms``: conditions that hold together, on the step (0) or one of the others.
    """

    query: str
    order: str
    further: str
    others: int
    terms: Sequence[tuple[int, str, int]]

    @property
    def quick(self) -> str:
        """The rows, those of one moment in any order; SQLite has to sort nothing then."""
        return f"{self.query} ORDER BY {self.order}"

    @property
    def exact(self) -> str:
        """The rows in their order."""
        return f"{self.quick}, {self.further}"


def steps_in(search: RelationSearch) -> Steps | None:
    """The steps that a relation is about, if that is all that it is about."""
    found = _STEP.fullmatch(search.joined)
    terms = [_TERM.fullmatch(one) for one in (search.bad or "").split(" AND ")]
    if not found or search.where:
        return None
    names = ["step"]
    shown = {one.partition(".")[2]: one for one in found["columns"].split(", ")}
    numbers = []
    for term in terms:
        if term is None:
            return None
        if term["name"] not in names:
            names.append(term["name"])
        numbers.append((names.index(term["name"]), term["sign"], int(term["number"])))
    order, _, further = found["order"].partition(", ")
    cells = [found["value"], order.split()[0], *(shown[name] for name in names[1:]), found["by"]]
    query = f"SELECT {', '.join(cells)} FROM {found['source']}"
    return Steps(query, order, further, len(names) - 1, numbers)


def times_in(relation: Relation, sum_of: str) -> str | None:
    """A query for a sum over rows that are about how often a value occurs, if that is all."""
    search = relation.search
    found = _TIMES.fullmatch(search.joined)
    if not found or search.where or not _TERM.fullmatch(search.bad or ""):
        return None
    name, alias = found["name"], found["alias"]
    if f"{alias}.{name} " not in f"{search.bad} ":
        return None
    rows = f"SELECT count(*) AS {name} FROM {found['source']} GROUP BY {found['by']}"
    return f"SELECT coalesce(sum({alias}.{name} * {sum_of}), 0) FROM ({rows}) {alias}"


def count_steps(steps: Steps, batches: Iterable[pa.RecordBatch], is_exact: bool) -> tuple[int, int]:
    """Judged rows and bad ones. ``is_exact``: whether rows of one moment are in their order.

    Raises :class:`SameMoment` where they are not and that matters, :class:`NotSteps`, and Arrow's
    errors for other values than integers.
    """
    population = count = 0
    for value, before, others in _with_the_one_before(steps, batches, is_exact):
        is_known = (value > NONE) & (before > NONE)
        columns = [np.where(is_known, value - before, NONE), *others]
        is_bad = np.ones(len(value), np.bool_)
        is_good = np.zeros(len(value), np.bool_)
        for place, sign, number in steps.terms:
            known = columns[place] > NONE
            holds = _SIGNS[sign](columns[place], number)
            is_good |= known & ~holds
            is_bad &= known & holds
        population += int((is_good | is_bad).sum())
        count += int(is_bad.sum())
    return population, count


def _with_the_one_before(
    steps: Steps, batches: Iterable[pa.RecordBatch], is_exact: bool
) -> Iterator[tuple[Integers, Integers, list[Integers]]]:
    """Values, those of the row before in the same group, and the others."""
    last: dict[tuple[int, ...], tuple[int, ...]] = {}
    for batch in batches:
        if not batch.num_rows:
            continue
        value, moment, *others = map(_numbers, batch.columns)
        by = others[steps.others :]
        order, first = _grouped(by)
        value, moment = value[order], moment[order]
        starts = np.flatnonzero(first)
        ends = [*(starts[1:] - 1), len(value) - 1]
        keys = list(zip(*(one[order[starts]].tolist() for one in by), strict=True))
        known = [last.get(key, (NONE, NONE)) for key in keys]
        new = np.zeros(len(value), np.bool_)
        new[starts] = [key not in last for key in keys]
        before, earlier = np.roll(value, 1), np.roll(moment, 1)
        before[starts], earlier[starts] = np.array(known, np.int64).T
        if not is_exact and ((moment == earlier) & ~new).any():
            raise SameMoment
        final = np.array([value[ends], moment[ends]]).T.tolist()
        last.update(zip(keys, map(tuple, final), strict=True))
        if len(last) > MOST_GROUPS or np.any((value > NONE) & (np.abs(value) > WIDEST)):
            raise NotSteps
        yield value, before, [one[order] for one in others[: steps.others]]


def _grouped(by: Sequence[Integers]) -> tuple[Integers, Mask]:
    """An order in which groups stand together, and where each of them begins."""
    rows = len(by[0])
    first = np.zeros(rows, np.bool_)
    first[0] = True
    varied = [one for one in by if (one != one[0]).any()]
    order = np.lexsort(varied[::-1]) if varied else np.arange(rows)
    for one in varied:
        first[1:] |= one[order][1:] != one[order][:-1]
    return order, first


def _numbers(column: pa.Array) -> Integers:
    if not pa.types.is_integer(column.type) and column.null_count < len(column):
        raise pa.ArrowTypeError(f"{column.type}; expected whole numbers")
    return arrays.integers(column, NONE)
