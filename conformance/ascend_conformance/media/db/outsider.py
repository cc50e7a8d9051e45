"""An analysis.db that does not belong to the database next to it: the cause of what rules find."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ascend_ref.db.open import read_examples

from ...engine.failure import rule_that_finds
from ...finding import Finding
from ...ruleset import Rule
from .rules import load_db_rules
from .session import Session

MOST = 0.5
"""The share of the rows of a table that differ where two files are of two captures: the same share
of times is equal by chance in none.
"""

FEWEST = 2
"""Tables, and cells of each: one wrong formula, or unit, of an exporter is found in one table."""


def with_cause(
    session: Session, findings: Sequence[Finding], wants: Callable[[Rule[Any]], bool]
) -> list[Finding]:
    """The findings; where two files are of two captures, that is one more, and their cause.

    ``wants``: whether a rule was asked for.
    """
    cause = rule_that_finds("another-capture")
    if session.profiler is None or not wants(cause):
        return list(findings)
    rules = load_db_rules()
    compared = [one for one in findings if one.rule in rules and rules[one.rule].theme == "cross"]
    apart = [one for one in compared if _is_apart(one)]
    if len({one.table for one in apart}) < FEWEST:
        return list(findings)
    by_table = {one.table: one for one in reversed(apart)}
    shown = " and ".join(
        f"{one.count:,} of {one.context['rows']:,} rows of {table}"
        for table, one in reversed(by_table.items())
    )
    profiler, own = (Path(one).name for one in (session.profiler.label, session.label))
    other = _other_rank(session.profiler)
    named, against = (own, profiler) if other is None else (profiler, own)
    remark = "" if other is None else f"; RANK_DEVICE_MAP says rank {other}"
    message = f"{cause.summary.rstrip('.')}: against {against}, {shown} differ{remark}"
    explained = {one.rule for one in compared}
    return [
        replace(cause.finding(session.label, message), table=named),
        *(replace(one, cause=cause.id) if one.rule in explained else one for one in findings),
    ]


def _is_apart(finding: Finding) -> bool:
    rows = finding.context.get("rows")
    cells = finding.count + sum(finding.elsewhere.values())
    return isinstance(rows, int) and finding.count >= MOST * rows and cells >= FEWEST


def _other_rank(profiler: Session) -> int | None:
    """The rank that RANK_DEVICE_MAP states, where the name of the file states another."""
    named = profiler.identity.rank_from_name
    if named is None or not profiler.layout.holds("RANK_DEVICE_MAP.rankId"):
        return None
    ranks = {
        int(row[0])
        for row in read_examples(
            profiler.connection,
            "SELECT DISTINCT rankId FROM main.RANK_DEVICE_MAP WHERE typeof(rankId) = 'integer'",
            columns=1,
            rows=FEWEST,
        )
        if row[0] is not None
    }
    return ranks.pop() if len(ranks) == 1 and named not in ranks else None
