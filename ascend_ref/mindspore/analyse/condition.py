"""Conditions of queries: what is asked for, checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ascend_ref.cli.suggest import unknown
from ascend_spec.mindspore import Analyser, AnswerSwitch

KEYS = ("filter_condition", "sort_condition", "group_condition")
OPERATORS = ("in", "not_in", "partial_match_str_in")
SORTS = ("ascending", "descending")
LIMIT, OFFSET = 10, 0
"""Rows of a page, and its number, where only the other is given."""

MOST_ROWS = 100
MOST_PAGES = 1_000_000


class WrongCondition(ValueError):
    """What is asked for is not possible; the text says what is."""


@dataclass(frozen=True, slots=True)
class Filter:
    """A column, and what its cells are compared with."""

    column: str
    operator: str
    values: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Condition:
    """A query. ``switches``: keys that are no columns, each with what holds without it.

    ``page``: rows of a page and its number, from 0; ``None`` for all rows.
    """

    filters: tuple[Filter, ...] = ()
    switches: Mapping[str, Any] | None = None
    sort: str | None = None
    descending: bool = True
    page: tuple[int, int] | None = None

    def switch(self, name: str) -> Any:
        """The value of a switch."""
        return (self.switches or {}).get(name)


def read_condition(asked: Any, analyser: Analyser) -> Condition:
    """A condition as the viewer takes it. Raises :class:`WrongCondition`."""
    asked = _mapping({} if asked is None else asked, "the condition")
    for key in asked:
        if key not in KEYS:
            raise WrongCondition(unknown("key of a condition", str(key), KEYS))
    wanted = _mapping(asked.get(KEYS[0]) or {}, KEYS[0])
    switches = {one.name: one for one in analyser.switches}
    sort = _mapping(asked.get(KEYS[1]) or {}, KEYS[1])
    return Condition(
        tuple(
            one
            for key, value in wanted.items()
            if key not in switches
            for one in _filters(str(key), value)
        ),
        {name: _switch(one, wanted) for name, one in switches.items()},
        *_sort(sort),
        _page(_mapping(asked.get(KEYS[2]) or {}, KEYS[2])),
    )


def _filters(column: str, value: Any) -> Iterator[Filter]:
    place = f"{KEYS[0]}.{column}"
    for operator, values in _mapping(value, place).items():
        if not isinstance(values, list | tuple):
            raise WrongCondition(f"{place}.{operator}: expected a list, got {values!r:.60}")
        allowed: Any = str if operator == OPERATORS[2] else (str, int, float)
        for one in values:
            if isinstance(one, bool) or not isinstance(one, allowed):
                what = "texts" if allowed is str else "texts or numbers"
                raise WrongCondition(f"{place}.{operator}: expected {what}, got {one!r:.60}")
        yield Filter(column, str(operator), tuple(values))


def _sort(sort: Mapping[str, Any]) -> tuple[str | None, bool]:
    name, kind = sort.get("name"), sort.get("type", SORTS[1])
    if not isinstance(name, str | None):
        raise WrongCondition(f"{KEYS[1]}.name: expected a text, got {name!r:.60}")
    if kind not in SORTS:
        raise WrongCondition(f"{KEYS[1]}.type: expected {' or '.join(SORTS)}, got {kind!r:.60}")
    return name or None, kind == SORTS[1]


def _page(page: Mapping[str, Any]) -> tuple[int, int] | None:
    limit, offset = page.get("limit"), page.get("offset")
    if limit is None and offset is None:
        return None
    return (
        LIMIT if limit is None else _whole(limit, 1, MOST_ROWS, f"{KEYS[2]}.limit"),
        OFFSET if offset is None else _whole(offset, 0, MOST_PAGES, f"{KEYS[2]}.offset"),
    )


def _whole(value: Any, least: int, most: int, place: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise WrongCondition(
            f"{place}: expected a whole number from {least} to {most:,}, got {value!r:.60}"
        )
    return value


def _switch(switch: AnswerSwitch, wanted: Mapping[str, Any]) -> Any:
    value = wanted.get(switch.name)
    if value is None:
        return switch.otherwise
    place = f"{KEYS[0]}.{switch.name}"
    match switch.form:
        case "flag" if not isinstance(value, bool):
            expected = "true or false"
        case "thresholds" if not _is_pair(value):
            expected = "two numbers, the high one first"
        case "step" if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            expected = "a whole number from 0 on"
        case "word" if not isinstance(value, str) or (switch.words and value not in switch.words):
            expected = " or ".join(switch.words) or "a text"
        case "texts" if not (
            isinstance(value, list | tuple) and value and all(isinstance(one, str) for one in value)
        ):
            expected = "a list of texts"
        case _:
            return value
    raise WrongCondition(f"{place}: expected {expected}, got {value!r:.60}")


def _is_pair(value: Any) -> bool:
    return (
        isinstance(value, list | tuple)
        and len(value) == 2
        and all(isinstance(one, int | float) and not isinstance(one, bool) for one in value)
    )


def _mapping(value: Any, place: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise WrongCondition(f"{place}: expected a mapping, got {value!r:.60}")
    return value
