"""What MindSpore's profiler wrote itself: files named as those of torch_npu, of another form.

It copies the rest from msprof, and that is judged as msprof's (mindspore.profiler.analysis.viewer).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from ascend_ref.sniff import first_bytes
from ascend_spec.layout import Match

from .candidate import Listing
from .folders import FRAMEWORKS, framework_of

OWN = frozenset(
    {
        "trace_view",
        "kernel_details",
        "step_trace_time",
        "communication",
        "communication_matrix",
        "memory_record",
        "operator_memory",
        "operator_details",
        "profiler_info",
        "profiler_metadata",
    }
)
"""What the spec calls the files that it does not copy."""

SIGNS: Mapping[str, bytes] = {
    "profiler_info": b'"ms_version"',
    "kernel_details": b"Step ID,",
    "memory_record": b"\nMindSpore",
    "trace_view": b'"name": "MindSpore"',
}
"""What stands in a file of MindSpore, and in none of torch_npu."""

HEAD = 1 << 16
"""Bytes of a file in which a sign is looked for."""


def written_by_mindspore(listing: Listing) -> frozenset[Path]:
    """The files of a folder that MindSpore wrote itself; those that it copied are left out."""
    return listing.fact("written by MindSpore", _find_written)


def _find_written(listing: Listing) -> frozenset[Path]:
    own = frozenset(path for path, match in listing.matches if match.called in OWN)
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
        sign in (first_bytes(path, HEAD) or b"")
        for path, match in files
        if (sign := SIGNS.get(match.called))
    )
