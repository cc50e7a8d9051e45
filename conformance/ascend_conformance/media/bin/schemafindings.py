"""Findings of the structural half: errors of the schemas, shared out among the rules."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ascend_spec import bin_catalog

from ...engine.schema_judge import Group
from ...finding import Finding, Skipped
from .flatten import pointer_to
from .places import Locator, block_label, first_place, shown
from .rules import BinRule, SchemaPlace
from .structure import ERRORS, Structure


def schema_findings(
    locator: Locator, structure: Structure, epoch: str, rules: Sequence[BinRule]
) -> Iterator[Finding]:
    """One finding for each place of a schema that the file departs from."""
    searches = [(rule, rule.search.schema) for rule in rules if rule.search.schema is not None]
    newest = bin_catalog().epochs[-1].id
    own = structure.groups(epoch)
    newer = structure.groups(newest).items() if epoch != newest else ()
    found = [
        *((_finds(group), key[0], group) for key, group in own.items()),
        *(("older", key[0], group) for key, group in newer if key not in own),
        *(("unknown", code, group) for code, group in structure.unknown_keys(epoch)),
    ]
    for finds, code, group in found:
        candidates = [(rule, search) for rule, search in searches if search.finds == finds]
        place = SchemaPlace(code, group.place)
        fitting = [
            (rule, search)
            for rule, search in candidates
            if not search.keywords or group.keyword in search.keywords
        ]
        named = [rule for rule, search in fitting if place in search.places]
        general = [rule for rule, search in fitting if not search.places and search.keywords]
        rest = [rule for rule, search in candidates if not search.places and not search.keywords]
        for rule in (named or general or rest)[:1]:
            yield _finding(locator, rule, code, group, epoch)


def schema_skips(structure: Structure, epoch: str, rules: Sequence[BinRule]) -> Iterator[Skipped]:
    """What was left unjudged because too much is wrong with it."""
    for code in structure.overruns(epoch):
        for rule in rules:
            if rule.search.schema is not None and rule.search.schema.finds == "fault":
                reason = f"given up after {ERRORS:,} departures from the schema"
                yield Skipped(rule.id, block_label(code) or "", reason)
                break


def _finds(group: Group) -> str:
    return "advisory" if group.advisory else "fault"


def _finding(locator: Locator, rule: BinRule, code: int, group: Group, epoch: str) -> Finding:
    full = pointer_to(group.tokens)
    offset = locator.byte_of(group.document, full)
    pointer = shown(full)
    summary = rule.summary.rstrip(".")
    number = f": {group.count:,}" if group.count > 1 else ""
    return replace(
        rule.finding(locator.file.label, f"{summary}{number}{first_place(offset, pointer)}"),
        expected=rule.expected.replace("{expected}", group.expected),
        table=block_label(code),
        column=group.place or None,
        count=group.count,
        examples=({"value": group.shown},),
        context={
            "count": group.count,
            "keyword": group.keyword,
            "epoch": epoch,
            "offset": offset,
            "pointer": pointer,
        },
        erratum=group.erratum or rule.erratum,
        offset=offset,
        pointer=pointer,
    )
