"""From a profile to a picture in a file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from ascend_ref.atomic import atomic_file
from ascend_ref.db.display import printable, show_path
from ascend_ref.db.open import UnreadableDatabase
from ascend_spec import layout_catalog

from .errors import CannotDraw, NotThere
from .find import Deliverable, Form, Found, find
from .groups import INFORMATION, purposes
from .recording import Recording
from .step import Step, step_of

if TYPE_CHECKING:
    from .canvas import Format

FORMATS: Final[Mapping[str, Format]] = {".svg": "svg", ".png": "png", ".pdf": "pdf"}
METADATA_MAX: Final = 1 << 22
"""Bytes of a file with metadata; real ones have a few kB."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """What a picture shows. sources: the files it was drawn from, the one that counts first.
    ranks, devices, steps: all that could have been chosen. alike: files of the same kind and rank
    in other folders. dropped: rows that are left out, for they have no sane times.
    """

    sources: tuple[Path, ...]
    rank: int | None
    ranks: tuple[int, ...]
    device: int | None
    devices: tuple[int, ...]
    step: Step
    steps: tuple[int, ...]
    alike: tuple[Path, ...]
    dropped: int


class Told(NamedTuple):
    """A recording, and the files that it was read from, the ones that count first."""

    recording: Recording
    sources: list[tuple[Path, ...]]
    found: Found


def draw(
    profile: Path,
    step: int | None,
    path: Path,
    *,
    rank: int | None = None,
    device: int | None = None,
) -> Drawn:
    """Draw a step of a profile into ``path``, an SVG, PNG or PDF by its suffix.

    profile: a deliverable that shows when tasks ran, or a folder that holds some. step, rank,
    device: where there are several; the first of each by default, and everything where the profile
    knows no steps. The same input gives the same bytes.

    Raises :class:`CannotDraw` for what cannot be drawn, ``OSError`` where reading or writing fails.
    """
    form = FORMATS.get(path.suffix.lower())
    if form is None:
        raise CannotDraw(f"a picture is called *.svg, *.png or *.pdf, not {printable(path.name)}")
    if find_spec("matplotlib") is None:
        raise CannotDraw(
            "drawing needs matplotlib; install it with: pip install 'ascend-ref[plot]'"
        )
    told = read(profile, rank=rank, device=device)
    recording = told.recording
    try:
        chosen_step = step_of(recording, step)
    except NotThere as problem:
        raise CannotDraw(f"{show_path(told.sources[0][0])}: {problem}") from None

    from .header import Header
    from .picture import paint

    header = Header(
        step=chosen_step,
        name=told.found.name,
        place=_place(recording),
        source=" and ".join(_named(one) for one in told.sources),
        communication=recording.communication,
    )
    sheet = BytesIO()
    paint(recording, chosen_step, header, sheet, form)
    with atomic_file(path) as file:
        file.write(sheet.getvalue())
    return Drawn(
        sources=tuple(path for one in told.sources for path in one),
        rank=recording.rank,
        ranks=told.found.ranks,
        device=recording.device,
        devices=recording.devices,
        step=chosen_step,
        steps=tuple(one.number for one in recording.steps if one.number is not None),
        alike=tuple(one.paths[0] for one in told.found.alike),
        dropped=recording.dropped,
    )


def read(profile: Path, *, rank: int | None = None, device: int | None = None) -> Told:
    """What a profile shows of one device of one rank. Raises as :func:`draw`."""
    place = profile
    try:
        found = find(profile, rank)
        own = found.chosen
        place = own.paths[0]
        if own.form is Form.DATABASE:
            return Told(_from_database(own, device), [own.paths], found)
        beside = found.further(Form.OPERATORS if own.form is Form.TIMELINE else Form.ITERATIONS)
        recording = _from_texts(own, beside, device)
    except NotThere as problem:
        raise CannotDraw(f"{show_path(place)}: {problem}") from None
    recording = replace(recording, rank=own.rank, groups=_groups(own))
    return Told(recording, [own.paths, beside] if beside else [own.paths], found)


def _from_texts(own: Deliverable, beside: tuple[Path, ...], device: int | None) -> Recording:
    if own.form is not Form.TIMELINE:
        from .from_tables import from_tables

        return from_tables(own.paths, beside, device)
    from .enrich import enriched
    from .from_timeline import from_timeline

    recording = from_timeline(own.paths, device)
    return enriched(recording, beside) if beside else recording


def _from_database(own: Deliverable, device: int | None) -> Recording:
    from ascend_ref.recorded import from_database

    from .from_recorded import from_recorded

    try:
        recording = from_recorded(from_database(own.paths[0], lenient=True), device)
    except UnreadableDatabase as problem:
        raise CannotDraw(str(problem)) from None
    return recording if recording.rank is not None else replace(recording, rank=own.rank)


def _groups(own: Deliverable) -> Mapping[str, str]:
    """What the groups are for, from the metadata beside or around the file."""
    for folder in (own.folder, own.folder.parent):
        path = folder / layout_catalog().file("pytorch", "profiler_metadata")
        try:
            if path.is_file() and path.stat().st_size <= METADATA_MAX:
                described = json.loads(path.read_bytes())
                return purposes(described.get(INFORMATION))
        except (OSError, ValueError, RecursionError, AttributeError):
            continue
    return {}


def _place(recording: Recording) -> str:
    told = [
        "" if recording.rank is None else f"rank {recording.rank}",
        "" if recording.device is None else f"device {recording.device}",
        recording.chip or "",
    ]
    return " · ".join(one for one in told if one)


def _named(paths: tuple[Path, ...]) -> str:
    more = f" and {len(paths) - 1} more slices" if len(paths) > 1 else ""
    return f"{paths[0].name}{more}"
