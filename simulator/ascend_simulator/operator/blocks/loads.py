"""Blocks 0x06 and 0x07: how much of the time the units computed, and what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from ascend_spec import bin_catalog
from ascend_spec.bin.model import LoadEntry

from ..program.recipes import MISC
from ..world import EPOCH
from .numbers import share, single
from .view import Core, Report, Unit

FIGURE, TABLE = 0x06, 0x07

_CONFLICTS = {
    "Vector Bank Group Conflict Block": "bank group conflicts",
    "Vector Bank Conflict Block": "bank conflicts",
}
_TYPES_950 = {"FP16": "F16", "FP32": "F32", "S16": "S16", "S32": "S32", MISC: "B32"}
"""Counters of the vector instructions as the 950 series names them."""
_SIMT_TYPES = {"IDIV": "S32", "IMAD": "S32", "IADD": "S32", "ISETP": "S32", "LDG": "B32"}
"""Of the instructions of SIMT threads: arithmetic on indices, and copies."""


def load_figure(report: Report) -> dict[str, Any]:
    """The payload of 0x06: cycles, and their share of all."""
    details = []
    for entry, unit, _, labels in _entries(report, FIGURE):
        cycles = _cycles(report, unit, entry.name)
        value = share(cycles, report.cycles(unit))
        details.append({**labels, "origin_value": single(cycles), "value": value})
    return {"advice": [], "subblock_detail": details}


def load_table(report: Report) -> dict[str, Any]:
    """The payload of 0x07: executed instructions by kind, and time of waiting."""
    details = []
    for entry, unit, core, labels in _entries(report, TABLE):
        count = _executed(report, unit, core).get(entry.name, 0)
        if count or not entry.optional:
            details.append({**labels, "value": str(count)})
    return {"advice": [], "subblock_detail": details}


def _entries(report: Report, code: int) -> Iterator[tuple[LoadEntry, Unit, Core, dict[str, Any]]]:
    """The entries of a block with their sub-cores, and what states both in a row."""
    loads = bin_catalog().loads
    for number, block_id in enumerate(report.block_ids):
        for unit in report.units(number):
            kind = unit.name if report.mixed else report.op_type
            labels = {"block_id": block_id, "block_type": kind}
            for core in unit.cores:
                for entry in loads.entries(code, report.family, core, EPOCH, unit.number):
                    yield entry, unit, core, {**labels, "name": entry.name, "unit": entry.unit}


def _cycles(report: Report, unit: Unit, name: str) -> int:
    if name.startswith("Vector"):
        return report.busy(unit, "VECTOR")
    if name == "Cube Wait":
        return report.waits(unit, "CUBE")
    integer = report.amount(unit, "MMAD INT") > 0
    nothing = name == ("Cube FP" if integer else "Cube INT")
    return 0 if nothing else report.busy(unit, "CUBE")


def _executed(report: Report, unit: Unit, core: Core) -> Mapping[str, int]:
    """Numbers by name, those that are 0 left out."""
    pipe = "CUBE" if core == "cube" else "VECTOR"
    found = {f"{core.capitalize()} Wait": report.waits(unit, pipe) // report.world.frequency}
    if core == "cube":
        kinds = {f"Cube {kind}": report.amount(unit, f"MMAD {kind}") for kind in ("FP", "INT")}
        return {**found, **kinds, "Cube All Active": sum(kinds.values())}
    repeats = {
        name.removeprefix("repeats "): report.amount(unit, name)
        for name in report.counters.amounts
        if name.startswith("repeats ")
    }
    if report.family == "950":
        repeats = Counter({_TYPES_950[name]: count for name, count in repeats.items()})
        simt = report.world.program.simt
        if simt is not None:
            executed = int(simt.rounds[unit.place[0]]) * simt.warps
            for one in simt.body:
                repeats[_SIMT_TYPES.get(one.name.split(".")[0], "B32")] += executed
    kinds = {f"Vector {name}": count for name, count in repeats.items()}
    lost = {name: report.amount(unit, amount) for name, amount in _CONFLICTS.items()}
    return {
        **found,
        **kinds,
        **lost,
        "Vector All Block": sum(lost.values()),
        "Vector All Active": sum(kinds.values()),
    }
