"""Constants of C++ sources: names and what they are initialised with, without a compiler.

Read are declarations with ``const`` or ``constexpr`` and assignments to members, whose values are
texts, whole numbers, names, braces around such, and ``+``, ``-``, ``<<`` and ``|`` of numbers. What
else stands there, such as a call, is a :class:`Call` by name or stays unread.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

_TOKEN = re.compile(
    r"""(?P<skip>\s+|//[^\n]*|/\*.*?(?:\*/|\Z)|\#(?:\\\n|[^\n])*)
    |(?P<text>"(?:[^"\\\n]|\\.)*")
    |(?P<number>0[xX][0-9a-fA-F]+|[0-9]+)[uUlL]*
    |(?P<name>[A-Za-z_]\w*(?:::[A-Za-z_]\w*)*)
    |(?P<mark><<|[{}(),;=+\-|<>&*]|.)""",
    re.VERBOSE | re.DOTALL,
)
_LIMITS = {"UINT8_MAX": 2**8 - 1, "UINT16_MAX": 2**16 - 1, "UINT32_MAX": 2**32 - 1}
DEEPEST = 50
"""Braces within braces that are followed; sources have five."""


@dataclass(frozen=True, slots=True)
class Name:
    """A constant that is named where its value is used."""

    text: str


@dataclass(frozen=True, slots=True)
class Call:
    """A function or macro with its arguments."""

    name: str
    arguments: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Sum:
    """Two values and the operator between them."""

    left: Value
    operator: str
    right: Value


Value = str | int | Name | Call | Sum | tuple["Value", ...]


class Constant(NamedTuple):
    """What a name is initialised with, and the line where it is."""

    value: Value
    line: int


class Token(NamedTuple):
    """A word of the source: its kind, its text, where it begins."""

    kind: str
    text: str
    at: int


class _Other(ValueError):
    """No initialiser of the forms that are read."""


def constants(source: str) -> dict[str, Constant]:
    """The constants that a source declares, by name; the first of several of one name."""
    tokens, ends = _tokens(source), _line_ends(source)
    found: dict[str, Constant] = {}
    for start, end in _statements(tokens):
        for name, value, at in _declared(tokens[start:end]):
            found.setdefault(name, Constant(value, bisect_left(ends, at) + 1))
    return found


def enumeration(source: str, name: str) -> Constant | None:
    """The members of an enum, as pairs of a name and its value in the order of their declaration;
    ``None`` where the source has no such enum. Raises ``ValueError`` for members whose numbers are
    no plain ones.
    """
    tokens, ends = _tokens(source), _line_ends(source)
    for number, token in enumerate(tokens):
        if token.text != name or number == 0 or tokens[number - 1].text not in ("class", "enum"):
            continue
        opening = next((at for at in range(number, len(tokens)) if tokens[at].text in "{;"), None)
        if opening is None or tokens[opening].text == ";":
            continue
        return Constant(tuple(_members(tokens, opening + 1)), bisect_left(ends, token.at) + 1)
    return None


def _members(tokens: Sequence[Token], at: int) -> Iterator[Value]:
    number = 0
    while at < len(tokens) and tokens[at].kind == "name":
        name = tokens[at].text
        at += 1
        if at < len(tokens) and tokens[at].text == "=":
            value, at = _value(tokens, at + 1, 0)
            if not isinstance(value, int):
                raise ValueError(f"{name} of an enum is no plain number")
            number = value
        yield (name, number)
        number += 1
        if at < len(tokens) and tokens[at].text == ",":
            at += 1


def _line_ends(source: str) -> list[int]:
    return [match.start() for match in re.finditer("\n", source)]


def _tokens(source: str) -> list[Token]:
    return [
        Token(match.lastgroup or "mark", match[match.lastgroup or 0], match.start())
        for match in _TOKEN.finditer(source)
        if match.lastgroup != "skip"
    ]


def _statements(tokens: Sequence[Token]) -> Iterator[tuple[int, int]]:
    """Where statements begin and end: at a semicolon, and at braces that are no value."""
    start = depth = 0
    for number, token in enumerate(tokens):
        if token.text == "{":
            if depth or _is_value(tokens, start, number):
                depth += 1
            else:
                start = number + 1
        elif token.text == "}":
            if depth:
                depth -= 1
            else:
                start = number + 1
        elif token.text == ";" and not depth:
            yield start, number
            start = number + 1


def _is_value(tokens: Sequence[Token], start: int, number: int) -> bool:
    """Whether a brace opens a value: behind ``=``, or behind the name of a constant."""
    before = tokens[start:number]
    if not before:
        return False
    return before[-1].text == "=" or (
        before[-1].kind == "name" and before[0].text in ("const", "constexpr", "static")
    )


def _declared(statement: Sequence[Token]) -> Iterator[tuple[str, Value, int]]:
    """The name and value of a statement that initialises or assigns one."""
    for number, token in enumerate(statement):
        if token.text in ("=", "{") and number and statement[number - 1].kind == "name":
            begin = number + (token.text == "=")
            try:
                value, end = _value(statement, begin, 0)
            except _Other:
                return
            if end == len(statement):
                yield statement[number - 1].text, value, statement[number - 1].at
            return
        if token.text == "(":
            return


def _value(tokens: Sequence[Token], at: int, depth: int) -> tuple[Value, int]:
    left, at = _operand(tokens, at, depth)
    while at < len(tokens) and tokens[at].text in ("+", "-", "<<", "|"):
        operator = tokens[at].text
        right, at = _operand(tokens, at + 1, depth)
        left = Sum(left, operator, right)
    return left, at


def _operand(tokens: Sequence[Token], at: int, depth: int) -> tuple[Value, int]:
    if at >= len(tokens) or depth > DEEPEST:
        raise _Other
    kind, text, _ = tokens[at]
    if text == "{":
        return _listed(tokens, at + 1, "}", depth)
    if kind == "text":
        whole = ""
        while at < len(tokens) and tokens[at].kind == "text":
            whole += tokens[at].text[1:-1]
            at += 1
        return whole, at
    if kind == "number":
        return int(text, 16 if text[:2] in ("0x", "0X") else 10), at + 1
    if kind != "name":
        raise _Other
    if at + 1 < len(tokens) and tokens[at + 1].text == "(":
        arguments, at = _listed(tokens, at + 2, ")", depth)
        return Call(text, arguments), at
    return Name(text), at + 1


def _listed(
    tokens: Sequence[Token], at: int, closing: str, depth: int
) -> tuple[tuple[Value, ...], int]:
    values: list[Value] = []
    while at < len(tokens) and tokens[at].text != closing:
        value, at = _value(tokens, at, depth + 1)
        values.append(value)
        if at < len(tokens) and tokens[at].text == ",":
            at += 1
        elif at >= len(tokens) or tokens[at].text != closing:
            raise _Other
    if at >= len(tokens):
        raise _Other
    return tuple(values), at + 1


def resolve(value: Value, *known: Mapping[str, Constant], depth: int = 0) -> Value:
    """A value with names replaced by what they stand for, looked up in each of ``known`` in turn.

    Names that none of them has stay :class:`Name`, sums with such a name stay :class:`Sum`.
    """
    if depth > DEEPEST:
        return value
    match value:
        case tuple():
            return tuple(resolve(one, *known, depth=depth + 1) for one in value)
        case Name(text=name):
            found = _of_name(name.rpartition("::")[2], known, depth)
            return value if found is None else found
        case Sum(left=left, operator=operator, right=right):
            numbers = [resolve(one, *known, depth=depth + 1) for one in (left, right)]
            return _sum(numbers[0], operator, numbers[1])
    return value


def _of_name(name: str, known: Sequence[Mapping[str, Constant]], depth: int) -> Value | None:
    if name in _LIMITS:
        return _LIMITS[name]
    for names in known:
        if name in names:
            return resolve(names[name].value, *known, depth=depth + 1)
    return None


def _sum(left: Value, operator: str, right: Value) -> Value:
    if isinstance(left, str) and isinstance(right, str) and operator == "+":
        return left + right
    if not isinstance(left, int) or not isinstance(right, int):
        return Sum(left, operator, right)
    if operator == "<<":
        return left << right if right < 64 else Sum(left, operator, right)
    return left + right if operator == "+" else left - right if operator == "-" else left | right
