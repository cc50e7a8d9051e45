"""Whether what was given has the state that it is to be judged by."""

from __future__ import annotations

from collections.abc import Mapping

from ascend_ref.cli.guard import CommandError
from ascend_ref.states import AxisName, Target
from ascend_spec.db.model import CARRIERS

from ..finding import BLOCK_FILE, TEXT, Report

HAVE: Mapping[AxisName, tuple[tuple[str, ...], str]] = {
    "revision": (CARRIERS, "a revision, which databases have"),
    "writer": ((TEXT,), "a writer, whom CSV files, timelines and documents have"),
    "epoch": ((BLOCK_FILE,), "an epoch, which files of blocks have"),
}
"""By axis the carriers (:class:`.Seen`) of what has a state of it, in codes and in words."""


def require_any(report: Report, target: Target) -> None:
    """Refuse a target that none of the files can be judged by. Raises ``CommandError``."""
    carriers = {one.seen.carrier for one in report.files if one.seen}
    known, words = HAVE[target.axis]
    if carriers and carriers.isdisjoint(known):
        raise CommandError(f"--as: {target.name} is {words}; expected such a file")
