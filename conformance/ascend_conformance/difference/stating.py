"""Differences as findings, for the reports that checks have as well."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ..compare.agreement import WHICH, Which
from ..engine.failure import own_rules, rule_that_finds
from ..finding import Finding, Scalar
from ..options import Options
from ..ruleset import Rule
from .pairing import Difference, Example

SIDES = ("A", "B")
"""What words call the sides."""

THEME = "differences"


def difference_rules() -> Mapping[str, Rule[Any]]:
    """The rules of what two profiles may differ in, by id."""
    return {name: rule for name, rule in own_rules().items() if rule.theme == THEME}


def rule_of(what: str) -> Rule[str]:
    """The rule of a kind of differences, as :attr:`.Difference.what` names it."""
    return rule_that_finds(f"{what} of two profiles")


def findings(some: Iterator[Difference], label: str, options: Options) -> tuple[Finding, ...]:
    """Differences as findings on a file or folder, without those that nobody asked for."""
    return tuple(
        _finding(one, rule, label, options)
        for one in some
        if options.selection.wants(rule := rule_of(one.what))
    )


def _finding(one: Difference, rule: Rule[str], label: str, options: Options) -> Finding:
    first = one.examples[0].places if one.examples else {}
    places = ", ".join(f"{first[which]} of {side}" for which, side in _sides() if which in first)
    at = f" ({'first: ' if one.count > 1 else ''}{places})" if places else ""
    message = f"{rule.counted(one.count, one.total)}; {one.words}{at}"
    found = replace(
        rule.finding(label, message, one.count, one.total),
        table=one.place or None,
        column=one.column,
        examples=tuple(map(_shown, one.examples[: options.max_examples])),
        context={"count": one.count, "rows": one.total},
        changes=one.changes,
    )
    return replace(found, verdict="note") if one.is_explained else found


def _sides() -> Iterator[tuple[Which, str]]:
    return zip(WHICH, SIDES, strict=True)


def _shown(one: Example) -> Mapping[str, Scalar]:
    """The values of an example by side and column, and the places of its rows."""
    found: dict[str, Scalar] = {}
    for which, side in _sides():
        if which in one.places:
            found[side] = one.places[which]
        found |= {f"{side} {name}": _scalar(it) for name, it in one.values.get(which, {}).items()}
    return found


def _scalar(value: Any) -> Scalar:
    return value if value is None or isinstance(value, int | float | str) else str(value)
