"""``hccl_raw``: communication at each step, of traces of its operators."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from ascend_ref.raw.damage import Damage, Damaged, few
from ascend_spec import mindspore_catalog
from ascend_spec.mindspore import TICKS

from ..folder import HCCL, OPERATOR, STEPS, tables_of
from .documents import Malformed, is_number, read_document
from .hccl_links import Cost, Event, Links, LinkWays, added, averaged, cost_of, merged
from .operator import last_part
from .run import Run
from .step_rows import AVERAGE
from .tables import write_rows

KIND = "hccl_trace"
TABLE = "hccl_raw"

FIRST_REDUCTION = 9
"""Where columns of reductions begin; each has three."""

Row: TypeAlias = tuple[str, float, float, Links]
"""Step, cost, wait, links."""


@dataclass(frozen=True, slots=True)
class StepTimes:
    """Number, start and end of each step in us, and the columns of lengths of reductions."""

    steps: Sequence[tuple[str, float, float]]
    reductions: Sequence[str]

    def hold(self, time: float) -> bool:
        """Whether a time lies between the first start and the last end."""
        return self.steps[0][1] <= time <= self.steps[-1][2]

    def at(self, time: float) -> str | None:
        """The step at a time; of several the last, ``None`` where there is none between two."""
        if time < self.steps[0][1]:
            return "1"
        if self.steps[-1][2] < time:
            return self.steps[-1][0]
        found = [number for number, start, end in self.steps if start <= time < end]
        return found[-1] if found else None


def write_hccl(run: Run) -> None:
    """Write the steps, where there are traces and ``step_trace_raw``."""
    slices = run.slices(KIND)
    if slices is None or not run.reads(KIND) or _are_of_another(run, slices[0].path):
        return
    source = _steps_file(run)
    times = None if source is None else steps_in(source)
    if times is None:
        text = f"no {STEPS} with a step, by which the steps of traces are found"
        run.damage.append(Damage(slices[0].path.parent.parent, text, kind=KIND))
        return
    ways = LinkWays(
        *(run.way(f"hccl_{one}") for one in ("transfers", "bandwidth", "ranks", "costs"))
    )
    found: dict[str, list[Row]] = {}
    with few(run.damage) as stated:
        for one in slices:
            operator = dict(one.parts)[OPERATOR]
            if run.way("hccl_folders") == "of-device" and not operator.endswith(run.capture.device):
                continue
            rows = found.setdefault(operator, [])
            rows += _read(one.path, times, ways, stated)
    names = names_of(list(found), times.reductions, run.way("hccl_names"))
    order = run.way("hccl_step_order")
    operators = {names.get(one, one): by_step(rows, order) for one, rows in found.items()}
    path = run.path(TABLE)
    if path is not None:
        header = [one.name for one in run.columns(TABLE)]
        write_rows(run, path, [header, *table_of(operators, order, run.way("hccl_averages"))])


def table_of(
    operators: Mapping[str, Sequence[Row]], order: str, averages: str
) -> Iterator[Sequence[object]]:
    """The rows of steps and their average. ``order``, ``averages``: the ways of hccl_step_order and
    hccl_averages.
    """
    steps = by_step([row for rows in operators.values() for row in rows], order)
    of_steps: dict[str, dict[str, Row]] = {}
    for name, rows in operators.items():
        for row in rows:
            of_steps.setdefault(row[0], {})[name] = row
    for step, cost, wait, links in steps:
        yield step, cost, wait, json.dumps(links), json.dumps(of_steps[step])
    if not steps:
        return
    mark = [AVERAGE] if averages == "json" else []
    every = {name: [*mark, *average_of(rows)] for name, rows in operators.items() if rows}
    cost, wait, links = average_of(steps)
    yield AVERAGE, cost, wait, json.dumps(links), json.dumps(every) if mark else every


def by_step(rows: Iterable[Row], order: str) -> list[Row]:
    """One row for each step, with what is added of all of it. ``order``: way of hccl_step_order."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row[0], []).append(row)
    steps = sorted(found, key=int) if order == "as-numbers" else sorted(found)
    return [
        (
            step,
            sum(row[1] for row in found[step]),
            sum(row[2] for row in found[step]),
            merged([row[3] for row in found[step]], added),
        )
        for step in steps
    ]


def average_of(rows: Sequence[Row]) -> tuple[float, float, Links]:
    """The means of costs, waits and links."""
    return (
        sum(row[1] for row in rows) / len(rows),
        sum(row[2] for row in rows) / len(rows),
        merged([row[3] for row in rows], averaged),
    )


def names_of(folders: Sequence[str], columns: Sequence[str], way: str) -> Mapping[str, str]:
    """What operators are called in ``step_trace_raw``, by their folders: those of a type in the
    order of their numbers. ``way``: of hccl_names.
    """
    if way == "folder":
        return {}
    reductions: dict[str, list[str]] = {}
    for column in columns:
        found = _type_of(column, way)
        if found is not None:
            reductions.setdefault(found, []).append(column)
    names: dict[str, str] = {}
    for kind in dict.fromkeys(one.split("_")[0] for one in folders):
        own = [one for one in folders if one.split("_")[0] == kind]
        for found, columns_of in reductions.items():
            type_of = found.split("/")[-1] if way == "step-trace-scope" else found
            if type_of.lower() == kind.lower():
                names |= dict(zip(sorted(own, key=_number), columns_of, strict=False))
    return names


def steps_in(path: Path) -> StepTimes | None:
    """The steps of a file; ``None`` where there are none."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    steps = [
        (row[0], float(row[1]) / TICKS, float(row[2]) / TICKS) for row in rows if _is_step(row)
    ]
    return StepTimes(steps, rows[0][FIRST_REDUCTION::3]) if steps else None


def events_of(document: Any) -> tuple[float, list[Event]]:
    """The time of the first event, and all of them. Raises :class:`Malformed`."""
    events = document.get("traceEvents") if isinstance(document, dict) else None
    if not isinstance(events, list) or not events:
        raise Malformed("traceEvents is no list of events")
    time = events[0].get("ts", 0) if isinstance(events[0], dict) else None
    if time is None or not is_number(time):
        raise Malformed(f"traceEvents[0].ts is {time!r}")
    return time, [_event(one, f"traceEvents[{number}]") for number, one in enumerate(events)]


def _read(path: Path, times: StepTimes, ways: LinkWays, damage: Damaged) -> Iterator[Row]:
    def taken(document: Any) -> tuple[float, Cost]:
        time, events = events_of(document)
        return time, cost_of(events, ways)

    found = read_document(path, taken, damage)
    if found is None:
        return
    time, cost = found
    step = times.at(time)
    if step is None:
        damage.append(Damage(path, f"at {time} us there is no step"))
    else:
        yield step, *cost


def _steps_file(run: Run) -> Path | None:
    """That of the run, or one next to the traces."""
    made = run.made(STEPS)
    if made is not None:
        return made
    name = mindspore_catalog().tables[STEPS].name_on(run.day)
    there = None if name is None else run.capture.path / name.of(device=run.capture.device)
    return there if there is not None and there.is_file() else None


def _are_of_another(run: Run, trace: Path) -> bool:
    """Whether traces whose folder names no device lie in the steps of another device alone."""
    named = HCCL.fullmatch(trace.parent.parent.name)
    if named is None or named[1] is not None:
        return False
    found = read_document(trace, lambda document: events_of(document)[0], [])
    steps = {device: steps_in(path) for device, path in tables_of(STEPS, run.capture.path).items()}
    holding = [device for device, times in steps.items() if found and times and times.hold(found)]
    return bool(holding) and run.capture.device not in holding


def _is_step(row: Sequence[str]) -> bool:
    return len(row) > 2 and all(one.isdecimal() for one in row[:3])


def _type_of(column: str, way: str) -> str | None:
    if way == "step-trace-last":
        return last_part(column).partition("-")[0].rpartition("_")[2]
    parts = column.split("_")
    return parts[3].split("-")[0] if len(parts) > 3 else None


def _number(folder: str) -> int:
    parts = folder.split("_")
    return int(parts[1]) if len(parts) > 1 and parts[1].isdecimal() else 0


def _event(value: Any, place: str) -> Event:
    if not isinstance(value, dict) or not isinstance(value.get("args"), dict):
        raise Malformed(f"{place} is no event with args")
    args = value["args"]
    duration = value.get("dur", 0)
    if not is_number(duration):
        raise Malformed(f"{place}.dur is {duration!r}")
    ranks = args.get("src rank"), args.get("dst rank")
    link = None if None in ranks else (int(ranks[0]), int(ranks[1]))
    size = args.get("size") or 0
    return Event(
        value.get("tid"),
        duration,
        args.get("task type"),
        args.get("transport type"),
        link,
        size if isinstance(size, int) else int(size, 16),
    )
