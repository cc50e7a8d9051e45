"""``flops`` and its sums: what operators compute, of the counters of the AI cores."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ascend_ref.raw.damage import Damage

from ..raw.records import layout_of, read_records
from .aicore import read_times
from .cluster import executions_in
from .documents import Malformed, is_number, read_document
from .framework import framework_of
from .operator import key_of
from .operators import PER_MS, TIMES
from .run import Run
from .step_rows import AVERAGE
from .tables import write_document

KIND, MACHINE = "aicore", "device_info"
TABLE, SUMS, SCOPES, OF_STEPS = "flops", "flops_summary", "flops_scope", "flops_utilization_step"
TIMELINE, STEPS = "output_timeline_data", "step_trace_raw"

OPERATIONS = (16**3 * 2, 16 * 16 * 32 * 2, 32, 128, 64, 64, 32)
"""Of an instruction that each counter counts: cubes of float16 and of int8, vectors of float32, of
float16 in 128 and in 64 lanes, of int32, and others (upstream-mindspore a69a1233750).
"""
OF_A_CORE = 4096 * 2
"""Operations of a cube in a cycle."""
MEGA, GIGA = 1e6, 1e9
DIGITS = 3
RECOMPUTED = "Gradients/recompute_Default"
TOTAL = "Total"


@dataclass
class Found:
    """Millions of operations by operator, with its average time in ms, and of each step their sum
    and the ms from the forward start to the backward end.
    """

    operators: dict[str, tuple[float, float]] = field(default_factory=dict)
    steps: list[tuple[float, float]] = field(default_factory=list)


def write_flops(run: Run) -> None:
    """Write operators, sums and scopes, where cores counted operations and the clock is known."""
    slices, times = run.slices(KIND), run.made(TIMES)
    if slices is None or times is None or not run.reads(KIND):
        return
    machine = run.slices(MACHINE)
    most = None if machine is None else read_document(machine[0].path, most_of, run.damage)
    if machine is None:
        text = "no info.json, which has the clock of the cores"
        run.damage.append(Damage(slices[0].path, text, kind=KIND))
    if most is None:
        return
    found = _found(run, times)
    if not found.operators:
        run.damage.append(Damage(slices[0].path, "no operator that the framework has", kind=KIND))
        return
    rows = list(_rows(found, most))
    _write_operators(run, rows)
    used = [flops / length * GIGA / most * 100 for flops, length in found.steps if length]
    by_steps = run.way("flops_utilization") == "of-steps"
    shares = used if by_steps else [row[3] for row in rows]
    if by_steps:
        _write_steps(run, used)
    sums = (
        sum(row[1] for row in rows),
        sum(row[2] for row in rows) / len(rows),
        sum(shares) / len(shares) if shares else 0.0,
    )
    names = [one.name for one in run.columns(SUMS)][: len(sums)]
    write_document(run, SUMS, dict(zip(names, (round(one, DIGITS) for one in sums), strict=True)))
    write_document(
        run, SCOPES, scopes_of({row[0]: row[1] for row in rows}, run.way("flops_scopes"))
    )


def most_of(document: Any) -> float:
    """The operations in a second that the cubes of a device can do. Raises :class:`Malformed`."""
    devices = document.get("DeviceInfo") if isinstance(document, dict) else None
    if not isinstance(devices, list) or not devices or not isinstance(devices[0], dict):
        raise Malformed("DeviceInfo is no list of devices")
    numbers = []
    for name in ("aic_frequency", "ai_core_num"):
        value: Any = devices[0].get(name)
        try:
            numbers.append(float(value))
        except (TypeError, ValueError):
            raise Malformed(f"DeviceInfo[0].{name} is {value!r}") from None
    if not all(0 < one < 1e9 and is_number(one) for one in numbers):
        raise Malformed(f"DeviceInfo[0] has {numbers[1]:g} cores of {numbers[0]:g} MHz")
    return numbers[0] * MEGA * numbers[1] * OF_A_CORE


def operations(counters: npt.NDArray[np.uint64]) -> npt.NDArray[np.float64]:
    """What was computed, of the counters of each task."""
    counted = counters[:, : len(OPERATIONS)].astype(np.float64)
    return np.asarray(counted @ np.array(OPERATIONS, np.float64))


def scopes_of(operators: Mapping[str, float], way: str) -> dict[str, Any]:
    """The scopes as a flow from the whole network to its parts. ``way``: of flops_scopes."""
    links: dict[tuple[str, str], float] = {}
    deepest = 0
    for name, flops in operators.items():
        scopes = name.split("/")[:-1]
        deepest = max(deepest, len(scopes))
        if not scopes:
            continue
        of = "recompute_Gradients" if name.startswith(RECOMPUTED) else scopes[0]
        marks = (f"({level}_{of})" if way == "with-level" else f"({of})" for level in count())
        named = [f"{one}{mark}" for one, mark in zip(scopes, marks, strict=False)]
        named = [TOTAL, scopes[0], *named[1:]]
        for link in pairwise(named):
            links[link] = links.get(link, 0) + flops
    nodes = dict.fromkeys(name for link in links for name in link)
    return {
        "data": {
            "nodes": [{"name": name} for name in nodes],
            "links": [
                {"source": source, "target": target, "value": round(flops, DIGITS)}
                for (source, target), flops in links.items()
            ],
        },
        "max_scope_num": deepest,
    }


def _rows(found: Found, most: float) -> Iterator[tuple[str, float, float, float]]:
    for name, (flops, time) in found.operators.items():
        speed = flops / time
        yield name, flops, speed, speed * GIGA / most * 100


def _write_operators(run: Run, rows: Sequence[tuple[str, float, float, float]]) -> None:
    path = run.path(TABLE)
    if path is None:
        return
    header = [one.name for one in run.columns(TABLE) if one.until is not None]
    with path.open("w", encoding="utf-8", errors="backslashreplace", newline="") as file:
        file.write(f"{', '.join(header)} \n")
        file.writelines(f"{', '.join(map(str, row))}\n" for row in rows)


def _write_steps(run: Run, used: Sequence[float]) -> None:
    path = run.path(OF_STEPS)
    if path is not None:
        lines = (f"{number},{one}\n" for number, one in enumerate(used, 1))
        path.write_text("".join(["steps, FLOPS_Utilization %\n", *lines]), encoding="utf-8")


def _found(run: Run, times: Path) -> Found:
    """What cores counted, in the order of the records; an operator counts as in its first one."""
    slices = run.slices(KIND)
    framework = framework_of(run)
    timed = read_times(times, [one.name for one in run.columns(TIMES)]).rows
    average = {row["op_name"]: float(row["compute_time(ms)"]) for row in timed}
    found = Found()
    placing = _Steps(_starts(run), _bounds(run))
    counted: dict[str, float] = {}
    layout, way = layout_of(KIND, run.day), run.way("task_key")
    for block in read_records(slices or (), KIND, run.day, run.damage):
        rows = layout.view(0, block.rows)
        flops = operations(rows["pmuList"])
        keys = zip(rows["streamId"].tolist(), rows["taskId"].tolist(), strict=True)
        for (stream, task), own in zip(keys, flops.tolist(), strict=True):
            name = "" if framework is None else framework.names.get(key_of(way, stream, task), "")
            if name not in average:
                continue
            millions = counted.setdefault(name, own * 1e-6)
            placing.take(name, millions)
            if average[name] > 0:
                found.operators.setdefault(name, (millions, average[name]))
    found.steps = placing.steps
    return found


class _Steps:
    """Adds what operators compute to the steps in which they start, as executions follow."""

    def __init__(
        self, starts: Sequence[tuple[str, float]], bounds: Sequence[tuple[float, float]]
    ) -> None:
        self.starts, self.bounds = starts, bounds
        self.sums = [0.0] * len(bounds)
        self.place = self.step = 0

    def take(self, name: str, flops: float) -> None:
        """The next execution of an operator; those that are passed over belong to no record."""
        if not self.starts or not self.bounds:
            return
        while self.place < len(self.starts) and self.starts[self.place][0] != name:
            self.place += 1
        if self.place == len(self.starts):
            return
        time = self.starts[self.place][1]
        while self.step < len(self.bounds) and time >= self.bounds[self.step][1]:
            self.step += 1
        if self.step < len(self.bounds) and time >= self.bounds[self.step][0]:
            self.sums[self.step] += flops
        self.place += 1

    @property
    def steps(self) -> list[tuple[float, float]]:
        """Sum and length of each."""
        lengths = (end - start for start, end in self.bounds)
        return list(zip(self.sums, lengths, strict=True))


def _starts(run: Run) -> list[tuple[str, float]]:
    path = run.made(TIMELINE)
    return [] if path is None else [(name, start) for name, start, _ in executions_in(path)]


def _bounds(run: Run) -> list[tuple[float, float]]:
    """Forward start and backward end of each step in ms; of an inference its end."""
    path = run.made(STEPS)
    if path is None:
        return []
    with path.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["step_num"] != AVERAGE]
    return [
        (int(row["fp_point"]) / PER_MS, int(row.get("bp_point") or row["end_point"]) / PER_MS)
        for row in rows
    ]
