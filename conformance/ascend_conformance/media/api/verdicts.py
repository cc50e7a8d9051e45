"""What was noticed, summed up to findings: one for each rule at one place of a command."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ascend_spec.core.pointer import place_of, pointer_of

from ...engine.schema_judge import Tokens
from ...finding import Finding, Scalar
from .rules import ApiRule, Finds, rules_by_find

Message = Mapping[str, Any]

MOST = 2_000
"""Places that are counted separately; a server could invent keys without end."""


@dataclass(frozen=True, slots=True)
class Noticed:
    """One departure in one message. ``tokens`` lead from the message to the place."""

    finds: Finds
    table: str
    tokens: Tokens = ()
    expected: str = ""
    actual: str = ""
    request: str = ""
    erratum: str | None = None


@dataclass(slots=True)
class _Group:
    rule: ApiRule
    column: str | None
    first: Noticed
    count: int = 0
    examples: list[dict[str, Scalar]] = field(default_factory=list)


class Verdicts:
    """Takes in what is noticed about one server. ``max_examples`` bad places are kept of each."""

    def __init__(self, server: str, max_examples: int) -> None:
        self._server = server
        self._max_examples = max_examples
        self._groups: dict[tuple[str, str, str | None], _Group] = {}

    def add(self, noticed: Noticed) -> None:
        """Sum up one more."""
        rule = rules_by_find()[noticed.finds]
        # The name of an unknown key is the server's; its place is the object that has it.
        tokens = noticed.tokens[:-1] if noticed.finds == "unknown-key" else noticed.tokens
        column = place_of(tokens) or None
        key = rule.id, noticed.table, column
        if key not in self._groups and len(self._groups) >= MOST:
            key = rule.id, noticed.table, None
        group = self._groups.setdefault(key, _Group(rule, key[2], noticed))
        group.count += 1
        if len(group.examples) < self._max_examples:
            example: dict[str, Scalar] = {
                "at": pointer_of(noticed.tokens),
                "actual": noticed.actual,
                "expected": noticed.expected,
                "request": noticed.request,
            }
            if example not in group.examples:
                group.examples.append(example)

    def findings(self) -> tuple[Finding, ...]:
        """All findings, by rule and place."""
        found = (self._finding(group) for group in self._groups.values())
        return tuple(sorted(found, key=lambda finding: (finding.rule, finding.place)))

    def _finding(self, group: _Group) -> Finding:
        rule, first = group.rule, group.first
        pointer = pointer_of(first.tokens)
        number = f": {group.count:,}" if group.count > 1 else ""
        at = f" at {pointer}" if pointer else ""
        asked = f", asked {first.request}" if first.request else ""
        value = f": {first.actual}" if first.actual else ""
        shown = f"{rule.summary.rstrip('.')}{number} (first{at}{asked}{value})"
        return replace(
            rule.finding(self._server, shown),
            expected=rule.expected.replace("{expected}", first.expected),
            table=first.table,
            column=group.column,
            count=group.count,
            examples=tuple(group.examples) if group.count > 1 else (),
            context={
                "count": group.count,
                "pointer": pointer,
                "request": first.request,
                "expected": first.expected,
                "actual": first.actual,
            },
            erratum=first.erratum,
            pointer=pointer,
        )
