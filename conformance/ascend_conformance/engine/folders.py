"""What a folder is by its name, however people changed what may be changed in it."""

from __future__ import annotations

from collections.abc import Mapping

FRAMEWORKS: Mapping[str, str] = {
    "_ascend_pt": "torch_npu.profiler.profiler",
    "_ascend_ms": "mindspore.profiler.profiler",
}
"""The module whose analyse() reads a folder, by the end of the folder's name."""

COLLECTION = "PROF_"
"""The begin of the name of what msprof collected."""


def framework_of(name: str) -> str | None:
    """The module that reads a folder of a framework's profiler; ``None`` for any other."""
    return next((one for end, one in FRAMEWORKS.items() if name.endswith(end)), None)


def is_collection(name: str) -> bool:
    """Whether a folder is one that msprof collected."""
    return name.startswith(COLLECTION)
