"""``hccl_raw`` of the time line that msprof exports."""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter, itemgetter
from typing import Any, TypeAlias

import numpy as np

from ..scopes import Event
from .documents import is_number
from .exported import TO_MS
from .exported_steps import Iterations, exported_iterations, of_graphs
from .exported_timeline import exported_events
from .hccl import TABLE
from .hccl_links import LOCAL, MOVES, PER_MS, RDMA, RECORD, SDMA, ranks_of, transfers_in
from .operator import last_part
from .run import Run
from .step_rows import AVERAGE
from .tables import write_rows

PROCESSES = ("HCCL", "Communication")
"""The process of collectives, and what exports call it today, in which parsers of the day find
none.
"""

WAITING = "Notify_Wait"
"""Name of the events of waiting; their task type has a blank."""

Values: TypeAlias = list[float]


@dataclass(frozen=True)
class _Event:
    """A collective, or a part of one: then with a task. Times in us. ``size``: Byte."""

    model: int
    step: int
    name: str
    thread: int
    start: float
    duration: float
    task: str
    transport: str
    link: str
    size: int


def write_exported_communication(run: Run) -> None:
    """Write the steps, where the time line has collectives of a graph."""
    events, found = exported_events(run), exported_iterations(run)
    if events is None or found is None:
        return
    rows = table_of(list(_collectives(events, of_graphs(run, found))))
    path = run.path(TABLE) if rows else None
    if path is not None:
        header = [one.name for one in run.columns(TABLE)]
        write_rows(run, path, [header, *rows])


def table_of(events: Sequence[_Event]) -> list[Sequence[object]]:
    """The rows of steps. The last one, of the average, is the last step once more."""
    found: list[tuple[int, float, float, Any, dict[str, list[Any]]]] = []
    for (_, step), some in _by(events, attrgetter("model", "step")):
        every = sorted((one for one in some if not one.task), key=attrgetter("start"))
        parts = sorted((one for one in some if one.task), key=attrgetter("start"))
        starts = [one.start for one in every]
        owners = [
            last_part(every[bisect_right(starts, one.start) - 1].name) if every else ""
            for one in parts
        ]
        own = [(owner, one) for owner, one in zip(owners, parts, strict=True) if one.task != RECORD]
        operators = {
            owner: [str(step), *_costs(some), _links(some)]
            for owner, pairs in _by(own, itemgetter(0))
            for some in [[one for _, one in pairs]]
        }
        found.append((step, *_costs(parts), _links([one for _, one in own]), operators))
    found.sort(key=lambda one: one[0])
    rows: list[Sequence[object]] = [
        (step, cost, wait, json.dumps(links), json.dumps(operators))
        for step, cost, wait, links, operators in found
    ]
    if found:
        _, cost, wait, links, operators = found[-1]
        marked = {name: [AVERAGE, *one[1:]] for name, one in operators.items()}
        rows.append((AVERAGE, cost, wait, json.dumps(links), json.dumps(marked)))
    return rows


def _collectives(events: Sequence[Event], steps: Iterations) -> Iterable[_Event]:
    process = next((one.get("pid") for one in events if _is_process(one)), None)
    own: dict[int, list[tuple[int, float]]] = {}
    for model, step, end in zip(
        steps.model.tolist(), steps.step.tolist(), steps.times["end"].tolist(), strict=True
    ):
        own.setdefault(model, []).append((step, end))
    for some in own.values():
        some.sort(key=itemgetter(0))
    for one in events:
        args = one.get("args")
        if process is None or one.get("pid") != process or one.get("ph") != "X":
            continue
        args = args if isinstance(args, dict) else {}
        model = args.get("model id")
        if not isinstance(model, int) or model not in own:
            continue
        try:
            start, duration = float(one["ts"]), float(one["dur"])
            size = args.get("size(Byte)", 0)
            size = size if _is_whole(size) else int(size, 16)
        except (KeyError, TypeError, ValueError, OverflowError):
            continue
        if not all(map(is_number, (start, duration, size))):
            continue
        at = bisect_left(own[model], (start + duration) * TO_MS, key=itemgetter(1))
        if at < len(own[model]):
            task, transport = (str(args.get(key, "")) for key in ("task type", "transport type"))
            name, link = str(one.get("name")), _ranks(args, transport)
            thread = one["tid"] if _is_whole(one.get("tid")) else 0
            yield _Event(
                *(model, own[model][at][0], name, thread, start, duration),
                task,
                transport,
                link,
                size,
            )


def _is_process(one: Event) -> bool:
    args = one.get("args")
    is_name = one.get("ph") == "M" and one.get("name") == "process_name"
    return is_name and isinstance(args, dict) and args.get("name") in PROCESSES


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _ranks(args: Any, transport: str) -> str:
    source, target = ranks_of(args.get("src rank", 0), args.get("dst rank", 0))
    return f"{target}-{source}" if transport == LOCAL else f"{source}-{target}"


def _by(items: Iterable[Any], key: Callable[[Any], Any]) -> list[tuple[Any, list[Any]]]:
    """Items by a key, in order of keys."""
    found: dict[Any, list[Any]] = {}
    for one in items:
        found.setdefault(key(one), []).append(one)
    return sorted(found.items())


def _costs(parts: Sequence[_Event]) -> tuple[float, float]:
    """us of what is no waiting, and of waiting."""
    is_wait = [one.name == WAITING for one in parts]
    transfers = [one.duration for one, wait in zip(parts, is_wait, strict=True) if not wait]
    waits = [one.duration for one, wait in zip(parts, is_wait, strict=True) if wait]
    return float(np.sum(transfers)), float(np.sum(waits))


def _kinds(parts: Sequence[_Event]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for transport, some in _by(parts, attrgetter("transport")):
        if transport == SDMA:
            found[SDMA] = _sdma(some)
        elif transport == RDMA:
            found[RDMA] = _rdma(some)
    return found


def _links(parts: Sequence[_Event]) -> dict[str, dict[str, Any]]:
    return {link: _kinds(some) for link, some in _by(parts, attrgetter("link"))}


def _sdma(parts: Sequence[_Event]) -> Values:
    moves = [one for one in parts if one.task in MOVES]
    time = float(np.sum([one.duration for one in moves])) * TO_MS
    size = float(np.sum([one.size for one in moves])) * TO_MS
    return [time, size, size / time * TO_MS if time else 0]


def _rdma(parts: Sequence[_Event]) -> Any:
    """Of one thread its values in a list, of several their sum."""
    found: list[Values] = []
    for _, some in _by(parts, attrgetter("thread")):
        time, wait, size = (one / PER_MS for one in transfers_in(some))
        found.append([time, size, size / (time / PER_MS) if size and time else 0, wait])
    if len(found) > 1:
        added: Values = np.sum(found, axis=0).tolist()
        return added
    return found
