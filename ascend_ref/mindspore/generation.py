"""Which generation of the profiler wrote raw files, found from the files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

from ascend_spec import mindspore_catalog
from ascend_spec.core import Bounds
from ascend_spec.mindspore import Generation

from .folder import RawCapture


@dataclass(frozen=True, slots=True)
class Evidence:
    """A file that was not written on every day, and why."""

    path: Path
    reason: str
    bounds: Bounds


@dataclass(frozen=True, slots=True)
class Written:
    """When raw files were written: ``day`` (ISO) decides which facts hold.

    ``generation``: that of the day. ``evidence``: what shows it; empty where nothing does, so that
    the oldest generation is assumed. ``contradicts``: files that cannot be of that day.
    """

    generation: Generation
    day: str
    evidence: tuple[Evidence, ...] = ()
    contradicts: tuple[Evidence, ...] = ()


def find_generation(capture: RawCapture) -> Written:
    """The oldest generation that can have written the files.

    Several days have the same raw files; of these the oldest is taken, since what came later shows.
    Raises ``OSError``.
    """
    evidence = tuple(_evidence(capture))
    first = max((one.bounds.since for one in evidence if one.bounds.since), default="")
    past = [one.bounds.until for one in evidence if one.bounds.until]
    end = min((one for one in past if one > first), default=None)
    generation = generation_of(first)
    day = max(generation.day, first)
    if end is not None and day >= end:
        day = (date.fromisoformat(end) - timedelta(days=1)).isoformat()
    contradicts = tuple(one for one in evidence if (one.bounds.until or "9") <= day)
    return Written(generation, day, evidence, contradicts)


def generation_of(day: str) -> Generation:
    """The last of those that parse raw files which had begun on a day; the first before it."""
    known = [one for one in mindspore_catalog().generations.values() if one.reads == "raw"]
    return [known[0], *(one for one in known if one.since <= day)][-1]


def _evidence(capture: RawCapture) -> Iterator[Evidence]:
    catalog = mindspore_catalog()
    for one in capture.files.values():
        kind = catalog.files[one.kind]
        path = one.slices[0].path
        for bounds, what in ((kind, "such a file"), (one.bounds, "this name")):
            if bounds.since or bounds.until:
                yield Evidence(path, f"{what} is written{_days(bounds)}", bounds)


def _days(bounds: Bounds) -> str:
    since = f" from {bounds.since} on" if bounds.since else ""
    return since + (f" until {bounds.until}" if bounds.until else "")
