"""From a profile to a picture in a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from ascend_ref.atomic import atomic_file
from ascend_ref.db.display import printable, show_path
from ascend_ref.db.open import UnreadableDatabase
from ascend_ref.recorded.stated import stated_around

from .errors import CannotDraw, NotThere
from .find import Deliverable, Form, Found, find
from .recording import Recording, purposes
from .step import Step, step_of

if TYPE_CHECKING:
    from .canvas import Format

FORMATS: Final[Mapping[str, Format]] = {".svg": "svg", ".png": "png", ".pdf": "pdf"}


class Contents(NamedTuple):
    """A recording, and the files that it was read from, the ones that count first."""

    recording: Recording
    sources: list[tuple[Path, ...]]
    found: Found


class Drawn(NamedTuple):
    """What a picture shows."""

    contents: Contents
    step: Step


def format_of(path: Path) -> Format:
    """The format of a picture by its suffix. Raises :class:`CannotDraw` for another suffix."""
    form = FORMATS.get(path.suffix.lower())
    if form is None:
        raise CannotDraw(f"a picture is called *.svg, *.png or *.pdf, not {printable(path.name)}")
    return form


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
    sheet, drawn = picture_of(profile, step, format_of(path), rank=rank, device=device)
    with atomic_file(path) as file:
        file.write(sheet)
    return drawn


def picture_of(
    profile: Path,
    step: int | None,
    form: Format,
    *,
    rank: int | None = None,
    device: int | None = None,
) -> tuple[bytes, Drawn]:
    """The bytes of what :func:`draw` draws, and what they show. Raises as it does."""
    if find_spec("matplotlib") is None:
        raise CannotDraw(
            "drawing needs matplotlib; install it with: pip install 'ascend-ref[plot]'"
        )
    contents = read(profile, rank=rank, device=device)
    try:
        chosen_step = step_of(contents.recording, step)
    except NotThere as problem:
        raise CannotDraw(f"{show_path(contents.sources[0][0])}: {problem}") from None

    from .captions import Header
    from .picture import paint

    sheet = BytesIO()
    source = " and ".join(map(_named, contents.sources))
    paint(Header(contents.recording, chosen_step, contents.found.name, source), sheet, form)
    return sheet.getvalue(), Drawn(contents, chosen_step)


def read(profile: Path, *, rank: int | None = None, device: int | None = None) -> Contents:
    """What a profile shows of one device of one rank. Raises as :func:`draw`."""
    place = profile
    try:
        found = find(profile, rank)
        own = found.chosen
        place = own.paths[0]
        recording = _recording(own, found.further, device)
    except NotThere as problem:
        raise CannotDraw(f"{show_path(place)}: {problem}") from None
    except UnreadableDatabase as problem:
        raise CannotDraw(str(problem)) from None
    if recording.rank is None:
        recording = replace(recording, rank=own.rank)
    return Contents(recording, [own.paths, found.further] if found.further else [own.paths], found)


def _recording(own: Deliverable, further: tuple[Path, ...], device: int | None) -> Recording:
    if own.form is Form.DATABASE:
        from ascend_ref.recorded import from_database

        from .from_recorded import from_recorded

        return from_recorded(from_database(own.paths[0], lenient=True), device)
    from .from_tables import enriched, from_tables

    if own.form is Form.TIMELINE:
        from .from_timeline import from_timeline

        recording = from_timeline(own.paths, device)
        recording = enriched(recording, further) if further else recording
    else:
        recording = from_tables(own.paths, further, device)
    return replace(recording, groups=purposes(stated_around(own.paths[0]).metadata))


def _named(paths: tuple[Path, ...]) -> str:
    more = f" and {len(paths) - 1} more slices" if len(paths) > 1 else ""
    return f"{paths[0].name}{more}"
