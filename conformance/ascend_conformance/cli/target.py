"""The state that files are judged by, as users name it."""

from __future__ import annotations

from collections.abc import Mapping

from ascend_ref.cli.guard import CommandError
from ascend_ref.cli.options import Known
from ascend_spec import bin_catalog, catalog, text_catalog
from ascend_spec.db.model import CARRIERS

from ..finding import BLOCK_FILE, TEXT, Report
from ..options import Target

STATE = Known(
    "state",
    lambda: {
        **{one.id: Target("revision", one.id) for one in catalog().revisions},
        **{one: Target("writer", one) for one in text_catalog().writers},
        **{one.id: Target("epoch", one.id) for one in bin_catalog().epochs},
    },
    lambda: {one.schema_version: Target("revision", one.id) for one in catalog().revisions},
)
"""A revision, or the newest one of a SCHEMA_VERSION; a writer of texts; an epoch of blocks."""

HAVE: Mapping[str, tuple[tuple[str, ...], str]] = {
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
