"""Raw data of a profiler that were never analysed: reported, since there is nothing to judge."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ascend_ref.db.display import show_path
from ascend_spec import layout_catalog

from ...engine.candidate import Candidate, Listing
from ...engine.failure import rule_that_finds
from ...engine.folders import framework_of, is_collection
from ...finding import FileReport
from ...options import Options
from .. import NO_PROFILE

RAW = "raw"
"""What the rule finds."""


def raw_in(listing: Listing) -> Iterator[Candidate]:
    """The folder itself, where it holds raw data and nothing that was made of them."""
    if command_for(listing) is not None:
        yield Candidate(NO_PROFILE, listing.folder)


def command_for(listing: Listing) -> str | None:
    """How to analyse a raw folder; ``None`` for any other."""
    folder = listing.folder
    names = [path.name for path in listing.paths]
    is_output = layout_catalog().is_folder
    if any(is_output("output", name) or name.endswith(".db") for name in names):
        return None
    module = framework_of(folder.name)
    if module and any(name == "FRAMEWORK" or is_collection(name) for name in names):
        return f"{module}.analyse({str(folder)!r})"
    inside = any(name == "host" or name.startswith("device_") for name in names)
    alone = framework_of(folder.parent.name) is None
    if is_collection(folder.name) and inside and alone:
        return f"msprof --export=on --output={folder}"
    return None


def is_raw(path: Path) -> bool:
    """Whether a folder holds raw data alone."""
    return command_for(Listing(path)) is not None


def raw_line(path: Path) -> str | None:
    """One line on a raw folder, and what to do with it."""
    command = command_for(Listing(path))
    return command and f"{show_path(path)}: raw data that were never analysed; run {command}"


def judge_raw(candidate: Candidate, options: Options) -> FileReport:
    """The finding on a raw folder, which is not read."""
    rule = rule_that_finds(RAW)
    command = command_for(Listing(candidate.path))
    found = rule.finding(candidate.label, f"{rule.summary.rstrip('.')}; run {command}")
    findings = (found,) if options.selection.wants(rule) else ()
    return FileReport(candidate.label, None, findings, rules_run=1, places_checked=1)
