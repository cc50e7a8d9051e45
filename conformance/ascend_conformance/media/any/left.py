"""What a killed run of this program left in a folder: reported, and never taken for a profile."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ascend_ref.atomic import left_behind

from ...engine.candidate import Candidate, Listing
from .. import NO_PROFILE
from .no_profile import NoProfile

LEFT = "left"
"""What the rule finds."""


def left_in(listing: Listing) -> Iterator[Candidate]:
    """The drafts in a folder, and the folders that a replacement had put aside."""
    for path in listing.hidden:
        if left_behind(path) == path.absolute():
            yield Candidate(NO_PROFILE, path, details=NoProfile(words_on(path), LEFT))


def words_on(path: Path) -> str:
    """What one of them is, and what to do with it."""
    if path.suffix == ".old":
        return "what a killed run with --force put aside; rename it back"
    return "a draft of a run that was killed or still runs; delete it if killed"
