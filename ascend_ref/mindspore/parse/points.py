"""The points of steps in the raw files of a device."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ascend_ref.raw.damage import Damage, Damaged, few
from ascend_ref.raw.slices import Block

from ..raw.records import layout_of, read_records
from ..raw.sized import read_sized
from .point_tags import Tags, tags_of
from .run import Run
from .steps import Point

TRACE = "training_trace"
TRACK = "ts_track"

STEP_POINT = 10
"""The rptType of points of steps (mindspore-profiler 2.3)."""

MOST = 1 << 63
"""No time is as great as this."""

FIELDS = {
    TRACE: ("tag_id", "task_id", "stream_id", "sys_count"),
    TRACK: ("tagId", "taskId", "streamId", "timestamp"),
}


@dataclass(frozen=True)
class Points:
    """The points of steps of a device, which may be read several times. ``kind``: of the file."""

    run: Run
    kind: str
    tags: Tags

    def read(self, damage: list[Damage]) -> Iterator[Point]:
        """The points in order. What cannot be read is stated in ``damage``."""
        places: dict[Path, int] = {}
        with few(damage) as stated:
            for block, rows in _rows(self.run, self.kind, damage):
                place = places.setdefault(block.path, len(places))
                yield from self._points(block, _sound(block, rows, self.kind, stated), place)

    def _points(self, block: Block, rows: npt.NDArray[Any], place: int) -> Iterator[Point]:
        columns = [rows[name].tolist() for name in FIELDS[self.kind]]
        for tag, task, stream, time in zip(*columns, strict=True):
            yield Point(self.tags.kind(tag), tag, task, stream, time, place)


def points_of(run: Run) -> Points | None:
    """The points in the kind of file that parsers of the day read; ``None`` where there is none."""
    for kind in (TRACE, TRACK):
        if run.reads(kind):
            tags = tags_of(kind, run.day)
            return Points(run, kind, tags.of_points(_first_tags(run, kind)))
    return None


@dataclass
class OneJob:
    """Leaves out what another job wrote: from a start of a step with its number to the next one of
    the first job. Each start has the number of its job, 0 before it is known.
    """

    job: int = 0
    is_foreign: bool = field(default=False, init=False)
    foreign: dict[int, int] = field(default_factory=dict, init=False)

    def of(self, points: Iterator[Point]) -> Iterator[Point]:
        """The points of the first job. ``foreign``: how many others there were, by their job."""
        other = 0
        for point in points:
            if point.kind == "start":
                self.job = self.job or point.tag
                other = point.tag
                self.is_foreign = other != self.job
            if self.is_foreign:
                self.foreign[other] = self.foreign.get(other, 0) + 1
            else:
                yield point


def _first_tags(run: Run, kind: str) -> Iterator[int]:
    """Tags of the first slice, by which the end of steps is found."""
    path = None
    for block, rows in _rows(run, kind, []):
        if path not in (None, block.path):
            return
        path = block.path
        yield from rows[FIELDS[kind][0]].tolist()


def _rows(run: Run, kind: str, damage: list[Damage]) -> Iterator[tuple[Block, npt.NDArray[Any]]]:
    """Blocks and their records, those of steps alone."""
    slices = run.slices(kind) or ()
    layout = layout_of(kind, run.day)
    is_sized = kind == TRACK and run.way("ts_track_records") == "sized"
    blocks = (
        read_sized(slices, layout, "bufSize", damage)
        if is_sized
        else read_records(slices, kind, run.day, damage)
    )
    for block in blocks:
        rows = layout.view(0, block.rows)
        yield block, rows


def _sound(block: Block, rows: npt.NDArray[Any], kind: str, damage: Damaged) -> npt.NDArray[Any]:
    """The records of points whose time can be one."""
    name = FIELDS[kind][-1]
    is_point = rows["rptType"] == STEP_POINT if kind == TRACK else np.ones(len(rows), np.bool_)
    wrong = is_point & (rows[name] >= MOST)
    if wrong.any():
        for place in np.flatnonzero(wrong).tolist():
            offset = block.offset + place * block.rows.shape[1]
            text = f"{name} is {int(rows[name][place])}, 2^63 or more"
            damage.append(Damage(block.path, text, max(offset, 0)))
    return rows[is_point & ~wrong]
