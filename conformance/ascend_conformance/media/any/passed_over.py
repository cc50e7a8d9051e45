"""Databases of a profile under names that no reader looks for: reported, and not judged."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import apsw

from ascend_ref.atomic import is_hidden
from ascend_ref.db.carrier import carrier_of_name
from ascend_ref.db.display import show_path
from ascend_ref.db.header import UnreadableDatabase
from ascend_ref.db.open import open_readonly
from ascend_ref.sniff import SQLITE_HEADER

from ...engine.candidate import Candidate, Listing
from ...engine.failure import rule_that_finds
from ...finding import FileReport
from ...options import Options
from .. import NO_PROFILE
from .other import first_bytes, other_file

PASSED_OVER = "passed over"
"""What the rule finds."""

OF_A_PROFILE = (
    "SELECT 1 FROM main.sqlite_schema WHERE type = 'table' "
    "AND name IN ('STRING_IDS', 'CommAnalyzerTime') LIMIT 1"
)
"""Every database of a profile has one of these tables."""


def passed_over_in(listing: Listing) -> Iterator[Candidate]:
    """The databases in a folder that have tables of a profile, but no name of one."""
    for path in listing.paths:
        if path.suffix == ".db" and not is_hidden(path.name) and is_passed_over(path):
            yield Candidate(NO_PROFILE, path)


def is_passed_over(path: Path) -> bool:
    """Whether a file is such a database."""
    if carrier_of_name(path.name)[0] is not None:
        return False
    if not first_bytes(path).startswith(SQLITE_HEADER) or other_file(path) is not None:
        return False
    try:
        with closing(open_readonly(path)) as connection:
            return connection.execute(OF_A_PROFILE).fetchone() is not None
    except (UnreadableDatabase, apsw.Error, OSError):
        return False


def passed_over_line(path: Path) -> str | None:
    """One line on such a database, and what to do with it."""
    if not is_passed_over(path):
        return None
    shown = show_path(path)
    return (
        f"{shown}: tables of a profile under a name that no reader looks for; check the file itself"
    )


def judge_passed_over(candidate: Candidate, options: Options) -> FileReport:
    """The finding on one of them, which is not read."""
    rule = rule_that_finds(PASSED_OVER)
    found = [rule.finding(candidate.label, rule.summary)] if options.selection.wants(rule) else []
    return FileReport(candidate.label, None, tuple(found), rules_run=1, places_checked=1)
