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
    """The points of steps of a device, which may be read several times. ``kind``: of the file.

    ``paths``: slices that have been read, by the places of their points.
    """

    run: Run
    kind: str
    tags: Tags
    paths: list[Path] = field(default_factory=list)

    def read(self, damage: list[Damage]) -> Iterator[Point]:
        """The points in order. What cannot be read is stated in ``damage``."""
        self.paths.clear()
        with few(damage) as stated:
            for block, rows in _rows(self.run, self.kind, damage):
                if not self.paths or self.paths[-1] != block.path:
                    self.paths.append(block.path)
                sound = _sound(block, rows, self.kind, stated)
                offsets = (block.offset + sound * block.rows.shape[1]).tolist()
                columns = [rows[name][sound].tolist() for name in FIELDS[self.kind]]
                place = len(self.paths) - 1
                for tag, task, stream, time, offset in zip(*columns, offsets, strict=True):
                    yield Point(self.tags.kind(tag), tag, task, stream, time, place, offset)


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

    ``foreign``: the first point of each other job, and how many there were.
    """

    job: int = 0
    foreign: dict[int, tuple[Point, int]] = field(default_factory=dict)

    def of(self, points: Iterator[Point]) -> Iterator[Point]:
        """The points of the first job."""
        other = self.job
        for point in points:
            if point.kind == "start":
                self.job = self.job or point.tag
                other = point.tag
            if other == self.job:
                yield point
            else:
                first, count = self.foreign.get(other, (point, 0))
                self.foreign[other] = first, count + 1


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


def _sound(
    block: Block, rows: npt.NDArray[Any], kind: str, damage: Damaged
) -> npt.NDArray[np.int64]:
    """Which records are of points whose time can be one."""
    name = FIELDS[kind][-1]
    is_point = rows["rptType"] == STEP_POINT if kind == TRACK else np.ones(len(rows), np.bool_)
    wrong = is_point & (rows[name] >= MOST)
    if wrong.any():
        for place in np.flatnonzero(wrong).tolist():
            offset = block.offset + place * block.rows.shape[1]
            text = f"{name} is {int(rows[name][place])}, 2^63 or more"
            damage.append(Damage(block.path, text, max(offset, 0)))
    return np.flatnonzero(is_point & ~wrong)
