"""Long AND and OR chains as balanced trees: SQLite limits the depth of an expression to 1,000."""

from __future__ import annotations

from collections.abc import Sequence


def balanced(operator: str, terms: Sequence[str]) -> str:
    """The terms joined by ``AND`` or ``OR``, evaluated left to right, nested log2(n) deep."""
    if len(terms) == 1:
        return f"({terms[0]})"
    half = len(terms) // 2
    left, right = balanced(operator, terms[:half]), balanced(operator, terms[half:])
    return f"({left} {operator} {right})"
