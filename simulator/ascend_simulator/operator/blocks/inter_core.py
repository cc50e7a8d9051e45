"""Block 0x0C: how evenly the cores were loaded."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, sqrt
from typing import Any

from ascend_spec import bin_catalog

from ..counters import GM_READ, GM_WRITE
from .loads import simt_instructions
from .numbers import share, six
from .view import Report, Unit

THRESHOLD = 0.6
"""Sigmoid of the standard score from which a core is named (bin-blocks.md 3.9)."""
NAMED_BELOW = 100
"""Blocks that the exporter's pattern for names of cores finds: two digits."""


@dataclass(frozen=True, slots=True)
class _SubCore:
    """One sub-core of one physical core; number: of the block that it is named after."""

    core: int
    kind: str
    number: int
    cycles: int
    throughput: int
    hits: int
    requests: int
    simt: tuple[int, int] | None

    @property
    def hit_rate(self) -> float:
        return share(self.hits, self.requests)


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
        "cycles": str(one.cycles),
        "throughput": str(one.throughput),
        "L2cache_hit_rate": six(one.hit_rate),
    }
    if one.simt is not None:
        instructions, cycles = one.simt
        found["simt_vf_instructions"] = {
            "instructions": instructions,
            "instruction_per_cycle": instructions / cycles if cycles else 0.0,
        }
    return found


def _sub_cores(report: Report) -> list[_SubCore]:
    """Blocks that ran on one physical core count as one, unless the operator is mixed."""
    program = report.world.program
    if report.mixed:
        groups: Mapping[int, Sequence[int]] = {one: [one] for one in range(program.block_dim)}
    else:
        merged: defaultdict[int, list[int]] = defaultdict(list)
        for block in range(program.block_dim):
            merged[block % program.cores].append(block)
        groups = merged
    return [
        _sub_core(report, blocks, unit)
        for core, blocks in sorted(groups.items())
        for unit in report.units(core)
    ]


def _sub_core(report: Report, blocks: Sequence[int], unit: Unit) -> _SubCore:
    counters, place = report.counters, unit.place[1]

    def total(values: Any) -> int:
        return int(sum(int(values[block, place]) for block in blocks))

    hits, misses = (
        total(counters.amount(f"read_{what}")) + total(counters.amount(f"write_{what}"))
        for what in ("hits", "misses")
    )
    simt = None
    if report.world.program.simt is not None:
        executed = sum(
            sum(simt_instructions(report, one).values()) for one in _same(report, blocks)
        )
        simt = (executed, total(counters.pipe("VECTOR").busy))
    return _SubCore(
        core=min(blocks),
        kind=unit.name.rstrip("01") if report.mixed else report.op_type,
        number=unit.number or 0,
        cycles=total(counters.total_cycles),
        throughput=total(counters.amount(GM_READ)) + total(counters.amount(GM_WRITE)),
        hits=hits,
        requests=hits + misses,
        simt=simt,
    )


def _same(report: Report, blocks: Sequence[int]) -> list[Unit]:
    return [unit for block in blocks for unit in report.units(block)]


def _advice(report: Report, sub_cores: Sequence[_SubCore]) -> str:
    """What stands out, line by line."""
    texts = {one.name: str(one.value) for one in bin_catalog().enums["inter_core_advice"].members}
    found: list[str] = []
    for measure, name in (
        ("cycles", "cycles"),
        ("throughput", "throughput"),
        ("hit_rate", "L2cache_hit_rate"),
    ):
        for kind in ("vector", "cube"):
            own = [one for one in sub_cores if one.kind == kind and one.core < NAMED_BELOW]
            high = _outstanding(
                [float(getattr(one, measure)) for one in own], mirrored=measure == "hit_rate"
            )
            named = _named(report, [own[place] for place in high])
            if named:
                found.append(f"{named} {texts[name]} {kind} cores")
    instructions = [(one, one.simt[0]) for one in sub_cores if one.simt is not None]
    high = _outstanding([float(count) for _, count in instructions], mirrored=False)
    named = _named(report, [instructions[place][0] for place in high])
    if named:
        found.append(f"{named} {texts['simt_vf_instructions']} vector cores")
    return "".join(f"\t{number}) {text}.\n" for number, text in enumerate(found, start=1))


def _outstanding(values: Sequence[float], *, mirrored: bool) -> list[int]:
    """Places of the values whose standard score is high (``mirrored``: low)."""
    if not values:
        return []
    mean = sum(values) / len(values)
    variance = sum((value - mean) ** 2 for value in values) / len(values)
    if variance < 1e-9:
        return []
    deviation = -sqrt(variance) if mirrored else sqrt(variance)
    scores = [1 / (1 + exp(-(value - mean) / deviation)) for value in values]
    return [place for place, score in enumerate(scores) if score >= THRESHOLD]


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
