"""From a JSON payload to rows of typed values, as ``facts.yaml`` declares them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from typing import Any, TypeAlias

from ascend_spec import per_spec
from ascend_spec.bin.sentinels import NOT_COUNTED
from ascend_spec.core import packaged
from ascend_spec.core.pointer import pointer_of, unescaped

from ...engine.sqlite_facts import SqlValue

Read: TypeAlias = Callable[[list[Any], list[str | int]], SqlValue]
EACH_ELEMENT = "[]"
EACH_MEMBER = "{}"
ABSENT: Any = object()

TEXT = 1_000
"""Characters of a text that a row keeps."""

INT64 = range(-(2**63), 2**63)
INT32 = range(-(2**31), 2**31)

_POINTER = re.compile(r"(?:(?P<up>\d+)(?P<key>#)?(?:/|$))?(?P<path>.*)")
_NUMBER = re.compile(r"-?[0-9]{1,40}(?P<real>\.[0-9]{1,40})?(?P<exponent>[eE][+-]?[0-9]{1,4})?")
_ADDRESS = re.compile(r"(?:0[xX])?(?P<digits>[0-9a-fA-F]{1,16})")


@dataclass(frozen=True, slots=True)
class Column:
    """Where a column's value stands: ``path`` from the value ``up`` steps above the row's, or, with
    ``is_key``, the key or index of that value. ``read`` gets the values and keys on the way to the
    row.
    """

    up: int
    is_key: bool
    path: tuple[str, ...]
    read: Read


@dataclass(frozen=True, slots=True)
class FactTable:
    """One table of facts. ``columns`` are in the order in which :meth:`rows` gives their values."""

    name: str
    blocks: tuple[int, ...]
    patterns: tuple[str, ...]
    columns: Mapping[str, Column]
    grouped: bool

    def rows(self, payload: Any) -> Iterator[tuple[str, list[SqlValue]]]:
        """JSON Pointer and column values of every row that a payload holds, in its order."""
        columns = self.columns.values()
        # Where no column reads the row's value itself, a row without members would say nothing.
        reads_itself = any(not (one.up or one.path or one.is_key) for one in columns)
        kinds = object if reads_itself else (dict, list)
        readers = [one.read for one in columns]
        for pattern in self.patterns:
            for stack, tokens in _walk(steps_of(pattern), [payload], []):
                if isinstance(stack[-1], kinds):
                    yield pointer_to(tokens), [read(stack, tokens) for read in readers]


@per_spec
def fact_tables() -> Mapping[str, FactTable]:
    """Every table that ``facts.yaml`` declares, in its order."""
    return {
        name: FactTable(
            name=name,
            blocks=tuple(document["blocks"]),
            patterns=tuple(document["at"]),
            columns={column: _column(how) for column, how in document["columns"].items()},
            grouped=document.get("grouped", False),
        )
        for name, document in packaged(__package__, "facts.yaml").items()
    }


def _column(declared: str) -> Column:
    reading, _, pointer = declared.partition(" ")
    found = _POINTER.fullmatch(pointer)
    if found is None:
        raise ValueError(f"{pointer!r} is no relative JSON Pointer")
    up, is_key = int(found["up"] or 0), bool(found["key"])
    path = tuple(unescaped(token) for token in found["path"].split("/") if token)

    def key(_stack: list[Any], tokens: list[str | int]) -> SqlValue:
        token = tokens[-1 - up]
        return token if isinstance(token, int) else bounded(token)

    if is_key:
        return Column(up, is_key, path, key)
    as_read = READINGS[reading]

    def value(stack: list[Any], _tokens: list[str | int]) -> SqlValue:
        value = stack[-1 - up]
        for token in path:
            value = _inner(value, token)
        return as_read(value)

    return Column(up, is_key, path, value)


def pointer_to(tokens: Sequence[str | int]) -> str:
    """The JSON Pointer of these keys and indices; of a long key as :func:`bounded` gives it."""
    return pointer_of(token if isinstance(token, int) else bounded(token) for token in tokens)


def bounded(text: str) -> str:
    """The text, or of a long one its ends around a digest, so that equal ones stay equal.

    Many rows may repeat one text of the file.
    """
    return text if len(text) <= TEXT else _around_digest(text)


@lru_cache(maxsize=1_024)
def _around_digest(text: str) -> str:
    digest = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    half = TEXT // 2
    return f"{text[:half]}…{digest}…{text[-half:]}"


def steps_of(pattern: str) -> list[str]:
    """``"a.b[].c{}"`` as ``["a", "b", "[]", "c", "{}"]``."""
    steps: list[str] = []
    for part in filter(None, pattern.split(".")):
        name = part.rstrip("[]{}")
        marks = part[len(name) :]
        steps += [name, *(marks[at : at + 2] for at in range(0, len(marks), 2))]
    return [step for step in steps if step]


def _walk(
    steps: Sequence[str], stack: list[Any], tokens: list[str | int]
) -> Iterator[tuple[list[Any], list[str | int]]]:
    """Every value that the steps lead to, with the values and keys on the way; both are reused."""
    if not steps:
        yield stack, tokens
        return
    step, rest = steps[0], steps[1:]
    value = stack[-1]
    inside: Iterator[tuple[str | int, Any]]
    if step == EACH_ELEMENT:
        inside = enumerate(value) if isinstance(value, list) else iter(())
    elif not isinstance(value, dict):
        return
    elif step == EACH_MEMBER:
        inside = iter(value.items())
    else:
        inside = iter([(step, value[step])] if step in value else ())
    for token, inner in inside:
        stack.append(inner)
        tokens.append(token)
        yield from _walk(rest, stack, tokens)
        tokens.pop()
        stack.pop()


def _inner(value: Any, token: str) -> Any:
    if isinstance(value, dict):
        return value.get(token, ABSENT)
    if isinstance(value, list) and token.isdecimal() and int(token) < len(value):
        return value[int(token)]
    return ABSENT


def as_kind(value: Any) -> str | None:
    """The JSON type; of integers also whether a consumer's 32 bits hold them."""
    if value is ABSENT:
        return None
    if isinstance(value, int) and not isinstance(value, bool):
        return "integer" if value in INT32 else "wide"
    return _KINDS[type(value)]


_KINDS = {
    dict: "object",
    list: "array",
    str: "text",
    float: "real",
    bool: "boolean",
    type(None): "null",
}


def as_text(value: Any) -> str | None:
    """A string, or the text of a number."""
    if isinstance(value, str):
        return bounded(value)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return json.dumps(value)
    return None


def as_number(value: Any) -> int | float | None:
    """A number, or what a string spells; beyond 64 bits as the nearest double."""
    if isinstance(value, str):
        found = _NUMBER.fullmatch(value)
        if found is None:
            return None
        value = float(value) if found["real"] or found["exponent"] else int(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    if isinstance(value, float) or value in INT64:
        return value
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def as_counter(value: Any) -> int | float | None:
    """A number; NULL where msopprof had no value for a counter. It writes the greatest number of 64
    bits then, or a few less where such ones were added (``EMPTY_PMU_VALUE`` of its defs.h)."""
    number = as_number(value)
    return None if number == NOT_COUNTED else number


def as_address(value: Any) -> int | None:
    """A hexadecimal text less 2^63, so that the order of 64 bits fits a signed column."""
    found = _ADDRESS.fullmatch(value) if isinstance(value, str) else None
    return int(found["digits"], 16) - 2**63 if found else None


def _inside(value: Any) -> str | None:
    if not isinstance(value, list):
        return None
    kinds = {as_kind(one) for one in value}
    return " ".join(sorted(kind for kind in kinds if kind))


READINGS: dict[str, Callable[[Any], SqlValue]] = {
    "text": as_text,
    "number": as_number,
    "counter": as_counter,
    "kind": as_kind,
    "length": lambda value: len(value) if isinstance(value, (list, dict)) else None,
    "inside": _inside,
    "address": as_address,
    "json": lambda value: None if value is ABSENT else json.dumps(value),
}
