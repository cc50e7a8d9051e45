"""The load of the cores, compared: ``source/details/interCoreLoadAnalysis``, block 0x0C."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from .answer import Answer, Body, Question
from .blocks import Blocks
from .values import integer, items, member, real, text

CORE_LOAD_TYPE = 0x0C

SMALLEST_DEVIATION = 1.084202172485504434e-19
"""Below it a deviation counts as none: the epsilon of the viewer's 80-bit numbers."""

MAX_LEVEL = 9
STEEPEST = 700.0


def _count(value: Any) -> int:
    return max(integer(value), 0)


FIGURES: Mapping[str, tuple[Callable[[Any], int | float], Sequence[str]]] = {
    "cycles": (_count, ("cycles",)),
    "throughput": (_count, ("throughput",)),
    "cacheHitRate": (real, ("L2cache_hit_rate",)),
    "simtVfInstructions": (_count, ("simt_vf_instructions", "instructions")),
    "simtVfInstructionPerCycle": (real, ("simt_vf_instructions", "instruction_per_cycle")),
}
"""Figures of a sub-core: how they are read, and the keys that lead to them."""

WITHOUT_LEVEL = "simtVfInstructionPerCycle"


class Part(NamedTuple):
    """A sub-core; of each figure its value, to be compared, and its level."""

    kind: str
    number: int
    figures: dict[str, Body]


class Core(NamedTuple):
    """A core and its parts."""

    core_id: int
    parts: list[Part]


def core_load(asked: Question) -> Answer:
    """The answer to ``source/details/interCoreLoadAnalysis``; it fails without the block.

    The viewer keeps core numbers in 8 bits and drops cores beyond 254 of a vector operator (A14),
    and its differences are 0 (A15); ours are not. In compare mode only cores and parts of the file
    itself are shown, each once.
    """
    found = _load(asked.blocks)
    if found is None:
        return Answer({"soc": "", "opType": "", "advice": "", "opDetails": []}, result=False)
    base = _load(asked.baseline) if asked.baseline else None
    if base is not None:
        _compare(found["opDetails"], base["opDetails"])
    return Answer(found)


def _load(blocks: Blocks) -> Body | None:
    document = blocks.details(CORE_LOAD_TYPE)
    if not isinstance(member(document, "op_detail"), list):
        return None
    op_type = text(document.get("op_type"))
    cores = [
        Core(
            _count(member(core, "core_id")),
            [_part(part) for part in items(member(core, "core_detail"))],
        )
        for core in document["op_detail"]
    ]
    _set_levels([part for core in cores for part in core.parts])
    if op_type == "vector":
        cores = _in_pairs(cores)
    return {
        "soc": text(document.get("soc")),
        "opType": op_type,
        "advice": text(document.get("advice")),
        "opDetails": [
            {
                "coreId": core.core_id,
                "subCoreDetails": [
                    {"subCoreName": f"{part.kind}{part.number}", **part.figures}
                    for part in core.parts
                ],
            }
            for core in cores
        ],
    }


def _part(part: Any) -> Part:
    figures = {}
    for name, (read, keys) in FIGURES.items():
        value = part
        for key in keys:
            value = member(value, key)
        shown = {"compare": read(value), "baseline": 0, "diff": 0}
        figures[name] = {"value": shown, "level": 0}
    return Part(text(member(part, "subcore_type")), _count(member(part, "subcore_id")), figures)


def _in_pairs(cores: list[Core]) -> list[Core]:
    """Two vector cores at a time, by number, as one; of each the first part counts."""
    ordered = sorted(cores, key=lambda core: core.core_id)
    pairs = [ordered[start : start + 2] for start in range(0, len(ordered), 2)]
    return [
        Core(
            number,
            [core.parts[0]._replace(number=at) for at, core in enumerate(pair) if core.parts],
        )
        for number, pair in enumerate(pairs)
    ]


def _set_levels(parts: list[Part]) -> None:
    """How far each figure lies from the mean of its kind, as a level 0 to 9.

    The tenth of the logistic function of the distance in sample standard deviations; sums are
    exact, so that a figure that is the mean gets level 5.
    """
    alike: dict[tuple[str, str], list[Body]] = defaultdict(list)
    for part in parts:
        for name in FIGURES.keys() - {WITHOUT_LEVEL}:
            alike[part.kind, name].append(part.figures[name])
    for figures in alike.values():
        values = [Fraction(figure["value"]["compare"]) for figure in figures]
        mean = sum(values, Fraction(0)) / len(values)
        squares = sum(((value - mean) ** 2 for value in values), Fraction(0))
        deviation = math.sqrt(squares / max(len(values) - 1, 1))
        if deviation >= SMALLEST_DEVIATION:
            for figure, value in zip(figures, values, strict=True):
                distance = min(max(float(value - mean) / deviation, -STEEPEST), STEEPEST)
                figure["level"] = min(int(1 / (1 + math.exp(-distance)) * 10), MAX_LEVEL)


def _compare(cores: list[Body], baseline: list[Body]) -> None:
    """Adds the baseline to each part that both have. Lists keep one entry of each name."""
    others = {core["coreId"]: core for core in baseline}
    cores[:] = {core["coreId"]: core for core in cores}.values()
    for core in (core for core in cores if core["coreId"] in others):
        base = {part["subCoreName"]: part for part in others[core["coreId"]]["subCoreDetails"]}
        parts = {part["subCoreName"]: part for part in core["subCoreDetails"]}
        core["subCoreDetails"] = list(parts.values())
        for name in parts.keys() & base.keys():
            for figure in FIGURES:
                value = parts[name][figure]["value"]
                value["baseline"] = base[name][figure]["value"]["compare"]
                value["diff"] = value["compare"] - value["baseline"]
