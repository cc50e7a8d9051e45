"""The load of the cores, compared: ``source/details/interCoreLoadAnalysis``, block 0x0C."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from .answer import Answer, Body
from .blocks import Blocks
from .question import Question
from .values import integer, items, member, real, text

CORE_LOAD_TYPE = 0x0C

SMALLEST_DEVIATION = 1.084202172485504434e-19
"""Below it a deviation counts as none: the epsilon of the viewer's 80-bit numbers."""

MAX_LEVEL = 9
STEEPEST = 700.0


@dataclass(frozen=True, slots=True)
class Part:
    """A sub-core: cycles, bytes moved, L2 hits in percent, SIMT instructions and their rate."""

    kind: str
    number: int
    cycles: int
    throughput: int
    hit_rate: float
    simt_instructions: int
    simt_rate: float


@dataclass(frozen=True, slots=True)
class Core:
    """A core and its parts."""

    core_id: int
    parts: tuple[Part, ...]


def core_load(asked: Question) -> Answer:
    """The answer to ``source/details/interCoreLoadAnalysis``; it fails without the block.

    The viewer keeps core numbers in 8 bits and drops cores beyond 254 of a vector operator (A14),
    and its differences are 0 (A15); ours are not. In compare mode only cores and parts of the file
    itself are shown, each once.
    """
    found = _load(asked.blocks)
    if found is None:
        return Answer({"soc": "", "opType": "", "advice": "", "opDetails": []}, result=False)
    beside = _load(asked.baseline) if asked.baseline else None
    if beside is not None:
        _compare(found["opDetails"], beside["opDetails"])
    return Answer(found)


def _load(blocks: Blocks) -> Body | None:
    document = blocks.details(CORE_LOAD_TYPE)
    if not isinstance(member(document, "op_detail"), list):
        return None
    op_type = text(document.get("op_type"))
    cores = [_core(core) for core in document["op_detail"]]
    levels = Levels(part for core in cores for part in core.parts)
    if op_type == "vector":
        cores = _in_pairs(cores)
    return {
        "soc": text(document.get("soc")),
        "opType": op_type,
        "advice": text(document.get("advice")),
        "opDetails": [
            {
                "coreId": core.core_id,
                "subCoreDetails": [_shown(part, levels) for part in core.parts],
            }
            for core in cores
        ],
    }


def _core(core: Any) -> Core:
    parts = tuple(_part(part) for part in items(member(core, "core_detail")))
    return Core(max(integer(member(core, "core_id")), 0), parts)


def _part(part: Any) -> Part:
    simt = member(part, "simt_vf_instructions")
    return Part(
        kind=text(member(part, "subcore_type")),
        number=max(integer(member(part, "subcore_id")), 0),
        cycles=max(integer(member(part, "cycles")), 0),
        throughput=max(integer(member(part, "throughput")), 0),
        hit_rate=real(member(part, "L2cache_hit_rate")),
        simt_instructions=max(integer(member(simt, "instructions")), 0),
        simt_rate=real(member(simt, "instruction_per_cycle")),
    )


def _in_pairs(cores: list[Core]) -> list[Core]:
    """Two vector cores at a time, by number, as one; of each the first part counts."""
    ordered = sorted(cores, key=lambda core: core.core_id)
    pairs = [ordered[start : start + 2] for start in range(0, len(ordered), 2)]
    return [
        Core(
            number,
            tuple(
                replace(core.parts[0], number=place)
                for place, core in enumerate(pair)
                if core.parts
            ),
        )
        for number, pair in enumerate(pairs)
    ]


class Levels:
    """How far a figure lies from the mean of its kind, as a level 0 to 9.

    The tenth of the logistic function of the distance in sample standard deviations; sums are
    exact, so that a figure that is the mean gets level 5.
    """

    def __init__(self, parts: Iterable[Part]) -> None:
        self._figures: dict[tuple[str, str], list[Fraction]] = {}
        for part in parts:
            for name, figure in LEVELLED.items():
                listed = self._figures.setdefault((part.kind, name), [])
                listed.append(Fraction(figure(part)))
        self._spread = {key: _spread(figures) for key, figures in self._figures.items()}

    def of(self, part: Part, name: str) -> int:
        """The level of one figure of a part."""
        mean, deviation = self._spread[part.kind, name]
        if deviation < SMALLEST_DEVIATION:
            return 0
        distance = float(Fraction(LEVELLED[name](part)) - mean) / deviation
        share = 1 / (1 + math.exp(-min(max(distance, -STEEPEST), STEEPEST)))
        return min(int(share * 10), MAX_LEVEL)


LEVELLED: dict[str, Callable[[Part], int | float]] = {
    "cycles": lambda part: part.cycles,
    "throughput": lambda part: part.throughput,
    "cacheHitRate": lambda part: part.hit_rate,
    "simtVfInstructions": lambda part: part.simt_instructions,
}


def _spread(figures: list[Fraction]) -> tuple[Fraction, float]:
    """Mean and sample standard deviation; 0.0 of a single figure."""
    mean = sum(figures, Fraction(0)) / len(figures)
    if len(figures) == 1:
        return mean, 0.0
    squares = sum(((figure - mean) ** 2 for figure in figures), Fraction(0))
    return mean, math.sqrt(squares / (len(figures) - 1))


def _shown(part: Part, levels: Levels) -> Body:
    figures = {name: (figure(part), levels.of(part, name)) for name, figure in LEVELLED.items()}
    figures["simtVfInstructionPerCycle"] = part.simt_rate, 0
    return {
        "subCoreName": f"{part.kind}{part.number}",
        **{
            name: {"value": {"compare": figure, "baseline": 0, "diff": 0}, "level": level}
            for name, (figure, level) in figures.items()
        },
    }


def _compare(cores: list[Body], baseline: list[Body]) -> None:
    """Adds the baseline to each part that both have. Lists keep one entry of each name."""
    others = {core["coreId"]: core for core in baseline}
    cores[:] = {core["coreId"]: core for core in cores}.values()
    for core in cores:
        if core["coreId"] not in others:
            continue
        beside = {part["subCoreName"]: part for part in others[core["coreId"]]["subCoreDetails"]}
        parts = {part["subCoreName"]: part for part in core["subCoreDetails"]}
        core["subCoreDetails"] = list(parts.values())
        for name, part in parts.items():
            for figure in (*LEVELLED, "simtVfInstructionPerCycle") if name in beside else ():
                value, other = part[figure]["value"], beside[name][figure]["value"]["compare"]
                value["baseline"] = other
                value["diff"] = value["compare"] - other
