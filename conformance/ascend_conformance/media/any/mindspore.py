"""Text files that MindSpore's profiler wrote itself: named, and not judged as torch_npu's."""

from __future__ import annotations

from collections.abc import Iterator

from ...engine.candidate import Candidate, Listing
from ...engine.mindspore import written_by_mindspore
from .. import NO_PROFILE
from .no_profile import NoProfile

MINDSPORE = "mindspore"
"""What the rule finds."""

WORDS = "written by MindSpore, whose text files have another form than those of torch_npu"
HELP = "check its databases, or what msprof exports of its PROF_* folder"


def mindspore_in(listing: Listing) -> Iterator[Candidate]:
    """Such files in a folder, but for those about the capture."""
    written = written_by_mindspore(listing)
    for path, match in listing.matches:
        if path in written and not match.called.startswith("profiler_"):
            yield Candidate(NO_PROFILE, path, details=NoProfile(f"{WORDS}; {HELP}", MINDSPORE))
