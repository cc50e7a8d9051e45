"""Tasks: what ran on the devices, joined with what the host launched (raw-prof 7.1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ascend_ref.capture import Integers, Tasks, Texts
from ascend_ref.capture.model import NONE
from ascend_ref.derive.matching import distinct
from ascend_ref.spill import Spill, counterparts, sorted_rows

from ..task_kinds import FFTS_PLUS, entry_name, has_whole_numbers, sub_task_name
from ..vocabulary import level
from .calls import Calls
from .launches import Launches
from .logs import Runs
from .session import Session

LAUNCHES = "TASK of the host"
"""The origin of what the host states of tasks."""

_LAST = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Launched:
    """Tasks of a capture, and for each of them its launch: a row of the launches, NONE for none."""

    tasks: Tasks
    launch: Integers


def join_tasks(
    session: Session,
    runs: Runs,
    launches: Launches,
    calls: Calls,
    chip: int | None,
    texts: Texts,
) -> Launched:
    """All tasks in order of start, those that nobody launched as well.

    Of several launches with the numbers of one task the n-th belongs to its n-th run.
    """
    spill = calls.spill
    launch = _launches_of(spill, runs, launches, chip)
    row = spill.values_at(launches.call, launch)
    of_model = calls.tree.up_to(row, level("MODEL"))
    tasks = Tasks(
        start=runs.start,
        end=runs.end,
        device=runs.device,
        stream=spill.made(_first_known, runs.stream, spill.values_at(launches.stream, launch)),
        number=runs.number,
        context=runs.context,
        model=calls.items(of_model),
        connection=calls.connections(_owners(calls, row)),
        identity=_identities(spill, runs, spill.values_at(launches.moment, launch, _LAST)),
        kind=_kinds(spill, runs, launches, launch, chip, texts),
    )
    if session.origins is not None:
        count, launched = len(tasks), spill.values_at(launches.place, launch)
        for table, places in (("TASK", runs.place), (LAUNCHES, launched)):
            session.origins.by_number(spill, table, count, tasks.identity, places)
    return Launched(tasks, launch)


def _first_known(one: Integers, other: Integers) -> Integers:
    return np.where(one >= 0, one, other)


def _identities(spill: Spill, runs: Runs, moment: Integers) -> Integers:
    """The place of each task in order of launch; what nobody launched comes last."""
    order = sorted_rows(spill, moment, runs.start, runs.context)
    identity = spill.changeable(len(order), 0)
    for batch in spill.batches(len(order)):
        identity[order[batch]] = np.arange(batch.start, batch.stop)
    return identity


def _launches_of(spill: Spill, runs: Runs, launches: Launches, chip: int | None) -> Integers:
    whole = ("device", "number")
    names = whole if has_whole_numbers(chip) else ("batch", "device", "stream", "number")
    wanted, having = ([getattr(table, name) for name in names] for table in (runs, launches))
    return counterparts(spill, wanted, having, part=runs.context, keep_last=True)


def _owners(calls: Calls, rows: Integers) -> Integers:
    """The calls that tasks name: those of communication the node that they are part of."""
    inner = level("HCCL_NODE")
    node = calls.tree.up_to(rows, level("NODE"))

    def owner(row: Integers, levels: Integers, of_node: Integers) -> Integers:
        return np.where((levels == inner) & (of_node >= 0), of_node, row)

    return calls.spill.made(owner, rows, calls.tree.levels(rows), node)


def _kinds(
    spill: Spill,
    runs: Runs,
    launches: Launches,
    launch: Integers,
    chip: int | None,
    texts: Texts,
) -> Integers:
    """What the runtime calls a task; what the scheduler does, where that is all that is known."""

    def name(of_host: int, of_device: int, part: bool) -> str:
        if of_device == NONE:
            return launches.names[of_host]
        if part:
            return sub_task_name(of_device)
        return str(of_device) if chip is None else entry_name(of_device, chip)

    def kinds(host: Integers, of_run: Integers, context: Integers) -> Integers:
        of_run = np.where(host_shows(launches, host), NONE, of_run)
        found, place = distinct(host, of_run, context >= 0)
        return np.array([texts.number(name(*one)) for one in found], np.int64)[place]

    return spill.made(kinds, spill.values_at(launches.kind, launch), runs.kind, runs.context)


def host_shows(launches: Launches, host: Integers) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which numbers of kinds exporters show as the runtime calls them."""
    hidden = [NONE, *(one for one, name in launches.names.items() if name == FFTS_PLUS)]
    return ~np.isin(host, hidden)
