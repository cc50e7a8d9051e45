"""Block 0x0D: how near the operator came to what memories and units can do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ascend_spec import bin_catalog
from ascend_spec.bin.model import RooflineChart
from ascend_spec.core import packaged

from ..memory import REQUEST_BYTES
from ..world import EPOCH
from .numbers import NOT_AVAILABLE, share, single, six
from .paths import MemoryFlows
from .view import Report

LINES = "roofline_lines.yaml"
TEBI = 1 << 40
GIBI_PER_TEBI = 1024
THREADS_PER_WARP = 32
BOUND_FROM = 0.8
"""Share of the roof from which the operator counts as bound by it; of pipes, 80 percent active."""
L2_WRITE_BYTES = 512
"""Of a write between a core and L2 (910B)."""


@dataclass(frozen=True, slots=True)
class Roof:
    """A computing unit: operations done, 10^12 per second that all its cores can do."""

    name: str
    operations: int
    computility: float


@dataclass(frozen=True, slots=True)
class Judged:
    """How near a line is to its roof. bound: which of the two it is."""

    ratio: float | None
    bound: str


def roofline(report: Report) -> dict[str, Any] | None:
    """The payload of 0x0D; None where the operator has no chart."""
    charts, best = [], Judged(0.0, "")
    for chart in bin_catalog().rooflines.charts(report.family, report.op_type, EPOCH):
        lines = []
        for roof in _roofs(report, chart):
            for name in chart.bandwidths:
                line, judged = _line(report, chart.title, name, roof)
                if line is None:
                    continue
                lines.append(line)
                if judged.ratio is not None and judged.ratio > (best.ratio or 0.0):
                    best = judged
        if lines:
            charts.append({"title": chart.title, "rooflines": lines})
    if not charts:
        return None
    return {"advice": bound(report, best), "multiple_rooflines": charts}


def operations(report: Report) -> int:
    """Operations of all units that some chart shows."""
    charts = bin_catalog().rooflines.charts(report.family, report.op_type, EPOCH)
    return sum(roof.operations for roof in _roofs(report, charts[-1]))


def bound(report: Report, best: Judged) -> str:
    """What limits the operator: a roof, or, below all roofs, latencies and their cause."""
    memory, compute, pipeline, memory_latency, compute_latency = (
        str(one.value) for one in bin_catalog().enums["roofline_advice"].members
    )
    if best.ratio is not None and best.ratio > BOUND_FROM:
        return memory if best.bound == "memory" else compute
    name, rate = busiest(report)
    if rate < 100 * BOUND_FROM:
        return pipeline
    return memory_latency if "MTE" in name else compute_latency


def busiest(report: Report) -> tuple[str, float]:
    """The pipe that works for the largest share of some sub-core's time; the share in percent."""
    rates: dict[str, float] = {}
    for block in range(len(report.block_ids)):
        for unit in report.units(block):
            for pipe in ("CUBE", "FIXP", "MTE1", "MTE2", "MTE3", "VECTOR"):
                rate = share(report.busy(unit, pipe), report.cycles(unit))
                rates[pipe] = max(rates.get(pipe, 0.0), rate)
    name = max(sorted(rates), key=lambda one: rates[one])
    return name, rates[name]


def _line(
    report: Report, title: str, name: str, roof: Roof
) -> tuple[dict[str, Any] | None, Judged]:
    facts = packaged(__package__, LINES)[report.family][title][name]
    volume = _volume(report, facts)
    if volume <= 0:
        return None, Judged(None, "")
    bandwidth = single(_bandwidth(report, facts))
    computility = single(roof.computility)
    x = single(roof.operations / volume)
    y = single(roof.operations / report.duration / 1e6) if report.duration else 0.0
    judged = _judge(bandwidth, computility, x, y)
    return {
        "bw": bandwidth,
        "bw_name": name,
        "computility": computility,
        "computility_name": roof.name,
        "point": [x, y],
        "ratio": NOT_AVAILABLE if judged.ratio is None else six(judged.ratio),
    }, judged


def _judge(bandwidth: float, computility: float, x: float, y: float) -> Judged:
    if y >= computility or not bandwidth or y > single(x * bandwidth):
        return Judged(None, "")
    slope = single(np.float32(x) * np.float32(bandwidth))
    roof, kind = (computility, "compute") if x > computility / bandwidth else (slope, "memory")
    return Judged(single(np.float32(y) / np.float32(roof)), kind) if roof else Judged(None, "")


def _volume(report: Report, facts: Mapping[str, Any]) -> int:
    """Byte that the line's memory moved in all."""
    if "nominal" in facts:
        main = _main_memory(report)
        return main if facts["nominal"] == "gm" else main + _cache_hits(report)
    units = report.units_of(facts["of"])

    def total(names: Sequence[str]) -> int:
        return sum(report.amount(unit, name) for unit in units for name in names)

    return total(facts["amounts"]) - total(facts.get("less", ()))


def _main_memory(report: Report) -> int:
    """Byte read for misses, and written when changed lines left L2."""
    flows = MemoryFlows(report)
    written = sum(flows.written_back(block) for block in range(len(report.block_ids)))
    reads = int(report.counters.amount("read_misses").sum()) * REQUEST_BYTES
    return reads + written * report.world.chip.cache.line


def _cache_hits(report: Report) -> int:
    reads, writes = (int(report.counters.amount(f"{one}_hits").sum()) for one in ("read", "write"))
    return reads * REQUEST_BYTES + writes * L2_WRITE_BYTES


def _bandwidth(report: Report, facts: Mapping[str, Any]) -> float:
    chip = report.world.chip
    if "nominal" in facts:
        return chip.gm_bandwidth if facts["nominal"] == "gm" else chip.l2_bandwidth
    cores = chip.cube_cores if facts["of"] == "cube" else chip.vector_cores
    if "width" in facts:
        return float(facts["width"]) * report.world.frequency * 1e6 * cores / TEBI
    transfers: Mapping[str, str] = facts["transfers"]
    units = report.units_of(facts["of"])
    moved = {
        name: sum(report.amount(unit, amount) for unit in units)
        for name, amount in transfers.items()
    }
    if not sum(moved.values()):
        moved = dict.fromkeys(moved, 1)
    weighted = sum(chip.transfer[name] * size for name, size in moved.items())
    return weighted / sum(moved.values()) * cores / GIBI_PER_TEBI


def _roofs(report: Report, chart: RooflineChart) -> list[Roof]:
    """The units whose operations a chart shows: several only on the 950 series."""
    if report.family == "950":
        return _roofs_950(report, chart)
    cube, vector = _cube_roof(report), _vector_roof(report)
    if chart.title.endswith("(Cube)"):
        return [cube]
    if chart.title.endswith("(Vector)"):
        return [vector]
    names = [one.name for one in (cube, vector) if one.name]
    return [
        Roof(
            " + ".join(names),
            cube.operations + vector.operations,
            cube.computility + vector.computility,
        )
    ]


def _cube_roof(report: Report) -> Roof:
    units = report.units_of("cube")
    cycles = sum(report.amount(unit, "L0B_TO_CUBE") for unit in units) // 512
    if not units or (not cycles and not report.world.chip.unified):
        return Roof("", 0, 0.0)
    integer = any(report.amount(unit, "MMAD INT") for unit in units)
    each = packaged(__package__, LINES)["cube_operations"]["INT" if integer else "FP"]
    chip = report.world.chip
    computility = each * report.world.frequency * chip.cube_cores / 1e6 if cycles else 0.0
    name = _named(report, "cube", "INT" if integer else "FP")
    return Roof(name, cycles * each, computility)


def _vector_roof(report: Report) -> Roof:
    units, chip = report.units_of("vector"), report.world.chip
    each = packaged(__package__, LINES)["vector_operations"][report.family]
    names = packaged(__package__, LINES)["vector_names"]
    repeats = {kind: sum(report.amount(unit, f"repeats {kind}") for unit in units) for kind in each}
    total = sum(repeats.values())
    operations = sum(count * each[kind] for kind, count in repeats.items())
    if not total:
        return Roof("", 0, 0.0)
    shares = sorted(
        f"{names[kind]}({six(count * 100 / total)}%)" for kind, count in repeats.items() if count
    )
    computility = operations * report.world.frequency * chip.vector_cores / total / 1e6
    return Roof(",".join(shares), operations, computility)


def _named(report: Report, core: Any, kind: str) -> str:
    names = bin_catalog().rooflines.computilities(report.family, core, EPOCH)
    return next(name for name in names if kind in name)


def _roofs_950(report: Report, chart: RooflineChart) -> list[Roof]:
    cube, simt = _cubes_950(report), _simt_950(report)
    if chart.title.endswith("(Cube)"):
        return cube
    if chart.title.endswith("(Vector)"):
        return simt
    integer = [one for one in (*cube, *simt) if one.name == "Integer"]
    roofs = [
        Roof(f"{core} {one.name}", one.operations, one.computility)
        for core, found in (("Cube", cube), ("SIMT", simt))
        for one in found
        if one.name != "Integer"
    ]
    if integer:
        operations = sum(one.operations for one in integer)
        roofs.append(Roof("Integer", operations, sum(one.computility for one in integer)))
    return roofs


def _cubes_950(report: Report) -> list[Roof]:
    cycles = sum(report.amount(unit, "L0B_TO_CUBE") for unit in report.units_of("cube")) // 512
    if not cycles:
        return []
    data_type = report.world.scenario.operator.data_type
    name, each = packaged(__package__, LINES)["cube_operations_950"][data_type]
    chip = report.world.chip
    computility = each * report.world.frequency * chip.cube_cores / 1e6
    return [Roof(name, cycles * each, computility)]


def _simt_950(report: Report) -> list[Roof]:
    simt, chip = report.world.program.simt, report.world.chip
    if simt is None:
        return []
    computing = sum(not one.name.startswith(("LDG", "STG", "BRA")) for one in simt.body)
    operations = int(simt.rounds.sum()) * simt.warps * computing * THREADS_PER_WARP
    each = packaged(__package__, LINES)["simt_operations"]["Integer"]
    computility = each * chip.vector_cores * report.world.frequency / 1e6
    return [Roof("Integer", operations, computility)]
