"""Block 0x0C: how evenly the cores were loaded."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, sqrt
from typing import Any

from ascend_ref.capture import Integers
from ascend_spec import bin_catalog

from ..counters import GM_READ, GM_WRITE
from .numbers import share, six
from .view import Report, Unit

CYCLES, THROUGHPUT, HIT_RATE = "cycles", "throughput", "L2cache_hit_rate"
SIMT = "simt_vf_instructions"
"""What is compared, as the block names it."""
THRESHOLD = 0.6
"""Sigmoid of the standard score from which a core is named (bin-blocks.md 3.9)."""
NAMED_BELOW = 100
"""Blocks that the exporter's pattern for names of cores finds: two digits."""


@dataclass(frozen=True, slots=True)
class _SubCore:
    """One sub-core of one physical core; number: of the block that it is named after.

    vector_cycles: in which its vector pipe worked.
    """

    core: int
    kind: str
    number: int
    measures: Mapping[str, float]
    vector_cycles: int


def inter_core_load(report: Report) -> dict[str, Any]:
    """The payload of 0x0C."""
    sub_cores = _sub_cores(report)
    by_core: defaultdict[int, list[_SubCore]] = defaultdict(list)
    for one in sub_cores:
        by_core[one.core].append(one)
    return {
        "soc": report.world.chip.name,
        "op_type": report.op_type,
        "advice": _advice(report, sub_cores),
        "op_detail": [
            {"core_id": core, "core_detail": [_detail(one) for one in found]}
            for core, found in sorted(by_core.items())
        ],
    }


def _detail(one: _SubCore) -> dict[str, Any]:
    found: dict[str, Any] = {
        "subcore_type": one.kind,
        "subcore_id": str(one.number),
        "cycles": str(one.measures[CYCLES]),
        "throughput": str(one.measures[THROUGHPUT]),
        "L2cache_hit_rate": six(one.measures[HIT_RATE]),
    }
    if SIMT in one.measures:
        instructions, cycles = one.measures[SIMT], one.vector_cycles
        found["simt_vf_instructions"] = {
            "instructions": instructions,
            "instruction_per_cycle": instructions / cycles if cycles else 0.0,
        }
    return found


def _sub_cores(report: Report) -> list[_SubCore]:
    """Blocks that ran on one physical core count as one, unless the operator is mixed."""
    program = report.world.program
    groups: defaultdict[int, list[int]] = defaultdict(list)
    for block in range(program.block_dim):
        groups[block if report.mixed else block % program.cores].append(block)
    return [
        _sub_core(report, blocks, unit)
        for core, blocks in sorted(groups.items())
        for unit in report.units(core)
    ]


def _sub_core(report: Report, blocks: list[int], unit: Unit) -> _SubCore:
    counters, simt = report.counters, report.world.program.simt

    def total(values: Integers) -> int:
        return int(values[blocks, unit.place[1]].sum())

    def amount(*names: str) -> int:
        return sum(total(counters.amount(name)) for name in names)

    hits, misses = (amount(f"read_{what}", f"write_{what}") for what in ("hits", "misses"))
    measures: dict[str, float] = {
        CYCLES: total(counters.total_cycles),
        THROUGHPUT: amount(GM_READ, GM_WRITE),
        HIT_RATE: share(hits, hits + misses),
    }
    if simt is not None:
        measures[SIMT] = int(simt.rounds[blocks].sum()) * simt.warps * len(simt.body)
    return _SubCore(
        core=min(blocks),
        kind=unit.name.rstrip("01") if report.mixed else report.op_type,
        number=unit.number or 0,
        measures=measures,
        vector_cycles=total(counters.pipe("VECTOR").busy),
    )


def _advice(report: Report, sub_cores: Sequence[_SubCore]) -> str:
    """What stands out, line by line."""
    texts = {one.name: str(one.value) for one in bin_catalog().enums["inter_core_advice"].members}
    compared = [
        (name, kind, [one for one in sub_cores if one.kind == kind and one.core < NAMED_BELOW])
        for name in (CYCLES, THROUGHPUT, HIT_RATE)
        for kind in ("vector", "cube")
    ]
    compared.append((SIMT, "vector", [one for one in sub_cores if SIMT in one.measures]))
    outstanding = (
        (_named(report, _outstanding(own, name)), texts[name], kind) for name, kind, own in compared
    )
    found = [f"{named} {text} {kind} cores" for named, text, kind in outstanding if named]
    return "".join(f"\t{number}) {text}.\n" for number, text in enumerate(found, start=1))


def _outstanding(sub_cores: Sequence[_SubCore], name: str) -> list[_SubCore]:
    """Those whose standard score in a measure is high; of hits, low."""
    values = [float(one.measures[name]) for one in sub_cores]
    mean = sum(values) / max(len(values), 1)
    variance = sum((value - mean) ** 2 for value in values) / max(len(values), 1)
    if variance < 1e-9:
        return []
    deviation = -sqrt(variance) if name == HIT_RATE else sqrt(variance)
    scores = [1 / (1 + exp(-(value - mean) / deviation)) for value in values]
    return [one for one, score in zip(sub_cores, scores, strict=True) if score >= THRESHOLD]


def _named(report: Report, found: Sequence[_SubCore]) -> str:
    """``cube0 of core[0,3]``, or the vector cores grouped by which of a core's stand out."""
    if not found:
        return ""
    if found[0].kind == "cube":
        return f"cube0 of core[{_joined(one.core for one in found)}]"
    by_core: defaultdict[int, set[int]] = defaultdict(set)
    for one in found:
        pair = (
            (one.core // 2, one.core % 2) if report.op_type == "vector" else (one.core, one.number)
        )
        by_core[pair[0]].add(pair[1])
    groups = (
        ({0, 1}, "vector0, vector1 of core"),
        ({0}, "vector0 of core"),
        ({1}, "vector1 of core"),
    )
    texts = []
    for numbers, text in groups:
        cores = sorted(core for core, own in by_core.items() if own == numbers)
        if cores:
            texts.append(f"{text}[{_joined(cores)}]")
    return ", ".join(texts)


def _joined(cores: Any) -> str:
    return ",".join(str(core) for core in cores)
