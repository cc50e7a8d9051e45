"""What a killed run of this program left in a folder: reported, and never taken for a profile."""

from __future__ import annotations

from collections.abc import Iterator

from ascend_ref.atomic import left_behind

from ...engine.candidate import Candidate, Listing
from ...engine.failure import rule_that_finds
from ...finding import FileReport
from ...options import Options
from .. import NO_PROFILE

LEFT = "left"
"""What the rule finds."""


def left_in(listing: Listing) -> Iterator[Candidate]:
    """The drafts in a folder, and the folders that a replacement had put aside."""
    for path in listing.hidden:
        if left_behind(path) == path.absolute():
            yield Candidate(NO_PROFILE, path)


def judge_left(candidate: Candidate, options: Options) -> FileReport:
    """The finding on one of them, which is not read."""
    rule = rule_that_finds(LEFT)
    found = [rule.finding(candidate.label, rule.summary)] if options.selection.wants(rule) else []
    return FileReport(candidate.label, None, tuple(found), rules_run=1, places_checked=1)
