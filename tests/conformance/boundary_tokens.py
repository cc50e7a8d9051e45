"""Comparisons in SQL, found by tokens, the same SQL with one flipped, and lists of survivors."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import yaml

from ascend_conformance.ruleset import Rule

AnyRule = TypeVar("AnyRule", bound=Rule[Any])

TOKEN = re.compile(
    r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|--[^\n]*|->>?|=>|<<|>>|<>|!=|<=|>=|==|<|>|="
)
FLIPPED = {
    "<": "<=",
    "<=": "<",
    ">": ">=",
    ">=": ">",
    "=": "<>",
    "==": "<>",
    "<>": "=",
    "!=": "=",
}


def comparisons(sql: str) -> list[tuple[int, str]]:
    """Offset and text of each comparison outside of quotes and comments."""
    return [(match.start(), match[0]) for match in TOKEN.finditer(sql) if match[0] in FLIPPED]


def flips(sql: str) -> Iterator[tuple[str, str]]:
    """What is flipped, named by its surroundings, and the SQL after it."""
    named: Counter[str] = Counter()
    for at, operator in comparisons(sql):
        name = _around(sql, at, operator)
        named[name] += 1
        after = f"{sql[:at]}{FLIPPED[operator]}{sql[at + len(operator) :]}"
        yield name if named[name] == 1 else f"{name} ({named[name]})", after


def mutants(rule: AnyRule) -> dict[str, AnyRule]:
    """A rule with each of the comparisons of its SQL flipped, by the comparison."""
    return {
        at: replace(rule, **{field: after})
        for field in ("row", "select")
        for at, after in flips(getattr(rule, field) or "")
    }


def _around(sql: str, at: int, operator: str) -> str:
    """Some of the text on both sides, on one line, with the operator between arrows."""
    before = " ".join(sql[max(0, at - 30) : at].split())
    behind = " ".join(sql[at + len(operator) : at + len(operator) + 30].split())
    return f"{before} [{operator} -> {FLIPPED[operator]}] {behind}"


def equal_in(path: Path) -> Mapping[str, str]:
    """The flips that a list names, with the reason why nothing can notice them."""
    return dict(yaml.safe_load(path.read_text(encoding="utf-8")))
