"""Raw data of a profiler that were never analysed: reported, since there is nothing to judge."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ascend_spec import layout_catalog

from ...engine.candidate import Candidate, Listing
from ...engine.folders import framework_of, is_collection
from .. import NO_PROFILE
from .no_profile import NoProfile

RAW = "raw"
"""What the rule finds."""


def raw_in(listing: Listing) -> Iterator[Candidate]:
    """The folder itself, where it holds raw data and nothing that was made of them."""
    command = command_for(listing)
    if command is not None:
        words = f"raw data that were never analysed; run {command}"
        yield Candidate(NO_PROFILE, listing.folder, details=NoProfile(words, RAW, f"run {command}"))


def command_for(listing: Listing) -> str | None:
    """How to analyse a raw folder; ``None`` for any other, and for a job of MindSpore."""
    folder = listing.folder.absolute()
    names = [path.name for path in listing.paths]
    is_output = layout_catalog().is_folder
    if any(is_output("output", name) or name.endswith(".db") for name in names):
        return None
    if any(_is_exported(path) for path in listing.paths if is_output("device", path.name)):
        return None
    module = framework_of(folder.name)
    if module and any(name == "FRAMEWORK" or is_collection(name) for name in names):
        return f"{module}.analyse({str(folder)!r})"
    inside = any(name == "host" or name.startswith("device_") for name in names)
    alone = framework_of(folder.parent.name) is None
    if not (is_collection(folder.name) and inside and alone):
        return None
    from ..mindspore.folder import captures_in  # slow: numpy

    if not captures_in(listing):
        return exporting(folder)
    return None


def _is_exported(device: Path) -> bool:
    """Whether the iterations of a device were exported into its folder, as until 2023."""
    is_folder = layout_catalog().is_folder
    names = [path.name for path in Listing(device).paths]
    made = ("iteration-tables", "iteration-timelines")
    return any(is_folder(which, name) for which in made for name in names)


def exporting(folder: Path | str) -> str:
    """How to export raw files, with CANN and without it."""
    return f"msprof --export=on --output={folder} (ascend-ref export does without CANN)"
