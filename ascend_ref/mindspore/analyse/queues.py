"""The analyser of the queues of the data pipeline."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ascend_ref.raw.damage import Damage
from ascend_spec import mindspore_catalog

from .files import Folder

FETCHES = ("minddata_aicpu", "minddata_getnext_profiling")
QUEUES = ("device_queue_profiling", "dataset_iterator_profiling")
THOUSANDS = {"minddata_aicpu": 1, "minddata_getnext_profiling": 2}
"""How often times of fetches are divided by 1,000 to be ms: us of an Ascend device, ns of a GPU.

One division by a million gives other digits than the viewer has.
"""

TIME, LENGTH = "0", "1"
TIMES = {"0": "get_cost", "1": "push_cost", "2": "total_cost"}


def answer_queues(folder: Folder) -> dict[str, Any]:
    """Lengths and times of both ends of the queue, and which end is slow."""
    fetches, queue = fetched(folder), filled(folder)
    queues = {"get_next": fetches["queue"], "device_queue": queue["queue"]}
    times = {"get_next": fetches["time"], "device_queue": queue["time"]}
    status = statuses(fetches["queue"], queue["queue"])
    return {"queue": queues, "time": times, "summary": status}


def fetched(folder: Folder) -> dict[str, dict[str, Any]]:
    """What the operator that fetches the data found: lengths of the queue, times in ms."""
    found = folder.first(FETCHES)
    if found is None:
        return {"queue": {}, "time": {}}
    table, path = found
    lengths, times = [], []
    for number, line in enumerate(folder.lines(table), 1):
        if not line or not line[0].startswith("GetNext"):
            continue
        try:
            length = int(line[3]) if len(line) > 3 else None
            time = _number(line[2]) - _number(line[1]) if len(line) > 2 else None
        except ValueError:
            folder.damage.append(Damage(path, f"line {number}: no numbers", kind=table))
            continue
        if length is not None:
            lengths.append(length)
        if time is not None:
            for _ in range(THOUSANDS[table]):
                time /= 1e3
            times.append(time)
    average = {"avg_cost": _mean(times)} if times else {}
    return {
        "queue": _queue(lengths, {"empty_queue": lengths.count(0)}),
        "time": _time({"get_next": times}, len(times), average),
    }


def filled(folder: Folder) -> dict[str, dict[str, Any]]:
    """How the queue to the device was filled: lengths, times in ms by what they are of."""
    found = folder.first(QUEUES)
    if found is None:
        return {"queue": {}, "time": {}}
    table, path = found
    lengths: list[tuple[int, int]] = []
    times: dict[str, list[tuple[int, float]]] = {name: [] for name in TIMES.values()}
    full = 0
    for number, line in enumerate(folder.lines(table), 1):
        try:
            if len(line) > 3 and line[0] == TIME and line[1] in TIMES:
                times[TIMES[line[1]]].append((int(line[2]), _number(line[3])))
            elif len(line) > 3 and line[0] == LENGTH:
                lengths.append((int(line[2]), int(line[3])))
                full += line[1] == line[3]
        except ValueError:
            folder.damage.append(Damage(path, f"line {number}: no numbers", kind=table))
    size = len(times["total_cost"])
    sums = {name: sum(time for _, time in ones) for name, ones in times.items()}
    names = {"avg_cost": "total_cost", "get_cost": "get_cost", "push_cost": "push_cost"}
    averages = {name: sums[of] / size for name, of in names.items()} if size else {}
    in_order = {name: _by_step(times[name]) for name in ("total_cost", "push_cost", "get_cost")}
    ordered = _by_step(lengths)
    return {
        "queue": _queue(ordered, {"empty_queue": ordered.count(0), "full_queue": full}),
        "time": _time(in_order, size, averages),
    }


def statuses(fetches: Mapping[str, Any], queue: Mapping[str, Any]) -> dict[str, Any]:
    """Which of data processing and its transmission is slow; nothing without a filled queue."""
    if not queue:
        return {}
    names = ["data_process", "device_queue_warning", "data_transmission", "get_next"]
    names = names if fetches else [*names[:2], "fpbp"]
    status: dict[str, Any] = {name: {"status": "normal"} for name in names}
    counts = queue["summary"]["queue_summary"]
    status["device_queue_info"] = {
        "summary": {
            "empty_batch_count": counts["empty_queue"],
            "full_batch_count": counts["full_queue"],
            "total_batch": queue["size"],
        }
    }
    waited = 0
    if fetches:
        waited = fetches["summary"]["queue_summary"]["empty_queue"]
        summary = {"empty_batch_count": waited, "total_batch": fetches["size"]}
        status["get_next_queue_info"] = {"summary": summary}
    rule = mindspore_catalog().proposals["empty_queue"]
    if counts["empty_queue"] > queue["size"] * (rule.thresholds["empty_warning_threshold"] / 100):
        slow = "data_process"
    else:
        slow = "data_transmission" if waited else "device_queue_warning"
    status[slow]["status"] = "warning"
    return status


def _queue(lengths: Sequence[int], counts: Mapping[str, int]) -> dict[str, Any]:
    return {
        "size": len(lengths),
        "info": {"queue": list(lengths)},
        "summary": {"queue_summary": dict(counts)},
    }


def _time(info: Mapping[str, Any], size: int, averages: Mapping[str, Any]) -> dict[str, Any]:
    answer: dict[str, Any] = {"size": size, "info": dict(info)}
    if averages:
        answer["summary"] = {"time_summary": dict(averages)}
    return answer


def _by_step(values: Iterable[tuple[int, Any]]) -> list[Any]:
    return [value for _, value in sorted(values, key=lambda one: one[0])]


def _number(text: str) -> float:
    """A number of a file. Raises ``ValueError`` also for what is not finite."""
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(text)
    return number


def _mean(numbers: Sequence[float]) -> str:
    """As text, which is how the viewer has it."""
    return str(sum(numbers) / len(numbers))
