"""Conditions of queries: what is asked for, checked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ascend_ref.cli.suggest import unknown
from ascend_spec.mindspore import Analyser, AnswerSwitch
from ascend_spec.mindspore.requests import CONDITIONS as KEYS
from ascend_spec.mindspore.requests import MOST_PAGES, MOST_ROWS, NUMBER_TEXT, OPERATORS, SORTS

WHOLE = re.compile(NUMBER_TEXT)
"""A step as text, which pages send where it was typed."""

LIMIT, OFFSET = 10, 0
"""Rows of a page, and its number, where only the other is given."""


class WrongCondition(ValueError):
    """What is asked for is not possible; the text says what is.

    ``refusal``: how the viewer refuses it, by its name in the spec.
    """

    def __init__(self, text: str, refusal: str) -> None:
        super().__init__(text)
        self.refusal = refusal


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
    asked = _mapping({} if asked is None else asked, "the condition", "body-type")
    _refuse_other_keys(asked, KEYS, "a condition", "body-type")
    wanted = _mapping(asked.get(KEYS[0], {}), KEYS[0], "filter")
    switches = {one.name: one for one in analyser.switches}
    sort = _mapping(asked.get(KEYS[1], {}), KEYS[1], "sort")
    return Condition(
        tuple(
            one
            for key, value in wanted.items()
            if key not in switches
            for one in _filters(str(key), value)
        ),
        {name: _switch(one, wanted) for name, one in switches.items()},
        *_sort(sort),
        _page(_mapping(asked.get(KEYS[2], {}), KEYS[2], "page")),
    )


def _filters(column: str, value: Any) -> Iterator[Filter]:
    place = f"{KEYS[0]}.{column}"
    for operator, values in _mapping(value, place, "filter").items():
        if not isinstance(values, list | tuple):
            expected = f"{place}.{operator}: expected a list, got {values!r:.60}"
            raise WrongCondition(expected, "filter")
        allowed: Any = str if operator == OPERATORS[2] else (str, int, float)
        for one in values:
            if isinstance(one, bool) or not isinstance(one, allowed):
                what = "texts" if allowed is str else "texts or numbers"
                expected = f"{place}.{operator}: expected {what}, got {one!r:.60}"
                raise WrongCondition(expected, "filter")
            if isinstance(one, str) and not _is_text(one):
                raise WrongCondition(
                    f"{place}.{operator}: half a character in {one!a:.60}", "filter"
                )
        yield Filter(column, str(operator), tuple(values))


def _is_text(text: str) -> bool:
    """Whether a text of JSON has no half of a character, which no file can hold."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _sort(sort: Mapping[str, Any]) -> tuple[str | None, bool]:
    """Without a type the largest first; a type of null, which pages send, is ascending."""
    _refuse_other_keys(sort, ("name", "type"), KEYS[1], "sort")
    name, kind = sort.get("name"), sort.get("type", SORTS[1])
    if not isinstance(name, str) and sort.keys() & {"name"}:
        raise WrongCondition(f"{KEYS[1]}.name: expected a text, got {name!r:.60}", "sort")
    if kind is not None and kind not in SORTS:
        expected = f"{KEYS[1]}.type: expected {' or '.join(SORTS)}, got {kind!r:.60}"
        raise WrongCondition(expected, "sort")
    return name, kind == SORTS[1]


def _page(page: Mapping[str, Any]) -> tuple[int, int] | None:
    _refuse_other_keys(page, ("limit", "offset"), KEYS[2], "page")
    if not page:
        return None
    return (
        _whole(page.get("limit", LIMIT), 1, MOST_ROWS, f"{KEYS[2]}.limit"),
        _whole(page.get("offset", OFFSET), 0, MOST_PAGES, f"{KEYS[2]}.offset"),
    )


def _refuse_other_keys(
    given: Mapping[str, Any], known: Sequence[str], what: str, refusal: str
) -> None:
    for key in given:
        if key not in known:
            raise WrongCondition(unknown(f"key of {what}", str(key), known), refusal)


def _whole(value: Any, least: int, most: int, place: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise WrongCondition(
            f"{place}: expected a whole number from {least} to {most:,}, got {value!r:.60}", "page"
        )
    return value


def _switch(switch: AnswerSwitch, wanted: Mapping[str, Any]) -> Any:
    if switch.name not in wanted:
        return switch.otherwise
    value = wanted[switch.name]
    if switch.form == "step" and isinstance(value, str) and WHOLE.fullmatch(value):
        value = int(value)
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
    raise WrongCondition(f"{place}: expected {expected}, got {value!r:.60}", "filter")


def _is_pair(value: Any) -> bool:
    return (
        isinstance(value, list | tuple)
        and len(value) == 2
        and all(isinstance(one, int | float) and not isinstance(one, bool) for one in value)
    )


def _mapping(value: Any, place: str, refusal: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise WrongCondition(f"{place}: expected a mapping, got {value!r:.60}", refusal)
    return value
