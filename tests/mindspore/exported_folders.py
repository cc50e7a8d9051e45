"""Folders with what msprof exported for several ranks, drawn by a seed."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Events = list[dict[str, Any]]

STREAMS, NO_STREAM = (3, 4), 9
PIDS = {"Ascend Hardware": 11, "CANN": 13, "Overlap Analysis": 14, "AI Core Freq": 15}
COMMUNICATION = 12
STEPS = 77


@dataclass
class Exported:
    """The last exports of a rank. ``shift``: what diff_time of its run is.

    ``runs``: of operators on the host name, start in ns, length in ms and thread.
    """

    shift: float | str
    models: list[int]
    steps: Events
    events: Events
    runs: list[tuple[str, int, float, int]] = field(default_factory=list)

    def write(self, folder: Path, rank: int, number: int, stamp: str, slices: int = 1) -> None:
        """A collection, and what lies next to it."""
        profile = folder / f"PROF_{number:06d}_2024040213501{rank:04d}_ABCDEFGHIJKLMNOP"
        device, output = profile / f"device_{rank}", profile / "mindstudio_profiler_output"
        device.mkdir(parents=True, exist_ok=True)
        output.mkdir(exist_ok=True)
        (device / f"info.json.{rank}").write_text(json.dumps({"rank_id": rank, "devices": "0"}))
        (output / f"step_trace_{stamp}.json").write_text(json.dumps(self.steps))
        rows = "".join(f"{place},{model}\n" for place, model in enumerate(self.models))
        (output / f"step_trace_{stamp}.csv").write_text(f"Iteration ID,Model ID\n{rows}")
        length = -(-len(self.events) // slices)
        for place in range(slices):
            part = f"slice_{place}_" if slices > 1 else ""
            events = self.events[place * length : (place + 1) * length]
            (output / f"msprof_{part}{stamp}.json").write_text(json.dumps(events))
        (output / f"msprof_tx_{stamp}.json").write_text(json.dumps(self.events))
        run = {"diff_time": self.shift, "context_mode": "graph", "ms_version": "2.3.0rc1"}
        (folder / f"profiler_info_{rank}.json").write_text(json.dumps(run))
        if self.runs:
            lines = (f"{name};HostCpuOps;{a},{b},{c} \n" for name, a, b, c in self.runs)
            (folder / f"cpu_op_execute_timestamp_{rank}.txt").write_text("".join(lines))


def named(kind: str, pid: int, tid: int, **args: Any) -> dict[str, Any]:
    """An event of metadata."""
    return {"name": kind, "pid": pid, "tid": tid, "args": args, "ph": "M"}


def drawn_export(draw: random.Random) -> Exported:
    """What was exported of a rank: every layer, with the names that exporters had in turn."""
    models = sorted(draw.sample([1, 2, 4294967295], draw.randint(1, 3)))
    thread = draw.choice(["Model ID:{}", "Step Trace(Model ID:{})"])
    steps = [named("process_name", STEPS, 0, name="Step Trace")]
    for model in models:
        tid = 70_000 + model
        steps.append(named("thread_name", STEPS, tid, name=thread.format(model)))
        for step in range(2):
            start = step * 1000 + draw.random()
            of_step = {"pid": STEPS, "tid": tid, "ts": start, "dur": 9.5, "ph": "X"}
            steps += [
                {"name": f"Iteration {step}", **of_step},
                {"name": f"Reduce_{step}_0", **of_step},
            ]
            steps.append({**of_step, "name": f"Iteration {step}", "ph": "s", "ts": f"{start:.4f}"})
    events = []
    pids = {**PIDS, draw.choice(["HCCL", "Communication"]): COMMUNICATION}
    for title, pid in pids.items():
        events += [named("process_name", pid, 0, name=title), named("process_labels", pid, 0)]
        events.append(named("process_sort_index", pid, 0, sort_index=pid))
    events += [named("thread_name", 11, one, name=f"Stream {one}") for one in STREAMS]
    events.append(named("thread_name", 11, NO_STREAM, name="Step Trace(Model ID:1)"))
    events.append(named("thread_name", COMMUNICATION, 0, name="Plane 0"))
    now = 100.0
    for _ in range(25):
        now += draw.random() * 12
        pid = draw.choice([11, 11, *pids.values()])
        scopes = [
            draw.choice(["Default", "Gradients", "Net"]),
            *draw.choices("ab", k=draw.randint(0, 2)),
        ]
        model = {draw.choice(["Model Id", "model id"]): draw.choice([1, 2])}
        events.append(
            {
                **{"name": "/".join([*scopes, "op"]), "pid": pid, "ph": "X"},
                **{"tid": draw.choice([*STREAMS, NO_STREAM]), "dur": draw.random() * 9},
                "ts": draw.choice([now, f"{now:.4f}"]),
                "args": model if draw.random() < 0.7 else {},
            }
        )
    runs = [
        (
            f"{draw.choice(['Default', 'x'])}/a/op",
            draw.randrange(10**5, 10**6),
            0.25,
            draw.randint(1, 2),
        )
        for _ in range(draw.randint(0, 3))
    ]
    return Exported(draw.choice([0, 12.5, "7.25", 1.2345]), models, steps, events, runs)


def write_exports(folder: Path, draw: random.Random, ranks: int) -> dict[int, Exported]:
    """Collections of several ranks, each after an earlier one and an earlier export."""
    found = {}
    for rank in range(ranks):
        drawn_export(draw).write(folder, rank, 1, "20250101000000")
        drawn_export(draw).write(folder, rank, 2, "20240102000000", slices=2)
        (folder / f"cpu_op_execute_timestamp_{rank}.txt").unlink(missing_ok=True)
        found[rank] = drawn_export(draw)
        found[rank].write(folder, rank, 2, "20240103000000", slices=draw.randint(1, 3))
    return found
