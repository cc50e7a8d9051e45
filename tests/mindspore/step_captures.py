"""Captures of steps of any day, made of the declarations by a seed."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from random import Random

import numpy as np

from ascend_ref.mindspore.parse.operator import key_of
from ascend_ref.raw.fields import opaque
from ascend_spec import mindspore_catalog
from ascend_spec.core import DAYS
from ascend_spec.core.packed import dtype_of
from ascend_spec.mindspore.records import TASK_DESC_INFO, TRAINING_TRACE, TS_TRACK

TAG = "profiler_default_tag"

# (tag, task, stream, time)
Record = tuple[int, int, int, int]


@dataclass
class StepCapture:
    """Slices of points of steps, and what the framework says of their tasks.

    ``names``: operators in order, by stream and task. ``points``: operators by tag.
    """

    day: str
    slices: list[list[Record]]
    names: dict[tuple[int, int], str] = field(default_factory=dict)
    points: dict[int, str] = field(default_factory=dict)
    device: int = 0

    @property
    def is_track(self) -> bool:
        return DAYS.in_force(mindspore_catalog().files["ts_track"], self.day)

    @property
    def contents(self) -> list[bytes]:
        """The slices; among points of a track stand records of other kinds, and of another size on
        days of parsers that look at it.
        """
        if not self.is_track:
            return [trace_bytes(one) for one in self.slices]
        other = track_bytes([(4, 1, 1, 9)], rpt_type=11)
        if mindspore_catalog().methods["ts_track_records"].way_on(self.day) == "sized":
            other += b"\x00\x05" + (24).to_bytes(2, "little") + bytes(20)
        return [
            b"".join(
                track_bytes([point]) + (other if number % 3 == 2 else b"")
                for number, point in enumerate(one)
            )
            for one in self.slices
        ]

    def keyed_names(self) -> dict[str, str]:
        way = mindspore_catalog().methods["task_key"].way_on(self.day)
        return {key_of(way, *key): name for key, name in self.names.items()}

    def write(self, folder: Path) -> None:
        files = mindspore_catalog().files
        data = folder / "data"
        data.mkdir(parents=True)
        kind = files["ts_track" if self.is_track else "training_trace"]
        for number, content in enumerate(self.contents):
            form = kind.names[-1].form
            name = form.of(tag=TAG, device=self.device, slice=number)
            (data / name).write_bytes(content)
        parts = {"digit": self.device, "device": self.device, "slice": 0}
        if DAYS.in_force(files["task_desc_records"], self.day):
            name = files["task_desc_records"].names[0].form.of(**parts)
            (data / name).write_bytes(self._task_records())
            return
        lines = "".join(
            f"{name} 1 {task} {stream}\n" for (stream, task), name in self.names.items()
        )
        points = "".join(f"{tag} {name}\n" for tag, name in self.points.items())
        for file, content in (("task_desc_info", lines), ("point", points)):
            form = files[file].name_on(self.day)
            assert form is not None
            (data / form.of(**parts)).write_text(content)

    def _task_records(self) -> bytes:
        rows = np.zeros(len(self.names), dtype_of(TASK_DESC_INFO))
        rows["magicNumber"], rows["dataTag"] = 0x5A5A, 23
        inline = mindspore_catalog().methods["inline_text"].way_on(self.day) == "one"
        for row, ((stream, task), name) in zip(rows, self.names.items(), strict=True):
            row["streamId"], row["taskId"] = stream, task
            for field_name, text in (("opName", name), ("opType", "Type")):
                row[field_name]["kind"] = int(inline)
                size = rows.dtype[field_name]["content"].itemsize
                row[field_name]["content"] = text.encode().ljust(size, b"\0")
        return opaque(rows).tobytes()


def trace_bytes(records: list[Record]) -> bytes:
    rows = np.zeros(len(records), dtype_of(TRAINING_TRACE))
    for name, column in zip(
        ("tag_id", "task_id", "stream_id", "sys_count"), _columns(records), strict=True
    ):
        rows[name] = column
    return opaque(rows).tobytes()


def track_bytes(records: list[Record], rpt_type: int = 10) -> bytes:
    rows = np.zeros(len(records), dtype_of(TS_TRACK))
    rows["rptType"], rows["bufSize"] = rpt_type, rows.dtype.itemsize
    for name, column in zip(
        ("tagId", "taskId", "streamId", "timestamp"), _columns(records), strict=True
    ):
        rows[name] = column
    return opaque(rows).tobytes()


def _columns(records: list[Record]) -> np.ndarray:
    return np.array(records, np.uint64).reshape(-1, 4).T


def made_steps(seed: int, day: str) -> StepCapture:
    """A capture with whatever parsers of the day take: steps that lack points, odd numbers of
    reductions, pairs that are none, columns that come late, slices that end within a step.
    """
    random = Random(seed)
    capture = StepCapture(day, [])
    late = day >= "2020-12-16" and random.random() < 0.5
    start, fp, bp, end, first = (
        (None, 2, 3, 4, 10_000)
        if capture.is_track
        else ((random.choice([0, 10010, 70000 if late else 300]), 1, 2, 65535 if late else 255, 3))
    )
    if late and start == 10010:
        start = 0
    streams = random.sample(range(1, 60), 3)
    if late and random.random() < 0.3:
        first = 253
    reductions = [(first + 2 * n, random.choice(streams), f"AllReduce-op{n}") for n in range(4)]
    _name(capture, random, fp, bp, reductions)
    time = random.choice([1, 10**6, 2**40])
    records: list[Record] = []

    def add(tag: int, task: int, stream: int) -> None:
        nonlocal time
        time += random.choice([0, 1, 7, 12345])
        records.append((tag, task, stream, time))

    for step in range(random.choice([0, 1, 2, 3, 7])):
        if start is not None:
            add(start, 10, 1)
        elif random.random() < 0.5:
            add(0, 10, 1)
        if random.random() < 0.95:
            add(fp, 11, 1)
        for tag, stream, _ in reductions:
            if random.random() < 0.8 or step == 0:
                task = 100 + 10 * (tag - first)
                add(tag, task, stream)
                if random.random() < 0.9:
                    add(tag + 1, task + 1, stream)
                if random.random() < 0.1:
                    add(tag + 1, task + 1, stream)
        if random.random() < 0.95:
            add(bp, 12, 1)
        if random.random() < 0.95 or step == 0:
            add(end, 13, 1)
    cuts = sorted(random.randrange(len(records) + 1) for _ in range(random.choice([0, 0, 1, 3])))
    edges = [0, *cuts, len(records)]
    capture.slices = [records[a:b] for a, b in pairwise(edges)]
    return capture


def _name(
    capture: StepCapture,
    random: Random,
    fp: int,
    bp: int,
    reductions: list[tuple[int, int, str]],
) -> None:
    """Operators between the tasks of points, as MindSpore puts them."""
    first = reductions[0][0]
    every = {(1, 10): "Default/Profiling-op1", (1, 11): "Default/Profiling-op2"}
    if random.random() < 0.3:
        every[1, 20] = "Default/InitDataSetQueue-op9"
    every[1, 21] = "Default/network/Conv2D-op1"
    for tag, stream, name in reductions:
        task = 100 + 10 * (tag - first)
        every[stream, task] = f"Default/Profiling-op{tag}"
        every[stream, task + 2] = f"Gradients/Default/{name}" if tag % 4 else f"Default/{name}"
        every[stream, task + 1] = f"Default/Profiling-op{tag + 1}"
    if random.random() < 0.7:
        every[1, 22] = "Gradients/Default/network/Conv2DBackprop-op5"
    every |= {(1, 12): "Default/Profiling-op3", (1, 13): "Default/Profiling-op4"}
    every[1, 23] = "Default/last/Assign-op6"
    capture.names = every
    capture.points = {fp: "Default/network/Conv2D-op1", bp: "Default/network/Last-op3"}
    for tag, _, name in reductions:
        if random.random() < 0.8:
            capture.points[tag] = f"Default/scope/{name}"
