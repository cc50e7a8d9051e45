"""Changes as findings, for the reports that the checks of files have as well."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from ascend_ref import __version__
from ascend_ref.states import AXES, FAMILIES, State, on_one_axis

from ..finding import SPEC, Coverage, FileReport, Finding, Report, Seen, Verdict
from ..ruleset import EVERYTHING, Rule, Selection
from .bump import Bump, admits
from .change import Change, changes_between
from .rule import ChangeRule, change_rules
from .versions import FAMILY, NOT_ADMITTED, NOT_STATED, declared_between, version_changes


def report_between(old: State, new: State, selection: Selection = EVERYTHING) -> Report:
    """The changes from one state to another as a report: a file for each family that changed.

    What breaks somebody is a violation, advice where the version admits it or where only an order
    is another one; anything else is a note. Raises ``StateError`` for states of two axes,
    ``SpecError`` for documents that cannot be used, ``ValueError`` for a version that is not three
    numbers.
    """
    old, new = on_one_axis(old, new)
    changes = changes_between(old, new)
    changes += version_changes(old, new, changes)
    declared = declared_between(old, new)
    by_family: dict[str, list[Change]] = {}
    for one in changes:
        if selection.wants(as_rule(one.named)):
            by_family.setdefault(one.family, []).append(one)
    compared = (FAMILY, *by_family) if old.axis is None else AXES[old.axis].families
    files = (
        _of_family(family, by_family.get(family, ()), old, new, declared)
        for family in FAMILIES
        if family in compared
    )
    return Report(tuple(files), __version__, "observed", question="change")


@cache
def reported_rules() -> Mapping[str, Rule[Any]]:
    """The rules of changes, as reports show rules."""
    return {rule.id: as_rule(rule) for rule in change_rules().values()}


def as_rule(rule: ChangeRule) -> Rule[None]:
    """A rule of changes, as reports show rules."""
    return Rule(
        id=rule.id,
        name=rule.name,
        verdict=_verdict(rule, None),
        grade=rule.grade,
        summary=rule.summary,
        why=rule.why,
        fix=rule.fix,
        example=f"{rule.example.address}: {_in_words(rule.example.before, rule.example.after)}",
        source=rule.source,
        expected=_expected(rule, FAMILY),
        theme="changes",
        medium="spec",
        search=None,
    )


def _of_family(
    family: str, changes: Sequence[Change], old: State, new: State, declared: Bump | None
) -> FileReport:
    versions = dict.fromkeys(filter(None, (old.schema_version, new.schema_version)))
    seen = Seen(
        carrier=SPEC,
        schema_version=" to ".join(versions) if family == FAMILY and versions else None,
        revision=f"{old.name} to {new.name}",
        rows=Counter(one.address.partition("/")[0] for one in changes),
        coverage=Coverage(0, 0),
    )
    admitted = declared if family == FAMILY else None
    findings = tuple(finding_of(one, admitted) for one in changes)
    return FileReport(FAMILIES[family].title, seen, findings)


def finding_of(change: Change, declared: Bump | None = None) -> Finding:
    """A change as a finding; ``declared`` is what the version raises, ``None`` where none does."""
    rule = change.named
    texts = {"before": change.before, "after": change.after}
    return Finding(
        rule=rule.id,
        name=rule.name,
        verdict=_verdict(rule, declared),
        file=FAMILIES[change.family].title,
        message=f"{rule.summary.rstrip('.')}: {_in_words(change.before, change.after)}",
        expected=_expected(rule, change.family),
        table=change.address,
        column=change.place or None,
        context={
            "breaks": rule.breaks,
            "bump": rule.bump,
            **{name: text for name, text in texts.items() if text},
            **({"in": ", ".join(change.carriers)} if change.carriers else {}),
        },
    )


def _verdict(rule: ChangeRule, declared: Bump | None) -> Verdict:
    if rule.id == NOT_STATED:
        return "advice"
    if rule.breaks == "nobody":
        return "note"
    announced = declared is not None and admits(declared, rule.bump)
    is_mild = rule.breaks == "ordering" or (announced and rule.id != NOT_ADMITTED)
    return "advice" if is_mild else "violation"


def _expected(rule: ChangeRule, family: str) -> str:
    """What a change demands of the version, which databases alone state, and whom it breaks."""
    broken = "" if rule.breaks == "nobody" else f"breaks {rule.breaks}"
    if rule.id in (NOT_ADMITTED, NOT_STATED):
        return "a version that says so"
    raised = f"{rule.bump} is raised" if family == FAMILY and rule.bump != "none" else ""
    return "; ".join(filter(None, (raised, broken)))


def _in_words(before: str, after: str) -> str:
    if before and after:
        joint = "but" if after.endswith(" is demanded") else "became"
        return f"{before} {joint} {after}"
    return f"{after} is new" if after else f"{before} is gone"
