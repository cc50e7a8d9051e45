"""Block 0x0D: how near the operator came to what memories and units can do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ascend_spec import bin_catalog
from ascend_spec.bin.model import RooflineChart
from ascend_spec.bin.sentinels import NOT_AVAILABLE
from ascend_spec.core import packaged

from ..memory import REQUEST_BYTES
from ..world import EPOCH
from .numbers import share, single, six
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
    width = bin_catalog().rooflines.widths(report.family, title).get(name, facts.get("width"))
    bandwidth = single(_bandwidth(report, facts, width))
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
    if "nominal" not in facts:
        more, less = (
            sum(report.total(facts["of"], name) for name in facts.get(part, ()))
            for part in ("amounts", "less")
        )
        return more - less
    # Main memory is read for misses, and written when changed lines leave L2.
    counters = report.counters
    hits, misses = (int(counters.amount(f"read_{what}").sum()) for what in ("hits", "misses"))
    left = sum(report.written_back(block) for block in range(len(report.block_ids)))
    main = misses * REQUEST_BYTES + left * report.world.chip.cache.line
    if facts["nominal"] == "gm":
        return main
    written = int(counters.amount("write_hits").sum()) * L2_WRITE_BYTES
    return main + hits * REQUEST_BYTES + written


def _bandwidth(report: Report, facts: Mapping[str, Any], width: int | None) -> float:
    chip = report.world.chip
    if "nominal" in facts:
        return chip.gm_bandwidth if facts["nominal"] == "gm" else chip.l2_bandwidth
    cores = chip.cube_cores if facts["of"] == "cube" else chip.vector_cores
    if width is not None:
        return float(width) * report.world.frequency * 1e6 * cores / TEBI
    transfers: Mapping[str, str] = facts["transfers"]
    moved = {name: report.total(facts["of"], amount) for name, amount in transfers.items()}
    if not sum(moved.values()):
        moved = dict.fromkeys(moved, 1)
    weighted = sum(chip.transfer[name] * size for name, size in moved.items())
    return weighted / sum(moved.values()) * cores / GIBI_PER_TEBI


def _roofs(report: Report, chart: RooflineChart) -> list[Roof]:
    """The units whose operations a chart shows: several only on the 950 series."""
    on_950 = report.family == "950"
    cube, vector = _cubes(report), (_simt if on_950 else _vectors)(report)
    if chart.title.endswith("(Cube)"):
        return cube
    if chart.title.endswith("(Vector)"):
        return vector
    if not on_950:
        return [
            _together(" + ".join(one.name for one in (*cube, *vector) if one.name), cube + vector)
        ]
    roofs = [
        replace(one, name=f"{core} {one.name}")
        for core, found in (("Cube", cube), ("SIMT", vector))
        for one in found
        if one.name != "Integer"
    ]
    integer = [one for one in (*cube, *vector) if one.name == "Integer"]
    return [*roofs, _together("Integer", integer)] if integer else roofs


def _together(name: str, roofs: Sequence[Roof]) -> Roof:
    return Roof(name, sum(one.operations for one in roofs), sum(one.computility for one in roofs))


def _cubes(report: Report) -> list[Roof]:
    cycles, chip = report.total("cube", "L0B_TO_CUBE") // 512, report.world.chip
    sheet = packaged(__package__, LINES)
    if report.family == "950":
        if not cycles:
            return []
        name, each = sheet["cube_operations_950"][report.world.scenario.operator.data_type]
    else:
        if not cycles and not chip.unified:
            return [Roof("", 0, 0.0)]
        kind = "INT" if report.total("cube", "MMAD INT") else "FP"
        known = bin_catalog().rooflines.computilities(report.family, "cube", EPOCH)
        name, each = next(one for one in known if kind in one), sheet["cube_operations"][kind]
    computility = each * report.world.frequency * chip.cube_cores / 1e6 if cycles else 0.0
    return [Roof(name, cycles * each, computility)]


def _vectors(report: Report) -> list[Roof]:
    each = packaged(__package__, LINES)["vector_operations"][report.family]
    names = packaged(__package__, LINES)["vector_names"]
    repeats = {kind: report.total("vector", f"repeats {kind}") for kind in each}
    total = sum(repeats.values())
    operations = sum(count * each[kind] for kind, count in repeats.items())
    if not total:
        return [Roof("", 0, 0.0)]
    shares = sorted(
        f"{names[kind]}({six(count * 100 / total)}%)" for kind, count in repeats.items() if count
    )
    cores = report.world.chip.vector_cores
    computility = operations * report.world.frequency * cores / total / 1e6
    return [Roof(",".join(shares), operations, computility)]


def _simt(report: Report) -> list[Roof]:
    simt, chip = report.world.program.simt, report.world.chip
    if simt is None:
        return []
    computing = sum(not one.name.startswith(("LDG", "STG", "BRA")) for one in simt.body)
    operations = int(simt.rounds.sum()) * simt.warps * computing * THREADS_PER_WARP
    each = packaged(__package__, LINES)["simt_operations"]["Integer"]
    computility = each * chip.vector_cores * report.world.frequency / 1e6
    return [Roof("Integer", operations, computility)]
