"""Folders with the intermediate files of several ranks, even or drawn by a seed."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from analyser_plain import write_csv

STEPS = "step_num,start_point,end_point,total,fp_point,bp_point,iteration_interval,fp_and_bp,tail"
TIMES = (
    "computation_time",
    "communication_alone_time",
    "stage_time",
    "receive_alone_time",
    "collective_communication_alone_time",
)
DATA, MODEL, PIPELINE = "data-parallel", "model-parallel", "pipeline-parallel"
KINDS = ("steps", "cluster", "flops", "hccl", "memory")


@dataclass
class Ranks:
    """What was written: of each rank its rows as numbers, the average last, and its documents.

    ``lacking``: kinds of files by rank that were not written.
    """

    mode: str = PIPELINE
    stages: int = 2
    ranks: int = 4
    steps: dict[int, list[list[Any]]] = field(default_factory=dict)
    times: dict[int, list[list[float]]] = field(default_factory=dict)
    flops: dict[int, dict[str, float]] = field(default_factory=dict)
    hccl: dict[int, list[list[Any]]] = field(default_factory=dict)
    memory: dict[int, dict[str, Any]] = field(default_factory=dict)
    details: dict[int, dict[str, Any]] = field(default_factory=dict)
    lacking: set[tuple[str, int]] = field(default_factory=set)

    @property
    def with_steps(self) -> list[int]:
        """The ranks that the viewer knows."""
        return [rank for rank in self.steps if ("steps", rank) not in self.lacking]

    def stage_of(self, rank: int) -> int:
        """Stages have the same number of ranks, in their order."""
        return rank * self.stages // self.ranks + 1

    def write(self, folder: Path) -> None:
        """Every file that is not lacking."""
        for rank, rows in self._present("steps", self.steps):
            write_csv(folder / f"step_trace_raw_{rank}_detail_time.csv", STEPS, rows)
        of_job = f"{self.mode}_{self.stages}_{self.ranks}"
        for rank, rows in self._present("cluster", self.times):
            header = ",".join(TIMES[: len(rows[0])])
            write_csv(folder / f"ascend_cluster_analyse_{of_job}_{rank}.csv", header, rows)
        for rank, sums in self._present("flops", self.flops):
            _write_json(folder / f"flops_summary_{rank}.json", sums)
        header = "step_num,communication_cost,wait_cost,link_info,communication_operator_cost"
        for rank, rows in self._present("hccl", self.hccl):
            cells = [[*row[:3], *map(json.dumps, row[3:])] for row in rows]
            write_csv(folder / f"hccl_raw_{rank}.csv", header, cells)
        for rank, document in self._present("memory", self.memory):
            _write_json(folder / f"memory_usage_summary_{rank}.json", document)
            _write_json(folder / f"memory_usage_details_{rank}.json", self.details[rank])

    def _present(self, kind: str, of_rank: dict[int, Any]) -> Iterable[tuple[int, Any]]:
        return [(rank, one) for rank, one in of_rank.items() if (kind, rank) not in self.lacking]


def drawn_ranks(draw: random.Random, *, may_lack: bool = False) -> Ranks:
    """Any way to share work; with ``may_lack`` some files are not there."""
    mode = draw.choice([DATA, MODEL, PIPELINE])
    stages = draw.choice([1, 2, 4]) if mode == PIPELINE else 1
    found = Ranks(mode, stages, stages * draw.randint(1, 3))
    steps = draw.randint(1, 5)
    has_cubes = draw.random() < 0.5
    spread = draw.choice([0.05, 0.5, 3])
    links = draw.sample([(one, two) for one in range(4) for two in range(4)], 5)
    for rank in range(found.ranks):
        found.steps[rank] = _steps(draw, steps, spread)
        count = 5 if mode == PIPELINE else 2
        found.times[rank] = [
            [round(draw.uniform(1, 1 + 200 * spread), 4) for _ in range(count)]
            for _ in range(steps + 1)
        ]
        sums = [round(1000 * draw.uniform(1, 1 + spread), 3) for _ in range(4)]
        names = ("cube_FLOPs", "cube_FLOPS", "vec_FLOPs", "vec_FLOPS")
        found.flops[rank] = (
            dict(zip(names, sums, strict=True))
            if has_cubes
            else {"FLOPs": sums[0], "FLOPS": sums[1], "FLOPS_Utilization": sums[2]}
        )
        found.hccl[rank] = [
            [step, draw.random(), draw.random(), _links(draw, links, spread), {}]
            for step in (*range(1, steps + 1), "-")
        ]
        found.memory[rank] = {"capacity": 32, "peak_mem": draw.random(), "static_mem": 0.5}
        found.details[rank] = {
            "1": {
                "graph_id": 1,
                "static_mem": 0.5,
                "nodes": [],
                "fp_start": None,
                "bp_end": None,
                "lines": [1.5, 2],
                "breakdowns": [[{"name": f"tensor-{node}"}] for node in range(2)],
            }
        }
    if may_lack:
        some = [(kind, rank) for kind in KINDS for rank in range(found.ranks)]
        found.lacking = set(draw.sample(some, min(len(some), draw.randint(1, 3))))
    return found


def even_ranks(mode: str = PIPELINE, *, stages: int = 2, ranks: int = 4) -> Ranks:
    """Ranks of which none is slow, and which hardly communicate."""
    found = Ranks(mode, stages, ranks)
    for rank in range(ranks):
        found.steps[rank] = [
            [1, 0, 10_000_000, 10_000_000, 100_000, 9_000_000, 100_000, 8_900_000, 1_000_000],
            ["-", 0, 10_000_000, 10_000_000, 100_000, 9_000_000, 100_000, 8_900_000, 1_000_000],
        ]
        row = [99.0, 1.0, 99.5, 0.5, 0.5]
        found.times[rank] = [row if mode == PIPELINE else row[:2]] * 2
        found.flops[rank] = {"FLOPs": 500.0, "FLOPS": 50.0, "FLOPS_Utilization": 1.0}
        links = {"0-1": {"SDMA": [1.0, 10.0, 100.0]}, "1-0": {"SDMA": [1.0, 10.0, 100.0]}}
        found.hccl[rank] = [[step, 1.0, 0.5, links, {}] for step in (1, "-")]
    return found


def drawn_timelines(draw: random.Random, ranks: int) -> dict[int, list[dict[str, Any]]]:
    """Time lines of ranks in some stages, whose clocks differ and whose operators run late."""
    stages = draw.randint(1, 2)
    names = {
        stage: [f"Default/{kind}-op{stage}{place}" for place, kind in enumerate(_drawn_kinds(draw))]
        for stage in range(stages)
    }
    found: dict[int, list[dict[str, Any]]] = {}
    for rank in range(ranks):
        now = draw.uniform(0, 2000)
        events = found[rank] = [{"name": "process_name", "ph": "M", "pid": rank, "args": {}}]
        for step in range(1, 4):
            begin = now + draw.choice([0, 0, 2])  # an operator may run when the step begins
            for name in names[rank % stages]:
                now += draw.random()
                length = round(draw.uniform(0.5, 5), 3)
                start = draw.choice([round(now, 3), str(round(now, 3))])
                events.append({"name": name, "ph": "X", "tid": 1, "ts": start, "dur": length})
                now += length
            events.append(
                {"name": "AtomicAddrClean-op3", "ph": "X", "tid": 1, "ts": now, "dur": 0.1}
            )
            events.append({"name": "Default", "ph": "X", "tid": 100_001, "ts": now, "dur": 1})
            if draw.random() < 0.95:
                of_step = {"tid": 100_000, "ts": begin, "dur": now - begin}
                events.append({"name": str(step), "ph": "X", **of_step})
    return found


def _drawn_kinds(draw: random.Random) -> list[str]:
    kinds = ["Cast", "MatMul", "AllReduce", "AllReduce", "StreamSend"]
    return draw.sample(kinds, draw.randint(1, len(kinds)))


def write_timelines(folder: Path, timelines: dict[int, list[dict[str, Any]]]) -> None:
    """One file for each rank."""
    for rank, events in timelines.items():
        _write_json(folder / f"ascend_timeline_display_{rank}.json", events)


def _steps(draw: random.Random, steps: int, spread: float) -> list[list[Any]]:
    rows: list[list[Any]] = []
    start = draw.randrange(10**9)
    for step in (*range(1, steps + 1), "-"):
        parts = [int(1000 * draw.uniform(1, 1 + 100 * spread)) for _ in range(3)]
        end, forward = start + sum(parts), start + parts[0]
        rows.append([step, start, end, sum(parts), forward, forward + parts[1], *parts])
        start = end
    return rows


def _links(draw: random.Random, links: list[tuple[int, int]], spread: float) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for one, two in draw.sample(links, draw.randint(1, len(links))):
        for kind in draw.sample(["SDMA", "RDMA"], draw.randint(1, 2)):
            width = round(1e5 * draw.uniform(0.2, 0.2 + spread), 3)
            values = [draw.random(), draw.random() * 100, width]
            found.setdefault(f"{one}-{two}", {})[kind] = values + ([0.1] if kind == "RDMA" else [])
    return found


def _write_json(path: Path, document: Any) -> None:
    path.write_text(json.dumps(document), encoding="utf-8")
