"""What only the page of a bin rule says: how bad places are found, how a clean file is broken."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ascend_ref.markdown import Style, code

from ...engine.fact_pages import edits_of, search_in
from .flatten import fact_tables
from .places import block_label
from .rules import BinRule

FINDS = {
    "fault": "What the payload's schema of the file's own epoch does not allow",
    "advisory": "What the spec marks as advisory in the payload's schema",
    "older": "What the newest epoch's schema does not allow, and that of the file's own does",
    "unknown": "Keys that the payload's schema does not describe",
}
"""In words, what a rule takes of the errors of the schemas."""


def where(rule: BinRule) -> str:
    """The blocks, or the table of facts, that the rule looks at."""
    if rule.search.records:
        return f"{block_label(rule.search.records.block)}: {_names(rule.search.records.fields)}"
    if rule.search.schema and rule.search.schema.places:
        named = (f"{block_label(number)} {code(at)}" for number, at in rule.search.schema.places)
        return ", ".join(named)
    if rule.search.schema:
        return "every JSON payload"
    place = ".".join(filter(None, (rule.search.table, rule.column)))
    shown = ", ".join(map(block_label, blocks(rule)))
    return f"{shown}: facts {code(place)}" if shown else f"facts {code(place)}"


def blocks(rule: BinRule) -> tuple[int, ...]:
    """Codes of the blocks that the rule looks at; none where it looks at all."""
    if rule.search.records:
        return (rule.search.records.block,)
    if rule.search.schema:
        return tuple(dict.fromkeys(number for number, _ in rule.search.schema.places))
    table = fact_tables().get(rule.search.table or "")
    return rule.search.present or (table.blocks if table else ())


def search(rule: BinRule) -> str:
    """How bad places are found, where it is not by SQL alone."""
    if wanted := rule.search.schema:
        keywords = f" ({_names(wanted.keywords)})" if wanted.keywords else ""
        return f"{FINDS[wanted.finds]}{keywords}."
    if asked := rule.search.records:
        others = f" against {_names(asked.others)}" if asked.others else ""
        return f"Record by record, {code(asked.check)} of {_names(asked.fields)}{others}."
    return search_in(rule.search.table or "", rule)


def mutation(rule: BinRule, style: Style) -> Iterator[str]:
    """How the self-test damages a clean file."""
    edits = [_shown(edit) for edit in rule.breaks]
    yield from edits_of(rule, edits, "a clean file", "the file", style)


def _shown(edit: Mapping[str, Any]) -> dict[str, Any]:
    """The edit with its block type as it is called everywhere."""
    number = edit.get("block")
    return {**edit, "block": block_label(number)} if isinstance(number, int) else dict(edit)


def _names(names: tuple[str, ...]) -> str:
    return ", ".join(map(code, names))
