"""The deliverables of a profile, and which of them a picture is drawn from."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Final

from ascend_ref.below import files_below
from ascend_ref.db.display import show_path
from ascend_ref.recorded.stated import stated_around
from ascend_spec import layout_catalog
from ascend_spec.layout import Match

from .errors import CannotDraw, chosen


class Form(IntEnum):
    """Kinds of deliverables, in order of preference: the one that shows most comes first."""

    DATABASE = 0
    TIMELINE = 1
    OPERATORS = 2
    TASKS = 3
    ITERATIONS = 4


_FORMS: Final = {
    "timeline": Form.TIMELINE,
    "trace_view": Form.TIMELINE,
    "kernel_details": Form.OPERATORS,
    "op_summary": Form.OPERATORS,
    "task_time": Form.TASKS,
    "step_trace": Form.ITERATIONS,
}
"""By what the spec calls a file."""
_SUFFIXES: Final = {".db": Form.DATABASE, ".json": Form.TIMELINE, ".csv": Form.OPERATORS}
_FURTHER: Final = {
    Form.TIMELINE: Form.OPERATORS,
    Form.OPERATORS: Form.ITERATIONS,
    Form.TASKS: Form.ITERATIONS,
}
"""What adds to a kind where both are in one folder."""

EXPECTED: Final = (
    "msprof_*.db, ascend_pytorch_profiler_*.db, trace_view.json, msprof_*.json, "
    "kernel_details.csv, op_summary_*.csv or task_time_*.csv"
)


@dataclass(frozen=True, slots=True)
class Deliverable:
    """A file, or all slices of one. rank: where its name or the files around it show it."""

    form: Form
    paths: tuple[Path, ...]
    rank: int | None

    @property
    def folder(self) -> Path:
        """Where it is."""
        return self.paths[0].parent


@dataclass(frozen=True, slots=True)
class Found:
    """What a picture is drawn from. further: the file or slices next to it that add to it, if any.
    alike: of the same kind and rank, elsewhere. ranks: all that are there. name: of the profile.
    """

    chosen: Deliverable
    further: tuple[Path, ...]
    alike: tuple[Deliverable, ...]
    ranks: tuple[int, ...]
    name: str


def find(profile: Path, rank: int | None) -> Found:
    """What to draw ``profile`` from: itself, or in a folder the deliverable of the rank (of the
    first one unless it is chosen) that shows most; of several such, the first by path.

    Raises :class:`CannotDraw` where there is none, ``OSError`` where nothing can be read.
    """
    if profile.is_dir():
        every = list(_deliverables(files_below(profile)))
        drawable = [one for one in every if one.form is not Form.ITERATIONS]
        if not drawable:
            raise CannotDraw(f"{show_path(profile)}: nothing to draw here; expected {EXPECTED}")
    else:
        every = list(_deliverables(_siblings(profile)))
        drawable = [_given(profile, every)]
    ranks = tuple(sorted({one.rank for one in drawable if one.rank is not None}))
    own_rank = chosen("rank", rank, ranks)
    of_rank = [one for one in drawable if one.rank == own_rank]
    own, *others = sorted(of_rank, key=lambda one: (one.form, one.paths))
    near = (one for one in every if one.folder == own.folder)
    further = next((one.paths for one in near if one.form is _FURTHER.get(own.form)), ())
    alike = tuple(one for one in others if one.form is own.form and one.folder != own.folder)
    return Found(own, further, alike, ranks, _name(own.folder, profile))


def _given(path: Path, every: Iterable[Deliverable]) -> Deliverable:
    """The deliverable that a file is or belongs to."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise CannotDraw(f"{show_path(path)}: no regular file; expected {EXPECTED}")
    for one in every:
        if path in one.paths and one.form is not Form.ITERATIONS:
            return one
    form = _SUFFIXES.get(path.suffix.lower())
    if form is None:
        raise CannotDraw(f"{show_path(path)}: no deliverable; expected {EXPECTED}")
    return Deliverable(form, (path,), stated_around(path).rank)


def _siblings(path: Path) -> Iterator[Path]:
    try:
        names = sorted(os.listdir(path.parent))
    except OSError:
        names = [path.name]
    yield from (path.parent / name for name in names)


def _deliverables(paths: Iterable[Path]) -> Iterator[Deliverable]:
    """What the files are by their names; slices belong together, and of several exports of one
    thing the newest counts.
    """
    exports: dict[tuple[Path, Form, str], dict[int | None, tuple[Path, Match]]] = {}
    for path in paths:
        match = layout_catalog().match(path.name)
        form = None if match is None else _form(match)
        if match is not None and form is not None:
            kind = f"{match.file.producer} {match.called} {match.rank}"
            slices = exports.setdefault((path.parent, form, kind), {})
            known = slices.get(match.slice, (path, match))
            slices[match.slice] = max((path, match), known, key=_stamp)
    for (_, form, _), slices in exports.items():
        newest = max(slices.values(), key=_stamp)
        whole = slices.pop(None, None)
        parts = [slices[number] for number in sorted(slices, key=lambda one: one or 0)]
        own = [newest] if newest is whole else parts
        rank = newest[1].rank
        yield Deliverable(
            form,
            tuple(path for path, _ in own),
            stated_around(newest[0]).rank if rank is None else rank,
        )


def _form(match: Match) -> Form | None:
    if match.file.carrier in ("msprof", "pytorch"):
        return Form.DATABASE
    return _FORMS.get(match.called)


def _stamp(named: tuple[Path, Match]) -> tuple[int, ...]:
    return tuple(map(int, named[1].numbers))


def _name(folder: Path, given: Path) -> str:
    """The profile's folder, under the folder that was given."""
    folder, top = folder.absolute(), given.absolute().parent
    while layout_catalog().is_inner(folder.name) or folder.name == "timeline":
        folder = folder.parent
    below = given.is_dir() and folder != top and folder.is_relative_to(top)
    return show_path(folder.relative_to(top) if below else Path(folder.name))
