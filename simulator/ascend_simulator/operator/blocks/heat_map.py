"""Block 0x08: how busy the paths between memories were."""

from __future__ import annotations

from typing import Any

from ascend_spec import bin_catalog
from ascend_spec.bin.sentinels import NOT_AVAILABLE, THEORETICAL

from .numbers import share, six
from .view import Report

SHOWN = 1
"""display: an integer, for the viewer takes JSON's true for false (bin-blocks.md 3.7)."""
LOW_USE = 20
"""Percent of active cycles below which there is advice."""


def heat_map(report: Report) -> dict[str, Any]:
    """The payload of 0x08."""
    return {"core_memory_map": [_core(report, at) for at in range(len(report.block_ids))]}


def _core(report: Report, block: int) -> dict[str, Any]:
    hits, misses = report.cache(block)
    tags = bin_catalog().enums["chip_tags"].members
    found: dict[str, Any] = {
        "core_no": report.block_ids[block],
        "op_type": report.op_type,
        "soc": next(str(one.value) for one in tags if report.family in one.chips),
        "memory_unit": [_path(report, block, path) for path in report.memory_paths],
        "L2cache": {
            "hit": str(hits),
            "miss": str(misses),
            "total_request": str(hits + misses),
            "hit_ratio": six(share(hits, hits + misses)),
        },
    }
    if report.family == "950":
        found["memory_detail"] = str(int(report.memory_detail))
    texts = {one.name: str(one.value) for one in bin_catalog().enums["heat_map_advice"].members}
    advice = []
    units = [(core, unit) for unit in report.units(block) for core in unit.cores]
    for core, unit in sorted(units, key=lambda one: (one[0], one[1].number or 0)):
        name = core.capitalize()
        cycle, total = report.busy(unit, core.upper()), report.cycles(unit)
        ratio = share(cycle, total)
        shown = {"cycle": cycle, "total_cycles": total, "ratio": ratio}
        found[f"{name}1" if unit.number == 1 else name] = shown
        if ratio < LOW_USE:
            advice.append(texts[name])
    return {**found, "advice": advice}


def _path(report: Report, block: int, path: int) -> dict[str, Any]:
    asked = report.memory_path(block, path)
    found = {
        "memory_path": path,
        "request": asked.request_text,
        "bandwidth": asked.bandwidth,
        "peak_ratio": NOT_AVAILABLE if report.family == "310P" else asked.peak,
        "display": SHOWN,
    }
    if report.family == "950":
        return found
    suffix = THEORETICAL.get(path, "") if report.family == "910B" else ""
    # The exporter misspells the key on 310P, and viewers find nothing there.
    key = "requests_suffix" if report.family == "310P" else "request_suffix"
    return {**found, "bandwidth_suffix": suffix, key: suffix}
