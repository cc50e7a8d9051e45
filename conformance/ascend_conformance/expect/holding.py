"""What a file holds of what is expected."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

import numpy as np

from ascend_spec.core import packaged

from ..engine.relations.binding import Unjudged, bind
from ..engine.relations.rule import Relation, RelationSearch
from ..engine.relations.sql import matched_query
from ..engine.relations.views import Shown
from ..held import Held, Times
from ..ruleset import Rule
from .model import Expectation

LATEST = (1 << 63) - 1
"""ns; a cell may hold more."""


def held_in(shown: Shown, expectation: Expectation) -> Held:
    """What one medium shows of what is expected."""
    wanted = (*expectation.contents, *expectation.every_step)
    contents = frozenset(
        one for one in wanted if any(_has_rows(shown, query) for query in _queries(shown, one))
    )
    steps: dict[int, int] = {}
    if expectation.every_step or expectation.steps:
        for query in _queries(shown, "steps", "start", "end"):
            found = (map(_time, row) for row in shown.rows(query))
            steps.update((a, b) for a, b in found if a is not None and b is not None)
    starts: dict[str, Times] = {one: _starts(shown, one) for one in expectation.every_step}
    return Held(contents, steps, starts)


def _starts(shown: Shown, content: str) -> Times:
    queries = _queries(shown, content, "start")
    found = (_time(start) for query in queries for (start,) in shown.rows(query))
    return np.fromiter((one for one in found if one is not None), np.int64)


def _time(value: Any) -> int | None:
    """A time, which exporters write as a text as well; ``None`` for what is none."""
    try:
        found = int(value)
    except (ValueError, OverflowError):
        return None
    return found if abs(found) <= LATEST else None


def _has_rows(shown: Shown, query: str) -> bool:
    return next(iter(shown.rows(f"SELECT 1 FROM ({query}) LIMIT 1")), None) is not None


def _queries(shown: Shown, content: str, *values: str) -> Iterator[str]:
    """The queries of a content: of each way to show it, in each medium that does."""
    views = shown.views()
    for way in _ways()[content]:
        selected = [way[value] for value in values] or [way["at"]]
        relation = _relation(content, way, selected)
        # Texts of a database may be of any bytes; its numbers are their digits then.
        cell = "CAST({} AS BLOB)" if shown.dialect == "sqlite" else "{}"
        cells = ", ".join(f"{cell.format(sql)} AS v{at}" for at, sql in enumerate(selected))
        for medium in sorted({view.medium for view in views}):
            bound = bind(relation, [view for view in views if view.medium == medium])
            if not isinstance(bound, Unjudged):
                yield matched_query(relation, bound, shown.dialect, None, cells, selected)


@cache
def _ways() -> Mapping[str, list[Mapping[str, str]]]:
    found: dict[str, Any] = packaged(__package__, "contents.yaml")
    return found


def _relation(content: str, way: Mapping[str, str], selected: Iterable[str]) -> Relation:
    """A way to show a content as a relation whose population are its rows."""
    where = " AND ".join([way["where"], *(f"{one} IS NOT NULL" for one in selected)])
    return Rule(
        id=content,
        name=content,
        verdict="violation",
        grade="inferred",
        summary="",
        why="",
        fix="",
        example="",
        source=(),
        expected="",
        theme="",
        medium="relation",
        search=RelationSearch(at=way["at"], joined=way["from"], where=where),
    )
