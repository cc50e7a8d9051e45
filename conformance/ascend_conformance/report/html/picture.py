"""The picture of a step of what was judged, where it can be drawn."""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ascend_conformance.finding import TEXT, FileReport, Report

from ..escape import visible

LARGEST_PROFILE = 256_000_000
"""Bytes of a judged file, or of the files of a folder, from which no picture is drawn unasked."""

LARGEST_PICTURE = 500_000
"""Bytes of a picture that a report has room for."""


class Picture(NamedTuple):
    """An SVG as an address that holds it, and what it shows; or only why there is none."""

    words: str
    address: str | None = None


def picture_of_step(report: Report) -> Picture | None:
    """The first step of the first profile that shows when tasks ran; ``None`` where none does, and
    for what is not there any more.
    """
    for file in sorted(report.files, key=lambda one: one.file):
        carrier = file.seen and file.seen.carrier
        if carrier in ("msprof", "pytorch", TEXT) and os.path.exists(file.file):
            return _drawn(file)
    return None


def _drawn(file: FileReport) -> Picture:
    from ascend_ref.tools.plot.draw import picture_of  # slow: numpy and pyarrow
    from ascend_ref.tools.plot.errors import CannotDraw

    profile = Path(file.file)
    try:
        size = sum(_sizes(file))
        if size > LARGEST_PROFILE:
            return Picture(
                f"No picture: {size:,} bytes are more than the {LARGEST_PROFILE:,} of which one is "
                "drawn unasked; ascend-ref plot draws it."
            )
        sheet, (contents, step) = picture_of(profile, None, "svg")
    except (CannotDraw, OSError) as problem:
        return Picture(f"No picture: {visible(str(problem), 300)}.")
    except Exception as problem:
        return Picture(f"No picture: drawing failed ({type(problem).__name__}).")
    if len(sheet) > LARGEST_PICTURE:
        return Picture(
            f"No picture: it has {len(sheet):,} bytes, and a report has room for "
            f"{LARGEST_PICTURE:,}; ascend-ref plot draws it."
        )
    what = "The whole capture" if step.number is None else f"Step {step.number}"
    of_rank = "" if contents.recording.rank is None else f" of rank {contents.recording.rank}"
    return Picture(
        f"{what}{of_rank}, drawn from {visible(contents.sources[0][0].name, 200)}.",
        f"data:image/svg+xml;base64,{b64encode(sheet).decode('ascii')}",
    )


def _sizes(file: FileReport) -> Iterator[int]:
    for name in file.members or (file.file,):
        yield Path(name).stat().st_size
