"""Time lines of several ranks, shifted so that operators which they run together end together."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ascend_spec import mindspore_catalog

from .condition import Condition, WrongCondition
from .files import Folder
from .ranks import absent, number

TABLE = "ascend_timeline_display"
ANALYSER, DEVICES = "timeline", "device_list"
FIRST = 1
"""The step by which ranks are aligned."""


def _in_names(kind: str) -> Sequence[str]:
    return mindspore_catalog().analysers[ANALYSER].in_names[kind]


def _has(name: str, texts: Iterable[str]) -> bool:
    return any(one in name for one in texts)


@dataclass(frozen=True, slots=True)
class Operator:
    """One run of an operator. Times are in us."""

    name: str
    start: float
    length: float

    @property
    def end(self) -> float:
        """When it ended."""
        return self.start + self.length


@dataclass(slots=True)
class Line:
    """The time line of a rank. ``steps``: start and length of each by its number."""

    device: str
    operators: Sequence[Operator]
    steps: Mapping[str, tuple[float, float]]
    shift: float = 0.0

    def first_step(self) -> list[Operator]:
        """The operators that begin behind the start of the first step; all where there is none."""
        start, length = self.steps.get(str(FIRST), (0.0, math.inf))
        return [one for one in self.operators if start < one.start < start + length]

    def of_step(self, step: int) -> dict[str, dict[str, float]]:
        """Of each operator that begins in a step, or runs when it begins, the last run."""
        start, length = self.steps[str(step)]
        return {
            one.name: {
                "st": one.start + self.shift,
                "ed": one.end + self.shift,
                "dur": one.length,
            }
            for one in self.operators
            if start <= one.start < start + length or one.start < start < one.end
        }


def answer_aligned(folder: Folder, condition: Condition) -> dict[str, Any]:
    """Operators of a step by rank, and by stage what its ranks have in common.

    Raises :class:`WrongCondition` for a step that no rank has.
    """
    lines = [_line(one) for one in _wanted(folder, condition.switch(DEVICES))]
    step = condition.switch("step")
    stages = _align(lines)
    maps: dict[str, dict[str, dict[str, float]]] = {}
    for one in lines:
        if str(step) in one.steps:
            maps[f"device{one.device}"] = one.of_step(step)
        else:
            absent(folder.of_rank(one.device), TABLE, f"no step {step}")
    if lines and not maps:
        raise WrongCondition(f"step: no rank has step {step}", "step")
    times = [one for of_rank in maps.values() for one in of_rank.values()]
    return {
        "maps": maps,
        "minT": min((one["st"] for one in times), default=None),
        "maxT": max((one["ed"] for one in times), default=None),
        "stage_data": {
            f"stage{place}": {
                "data": _in_common(maps[one] for one in names if one in maps),
                "devices": names,
            }
            for place, names in enumerate(
                [f"device{one.device}" for one in stage]
                for stage in sorted(stages, key=lambda stage: int(stage[0].device))
            )
        },
    }


def _wanted(folder: Folder, devices: Sequence[str] | None) -> Iterator[Folder]:
    if devices is None:
        switches = mindspore_catalog().analysers[ANALYSER].switches
        (most,) = (one.most for one in switches if one.name == DEVICES)
        yield from folder.of_ranks(TABLE)[:most]
        return
    for device in dict.fromkeys(devices):
        one = folder.of_rank(device)
        if one.find(TABLE) is None:
            absent(one, TABLE)
        else:
            yield one


def _line(folder: Folder) -> Line:
    document = folder.document(TABLE)
    if not isinstance(document, list | None):
        absent(folder, TABLE, "is no list of JSON")
    operators: list[Operator] = []
    steps: dict[str, tuple[float, float]] = {}
    bad = 0
    shown, never = _in_names("operators"), _in_names("never")
    for event in document if isinstance(document, list) else ():
        name = event.get("name") if isinstance(event, Mapping) else None
        if not isinstance(name, str) or not {"ts", "dur", "tid"} <= event.keys():
            continue
        is_operator = _has(name, shown) and not _has(name, never)
        if not (is_operator or name.isdecimal()):
            continue
        start, length = number(event["ts"]), number(event["dur"])
        if start is None or length is None:
            bad += 1
        elif is_operator:
            operators.append(Operator(name, start, length))
        else:
            steps.setdefault(name, (start, length))
    if bad:
        absent(folder, TABLE, f"{bad:,} events whose ts or dur is no number")
    return Line(folder.device, operators, steps)


def _align(lines: Sequence[Line]) -> list[list[Line]]:
    """Shift each rank so that it ends the first operator that it runs together with others when
    the first of these does. Returns the ranks of each stage; those that run none with others are
    in the next stage.
    """
    steps = {one.device: one.first_step() for one in lines}
    aligning = _in_names("together")
    stages: list[list[Line]] = []
    stage: list[Line] = []
    placed: set[str] = set()
    for one in lines:
        if one.device in placed:
            continue
        placed.add(one.device)
        stage.append(one)
        together = [run for run in steps[one.device] if _has(run.name, aligning)]
        if not together:
            continue
        first = min(together, key=lambda run: run.start)
        for other in lines:
            if other.device in placed:
                continue
            same = next((run for run in steps[other.device] if run.name == first.name), None)
            if same is not None:
                placed.add(other.device)
                other.shift = first.end - same.end
                stage.append(other)
        stages.append(stage)
        stage = []
    return [*stages, stage] if stage else stages


def _in_common(maps: Iterable[Mapping[str, Mapping[str, float]]]) -> dict[str, dict[str, float]]:
    """Of each operator the least, greatest and mean start and end of some ranks."""
    runs: dict[str, list[Mapping[str, float]]] = {}
    for of_rank in maps:
        for name, run in of_rank.items():
            runs.setdefault(name, []).append(run)
    return {
        name: {
            f"{end}_{kind}": by([one[end] for one in found])
            for end in ("st", "ed")
            for kind, by in (("max", max), ("min", min), ("avg", _mean))
        }
        | {"n": len(found)}
        for name, found in runs.items()
    }


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
