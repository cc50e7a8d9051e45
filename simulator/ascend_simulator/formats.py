"""The deliverables that a run can be written as, and where they stand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

Output: TypeAlias = Literal["pytorch", "msprof", "mindspore", "mindspore-jobs"]
"""Whose profile it is: that of a framework's profiler, of CANN's, or of an older one of MindSpore.
"""


class Format(NamedTuple):
    """A deliverable: whose it is, and which form of it."""

    output: Output
    form: str


FORMATS: Mapping[str, Format] = {
    "pytorch-db": Format("pytorch", "db"),
    "pytorch-text": Format("pytorch", "text"),
    "pytorch-raw": Format("pytorch", "raw"),
    "mindspore-db": Format("mindspore", "db"),
    "mindspore-text": Format("mindspore", "text"),
    "msprof-db": Format("msprof", "db"),
    "csv": Format("msprof", "csv"),
    "timeline": Format("msprof", "timeline"),
    "raw": Format("msprof", "raw"),
    "mindspore-raw": Format("mindspore-jobs", "ascend"),
    "mindspore-gpu": Format("mindspore-jobs", "gpu"),
}
"""The deliverables that a run can be written as."""


OF_FRAMEWORKS: tuple[Output, ...] = ("pytorch", "mindspore")
"""Those whose profiles are of one rank of a framework."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where the profiles of one exporter go, and in which forms."""

    output: Output
    folder: Path
    forms: tuple[str, ...]


def places_of(folder: Path, formats: Sequence[str]) -> tuple[Place, ...]:
    """One for each exporter, in the order of the formats; one alone needs no folder of its own."""
    forms: dict[Output, list[str]] = {}
    for name in formats:
        forms.setdefault(FORMATS[name].output, []).append(name)
    return tuple(
        Place(
            output,
            folder / "+".join(names) if len(forms) > 1 else folder,
            tuple(FORMATS[name].form for name in names),
        )
        for output, names in forms.items()
    )
