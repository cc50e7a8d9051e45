"""What MindSpore's profiler wrote itself: files named as those of torch_npu, of another form.

It copies the rest from msprof, and that is judged as msprof's.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ascend_ref.sniff import first_bytes
from ascend_spec import layout_catalog
from ascend_spec.layout import Match, OwnFile

from .candidate import Listing
from .folders import FRAMEWORKS, framework_of

HEAD = 1 << 16
"""Bytes of a file in which a sign is looked for."""


def written_by_mindspore(listing: Listing) -> frozenset[Path]:
    """The files of a folder that MindSpore wrote itself; those that it copied are left out."""
    return listing.fact("written by MindSpore", _find_written)


def _find_written(listing: Listing) -> frozenset[Path]:
    own = frozenset(path for path, match in listing.matches if _own(match) is not None)
    return own if own and _is_of_mindspore(listing) else frozenset()


def _is_of_mindspore(listing: Listing) -> bool:
    """By the name of the folder or the one above it, a database next to them, or a sign."""
    folder = listing.folder.absolute()
    module = framework_of(folder.name) or framework_of(folder.parent.name)
    if module is not None:
        return module == FRAMEWORKS["_ascend_ms"]
    files = {(match.file.producer, match.file.id) for _, match in listing.matches}
    if ("mindspore", "database") in files:
        return True
    above = (one for one in listing.above.matches if one[1].called == "profiler_info")
    return _has_sign(listing.matches) or _has_sign(above)


def _has_sign(files: Iterable[tuple[Path, Match]]) -> bool:
    return any(
        own.sign.encode() in (first_bytes(path, HEAD) or b"")
        for path, match in files
        if (own := _own(match)) is not None and own.sign is not None
    )


def _own(match: Match) -> OwnFile | None:
    """What is known of a file of MindSpore by its name, if it writes such a file itself."""
    return layout_catalog().own.get(("mindspore", match.called))
