"""Who wrote text files whose names MindSpore and torch_npu share."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ascend_ref.mindspore.folder import DATA, HOST
from ascend_ref.sniff import first_bytes
from ascend_spec import layout_catalog, mindspore_catalog
from ascend_spec.layout import Match

from .candidate import Listing
from .folders import FRAMEWORKS, framework_of

HEAD = 1 << 16
"""Bytes of a file in which a sign is looked for."""


def is_of_mindspore(listing: Listing) -> bool:
    """Whether MindSpore wrote what is in a folder: by its name or the one above it, a database, or
    a sign in its files.
    """
    return listing.fact("of MindSpore", _is_of_mindspore)


def _is_of_mindspore(listing: Listing) -> bool:
    folder = listing.folder.absolute()
    module = framework_of(folder.name) or framework_of(folder.parent.name)
    if module is not None:
        return module == FRAMEWORKS["_ascend_ms"]
    files = {(match.file.producer, match.file.id) for _, match in listing.matches}
    if ("mindspore", "database") in files:
        return True
    above = (one for one in listing.above.matches if one[1].called == "profiler_info")
    return has_sign(listing.matches) or has_sign(above)


def has_sign(files: Iterable[tuple[Path, Match]]) -> bool:
    """Whether one of some files has what only MindSpore writes."""
    signs = layout_catalog().signs
    return any(
        sign.encode() in (first_bytes(path, HEAD) or b"")
        for path, match in files
        if (sign := signs.get(("mindspore", match.called)))
    )


def is_export_of_iterations(folder: Path) -> bool:
    """Whether a folder is that of the iterations of a job of MindSpore's profiler, each exported
    for itself: the forms of these files, of 2023, are not known.
    """
    if not layout_catalog().folders["msprof", "iteration-tables"].is_called(folder.name):
        return False
    catalog = mindspore_catalog()
    host = folder.parent.parent / HOST / DATA
    files = (catalog.file_of(one.name) for one in host.glob("*"))
    if not any(one is not None and one[0].parser == "framework" for one in files):
        return False
    exported = (catalog.file_of(one.name, folder.name) for one in folder.iterdir())
    return any(one is not None and "iteration" in one[1].form.fields for one in exported)
