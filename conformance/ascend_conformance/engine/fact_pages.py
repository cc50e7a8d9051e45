"""What pages say of rules that SQL asks of facts: how bad rows are found, how edits break them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import yaml

from ascend_ref.markdown import Style, code, fenced

from ..ruleset import Rule


def search_in(table: str, rule: Rule[Any]) -> str:
    """How bad rows of a table of facts are found."""
    found = "A fact is bad where this holds" if rule.row else "Each row of this query is a bad fact"
    query = fenced("sql", rule.row or rule.select or "")
    return f"{found}, among the facts of {code(table)}:\n\n{query}"


def edits_of(
    rule: Rule[Any], edits: Sequence[Mapping[str, Any]], clean: str, there: str, style: Style
) -> Iterator[str]:
    """How the self-test changes what is clean. ``clean``: on what; ``there``: where it looks."""
    if not edits:
        return
    others = sorted(rule.also)
    woken = f" and, by their nature, {', '.join(others)}:" if others else " and no other:"
    yield style.part("How the self-test breaks it")
    yield f"On {clean} these edits wake this rule{woken}"
    yield fenced("yaml", yaml.safe_dump(list(edits), sort_keys=False, width=90))
    if rule.search.victim:
        yield f"The names in braces stand for what this query finds first in {there}:"
        yield fenced("sql", rule.search.victim)
    for other in others:
        yield f"{other}: {rule.also[other]}"


def edits_of_files(rule: Rule[Any], style: Style) -> Iterator[str]:
    """How the self-test changes the files of a clean folder."""
    edits = [dict(edit) for edit in rule.breaks]
    yield from edits_of(rule, edits, "clean files", "the files", style)
