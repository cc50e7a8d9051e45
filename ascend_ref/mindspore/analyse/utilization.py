"""The analyser of CPUs: how busy they were with the data pipeline, step by step."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import Any

from ascend_ref.raw.damage import Damage

from .condition import Condition
from .files import Folder
from .queues import LENGTH, QUEUES
from .ranks import mapping
from .steps import HEADER_AND_AVERAGE
from .steps import TABLE as STEPS

TABLE = "minddata_cpu_utilization"
PIPELINE = "minddata_pipeline_raw"
OF_NONE = "-1"
"""Operator that stands for what belongs to no operator of the pipeline."""

IDLE = 100
LARGEST = 1e300


def answer_utilization(folder: Folder, condition: Condition) -> dict[str, Any]:
    """Percentages of each sample and their averages: of the machine, the process, each operator."""
    document = mapping(folder.document(TABLE))
    if not document:
        return {}
    if not _is_sound(document):
        path = folder.find(TABLE) or folder.path
        folder.damage.append(Damage(path, "samples that are no lists of numbers", kind=TABLE))
        return {}
    samples = _list(document.get("time_stamp"))[1:]
    starts = _starts(folder)
    times = [time for _, time in starts]
    steps = [_step_of(float(one), starts, times) for one in samples] if starts else []
    total = len(starts) or max(len(folder.rows(STEPS)) - HEADER_AND_AVERAGE, 0)
    first = condition.switch("start_step")
    last = condition.switch("end_step")
    kept = _kept(steps, first, total if last is None else last)
    operators = _list(document.get("op_info"))
    workers = _workers(folder)
    listed = [
        _operator(one, kept, workers) for one in operators if str(one.get("op_id")) != OF_NONE
    ]
    sums = {
        key: sum(one["metrics"].get(key, {}).get("avg_value", 0) for one in listed)
        for key in ("user_utilization", "sys_utilization")
    }
    return {
        "sampling_interval": document.get("sampling_interval"),
        "step_info": steps[kept],
        "step_total_num": total,
        "cpu_processor_num": document.get("cpu_processor_num"),
        "device_info": _averages(document.get("device_info"), kept),
        "process_info": _averages(document.get("process_info"), kept),
        "op_info": {"op_list": listed, "total_op_avg_value": sums},
    }


def _is_sound(document: Mapping[str, Any]) -> bool:
    """Whether what must be lists of numbers is."""
    operators = document.get("op_info") or []
    if not isinstance(operators, list):
        return False
    metrics = [one.get("metrics") if isinstance(one, Mapping) else one for one in operators]
    groups = [document.get("device_info"), document.get("process_info"), *metrics]
    lists = [document.get("time_stamp") or []]
    for group in groups:
        if not isinstance(group, Mapping | None):
            return False
        lists += (group or {}).values()
    return all(isinstance(one, list) and all(map(_is_number, one)) for one in lists)


def _is_number(value: Any) -> bool:
    """Whether a value is a number of which sums can be made."""
    return isinstance(value, int | float) and abs(value) < LARGEST


def idle_part(answer: Mapping[str, Any]) -> float:
    """The average percentage in which the machine was idle; all where it is not known."""
    found = mapping(mapping(answer.get("device_info")).get("idle_utilization"))
    return float(found["avg_value"]) if found.get("metrics") else IDLE


def _starts(folder: Folder) -> list[tuple[str, float]]:
    """Steps with the times at which the length of the queue was taken; the first one is 1."""
    found = folder.first(QUEUES)
    lines = [] if found is None else [one for one in folder.lines(found[0]) if one]
    try:
        before = int(lines[0][2]) - 1 if lines and len(lines[0]) > 2 else 0
        return [
            (str(int(line[2]) - before), float(line[4]))
            for line in lines
            if line[0] == LENGTH and len(line) > 4
        ]
    except ValueError as error:
        path = folder.path if found is None else found[1]
        folder.damage.append(Damage(path, str(error), kind=TABLE))
        return []


def _step_of(time: float, starts: Sequence[tuple[str, float]], times: Sequence[float]) -> str | int:
    """The step in which a sample was taken; 0 before the first. times: those of the starts."""
    if time < times[0]:
        return 0
    place = bisect_left(times, time)
    if place < len(times) and times[place] == time:
        return starts[place][0]
    return starts[max(place - 1, 0)][0]


def _kept(steps: Sequence[str | int], first: int, last: int) -> slice:
    """The samples of some steps, all where steps are not known."""
    inside = [place for place, one in enumerate(steps) if first <= int(one) <= last]
    if not steps:
        return slice(None)
    return slice(inside[0], inside[-1] + 1) if inside else slice(0, 0)


def _workers(folder: Folder) -> dict[str, int | None]:
    """Workers by operator; of several rows of one the first counts."""
    cells = folder.cells(PIPELINE)
    if cells is None or not {"op_id", "num_workers"} <= cells.columns.keys():
        return {}
    found: dict[str, int | None] = {}
    columns = (cells.columns[name].to_pylist() for name in ("op_id", "num_workers"))
    for operator, text in zip(*columns, strict=True):
        found.setdefault(operator, int(text) if text.isdecimal() else None)
    return found


def _operator(
    operator: Mapping[str, Any], kept: slice, workers: Mapping[str, int | None]
) -> dict[str, Any]:
    return {
        "metrics": _averages(operator.get("metrics"), kept),
        "op_id": operator.get("op_id"),
        "num_workers": workers.get(str(operator.get("op_id"))),
    }


def _averages(lists: Any, kept: slice) -> dict[str, Any]:
    found = {}
    for name, numbers in mapping(lists).items():
        values = _list(numbers)[kept]
        average = round(sum(values) / len(values)) if values else 0
        found[name] = {"metrics": values, "avg_value": average}
    return found


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
