"""Tasks: what ran on the devices, joined with what the host launched (raw-prof 7.1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ascend_ref.capture import Integers, Tasks, Texts
from ascend_ref.capture.model import NONE
from ascend_ref.derive.matching import counterparts, distinct, groups, ranks

from ..task_kinds import FFTS_PLUS, entry_name, has_whole_numbers, sub_task_name
from ..vocabulary import level
from .calls import Calls
from .launches import Launches
from .logs import Runs


@dataclass(frozen=True)
class Launched:
    """Tasks of a capture, and for each of them its launch: a row of the launches, NONE for none."""

    tasks: Tasks
    launch: Integers


def join_tasks(
    runs: Runs, launches: Launches, calls: Calls, chip: int | None, texts: Texts
) -> Launched:
    """All tasks in order of start, those that nobody launched as well.

    Of several launches with the numbers of one task the n-th belongs to its n-th run.
    """
    launch = _launches_of(runs, launches, chip)
    known = launch >= 0
    at = np.where(known, launch, 0)
    stream = runs.stream
    connection = np.full(len(runs.start), NONE)
    model = np.full(len(runs.start), NONE)
    moment = np.full(len(runs.start), np.iinfo(np.int64).max)
    if len(launches.moment):
        stream = np.where(runs.stream >= 0, runs.stream, np.where(known, launches.stream[at], NONE))
        rows = np.where(known, launches.call[at], NONE)
        connection = calls.connections(_owners(calls, rows))
        of_model = calls.tree.up_to(rows, level("MODEL"))
        found = of_model >= 0
        model[found] = calls.item[calls.tree.place[of_model[found]]].astype(np.int64)
        moment = np.where(known, launches.moment[at], moment)
    order = np.lexsort((runs.context, runs.start, moment))
    identity = np.empty(len(order), np.int64)
    identity[order] = np.arange(len(order))
    tasks = Tasks(
        start=runs.start,
        end=runs.end,
        device=runs.device,
        stream=stream,
        number=runs.number,
        context=runs.context,
        model=model,
        connection=connection,
        identity=identity,
        kind=_kinds(runs, launches, launch, chip, texts),
    )
    return Launched(tasks, launch)


def _launches_of(runs: Runs, launches: Launches, chip: int | None) -> Integers:
    count = len(launches.moment)
    whole = ("device", "number")
    names = whole if has_whole_numbers(chip) else ("device", "stream", "number", "batch")
    keys = [np.concatenate([getattr(launches, one), getattr(runs, one)]) for one in names]
    _, group = groups(*keys)
    wanted = group[count:]
    _, part = groups(wanted, runs.context)
    return counterparts(wanted, ranks(part), group[:count], keep_last=True)


def _owners(calls: Calls, rows: Integers) -> Integers:
    """The calls that tasks name: those of communication the node that they are part of."""
    tree = calls.tree
    inner = tree.levels(rows) == level("HCCL_NODE")
    node = tree.up_to(np.where(inner, rows, NONE), level("NODE"))
    return np.where(inner & (node >= 0), node, rows)


def _kinds(
    runs: Runs, launches: Launches, launch: Integers, chip: int | None, texts: Texts
) -> Integers:
    """What the runtime calls a task; what the scheduler does, where that is all that is known."""
    host = np.full(len(launch), NONE)
    known = launch >= 0
    host[known] = launches.kind[launch[known]]
    is_part = runs.context >= 0
    of_runs = np.where(host_shows(launches, host), NONE, runs.kind)
    pairs, place = distinct(host, of_runs, is_part)
    found = []
    for of_host, of_device, part in pairs:
        if of_device == NONE:
            name = launches.names[of_host]
        elif part:
            name = sub_task_name(of_device)
        else:
            name = str(of_device) if chip is None else entry_name(of_device, chip)
        found.append(texts.number(name))
    return np.array(found, np.int64)[place]


def host_shows(launches: Launches, host: Integers) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which numbers of kinds exporters show as the runtime calls them."""
    hidden = [NONE, *(one for one, name in launches.names.items() if name == FFTS_PLUS)]
    return ~np.isin(host, hidden)
