"""truth.json of a kernel; its JSON Schema stands next to this file."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np

from ascend_spec.core import packaged

from .blocks.roofline import busiest, operations, roofline
from .blocks.view import Report
from .counters import CACHE, Counters
from .program.geometry import shape_of
from .world import World

FORMAT = "ascend-ref-kernel-truth/1"


def truth_schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of a kernel's truth.json."""
    found: dict[str, Any] = packaged(__package__, "truth.schema.yaml")
    return found


def kernel_truth(report: Report) -> dict[str, Any]:
    """The document, ready for JSON."""
    world = report.world
    scenario, program, counters = world.scenario, world.program, world.counters
    pipe, share = busiest(report)
    executed = int(counters.amount("executed").sum())
    if program.simt is not None:
        executed += int(program.simt.rounds.sum()) * program.simt.warps * len(program.simt.body)
    return {
        "format": FORMAT,
        "scenario": scenario.name,
        "seed": world.seed,
        "chip": world.chip.name,
        "mode": scenario.capture.mode,
        "operator": {
            "kind": scenario.operator.kind,
            "op_type": program.op_type,
            "shape": list(shape_of(scenario)),
            "data_type": scenario.operator.data_type,
        },
        "frequency": world.frequency,
        "task_cycles": world.task_cycles,
        "blocks": program.block_dim,
        "executed": executed,
        "bottleneck": {"pipe": pipe, "share": share},
        "imbalance": _imbalance(world),
        "cache": _cache(world, counters),
        "paths": _paths(report),
        "roofline": _roofline(report),
        "cores": _cores(world),
    }


def _imbalance(world: World) -> dict[str, dict[str, float]]:
    lengths: defaultdict[str, list[int]] = defaultdict(list)
    for unit, name in enumerate(world.program.units):
        lengths[name.rstrip("01")] += world.counters.total_cycles[:, unit].tolist()
    return {
        kind: {
            "slowest": max(own),
            "mean": sum(own) / len(own),
            "ratio": max(own) * len(own) / sum(own),
        }
        for kind, own in lengths.items()
    }


def _cache(world: World, counters: Counters) -> dict[str, float]:
    found = {name: int(counters.amount(name).sum()) for name in CACHE}
    total = sum(found.values())
    hits = found["read_hits"] + found["write_hits"]
    return {
        **found,
        "hit_rate": 100 * hits / total if total else 0.0,
        "lines": len(world.lines.line),
        "line_hits": int(np.count_nonzero(world.fate.hit)),
        "written_back": counters.written_lines,
    }


def _paths(report: Report) -> dict[str, int | None]:
    found: dict[str, int | None] = {}
    for path in report.memory_paths:
        requests = [
            report.memory_path(block, path).requests for block in range(len(report.block_ids))
        ]
        known = [one for one in requests if one is not None]
        size = report.request_bytes(path)
        found[report.path_names[path]] = sum(known) * size if len(known) == len(requests) else None
    return found


def _roofline(report: Report) -> dict[str, Any] | None:
    found = roofline(report)
    if found is None:
        return None
    lines = found["multiple_rooflines"][-1]["rooflines"]
    roofs = {line["computility_name"]: line for line in lines}
    return {
        "bound": found["advice"],
        "operations": operations(report),
        "operations_per_second": operations(report) / report.duration / 1e6,
        "computility": sum(line["computility"] for line in roofs.values()),
    }


def _cores(world: World) -> list[dict[str, Any]]:
    counters, found = world.counters, []
    for place in np.ndindex(counters.shape):
        # The pipes on which something ran.
        pipes = {
            name: one for name, one in sorted(counters.pipes.items()) if one.instructions[place]
        }
        found.append(
            {
                "block": place[0],
                "core": world.program.core_name(*place),
                "start": int(world.starts[place[0]]),
                "cycles": int(counters.total_cycles[place]),
                "executed": int(counters.amount("executed")[place]),
                "busy": {name: int(one.busy[place]) for name, one in pipes.items()},
                "waits": {name: int(one.wait[place]) for name, one in pipes.items()},
            }
        )
    return found
