"""What the cores counted while they ran kernels, as the metrics of their group (raw-prof 7.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ascend_ref.capture import Counters, Integers, Origin, Switches, Tasks
from ascend_ref.capture.model import NONE
from ascend_ref.derive.matching import counterparts, groups, ranks, values_at
from ascend_spec import catalog, raw_catalog, text_catalog
from ascend_spec.raw import records
from ascend_spec.text import PmuGroup

from ..clocks import LIMIT
from ..context import Context
from ..counters import (
    AIC_ONLY,
    CORE_SETTINGS,
    FFTS,
    MIX_AIC,
    Counted,
    Counts,
    Side,
    counting,
    metrics_of,
    sides,
)
from ..damage import Damage
from ..fields import numbers
from ..samples import CLOCK
from ..side import Unknown
from ..vocabulary import numbered
from .kernels import Computed
from .logs import placed
from .session import Rows, Session
from .times import demand_within

Mask = npt.NDArray[np.bool_]
Samples = Mapping[str, Mapping[str, npt.NDArray[Any]]]


class _Found(NamedTuple):
    """Rows of tasks, whether a cube core is the one that each is of, what each side counted."""

    task: Integers
    cube: Mask
    counts: list[Counts]


_MOST = 1 << 47
"""More events than any run has; so the sums of damaged records do not overflow."""


def read_counters(
    session: Session,
    origin: Origin,
    switches: Switches,
    tasks: Tasks,
    computed: Computed,
    samples: Samples,
) -> Counters:
    """The counters of all kernels that have a record, in order of device and of their tasks."""
    product = catalog().products.of_chip(origin.chip)
    if switches.aic_metrics is None or origin.facts is None or product is None:
        return Counters.empty()
    if switches.aic_mode != "task-based":
        return Counters.empty()
    group = text_catalog().pmu.group(switches.aic_metrics)
    known = sides(switches.aic_metrics, product.id, origin.facts)
    found: list[_Found] = []
    of: Sequence[Side] = ()
    for device, context in session.devices.items():
        kind = _kind(context)
        if kind is None:
            continue
        if not known or group is None:
            text = f"{kind}: the events of {switches.aic_metrics} on {product.id} are not known"
            session.damage.append(Damage(context.folder.path, text, kind=kind))
            continue
        of = [_programmed(session, context, kind, one, group, product.id) for one in known]
        own = np.flatnonzero(tasks.device == device)
        if kind == "aicore":
            own = own[np.isin(tasks.identity[own], computed.kernels.task)]
            found.append(_tasks(session, context, of, tasks, own))
        else:
            found.append(_stars(session, context, of, tasks, own))
    if not found:
        return Counters.empty()
    counted = [
        Counts(
            *(
                np.concatenate(parts)
                for parts in zip(*(one.counts[at] for one in found), strict=True)
            )
        )
        for at in range(len(of))
    ]
    task = np.concatenate([one.task for one in found])
    runs = _runs(tasks, computed, task, np.concatenate([one.cube for one in found]))
    names, values = metrics_of(
        of, product.id, counted, runs, samples.get(CLOCK, {}), origin.facts.frequency
    )
    return Counters(names, tasks.identity[task], values)


def _kind(context: Context) -> str | None:
    """The file of counters that a device has, and that its chip writes."""
    for kind in ("ffts_profile", "aicore"):
        if kind in context.folder.files and context.side.chip in raw_catalog().files[kind].chips:
            return kind
    return None


def _programmed(
    session: Session, context: Context, kind: str, side: Side, group: PmuGroup, family: str
) -> Side:
    """A side with the events that sample.json states, and the metrics that follow from them."""
    sample = context.side.documents.get("sample", {})
    name = f"{CORE_SETTINGS[side.core or 'aic']}_profiling_events"
    found = counting(side, group, family, tuple(_events(str(sample.get(name, "")))))
    if len(found.metrics) < len(side.metrics):
        lost = len(side.metrics) - len(found.metrics)
        text = f"{kind}: {name} of sample.json lacks the events of {lost} metrics of the group"
        session.damage.append(Damage(context.folder.path, text, kind=kind))
    return found


def _events(text: str) -> list[int]:
    found = []
    for one in text.split(",")[: records.PMU_COUNTERS]:
        try:
            found.append(int(one, 16))
        except ValueError:
            found.append(NONE)
    return found


def _tasks(
    session: Session,
    context: Context,
    of: Sequence[Side],
    tasks: Tasks,
    own: Integers,
) -> _Found:
    """Counters of older chips: their records have no times, so the n-th of a task is of its n-th
    run among ``own``.
    """
    rows = session.rows(context, "aicore", "AICORE_PMU")
    own = own[np.lexsort((tasks.end[own], tasks.start[own]))]
    keys = (rows["streamId"].astype(np.int64), rows["taskId"].astype(np.int64))
    having = (tasks.stream[own], tasks.number[own])
    _, group = groups(*(np.concatenate(pair) for pair in zip(keys, having, strict=True)))
    wanted = group[: len(rows)]
    run = counterparts(wanted, ranks(wanted), group[len(rows) :])
    every = np.ones(len(rows), np.bool_)
    rows, run, every = _matched(session, context, "aicore", rows, run, every)
    return _Found(own[run], every, [_counts(of[0], rows, every)])


def _stars(
    session: Session,
    context: Context,
    of: Sequence[Side],
    tasks: Tasks,
    own: Integers,
) -> _Found:
    """A record of each task for the cores that it is of, and records of blocks, of which those on
    the other cores count.
    """
    rows, run, cube = _placed(session, context, "CONTEXT_PMU", tasks, own)
    order = np.argsort(run, kind="stable")
    last = np.append(run[order][1:] != run[order][:-1], True)[: len(run)]
    rows, run, cube = rows[order[last]], run[order[last]], cube[order[last]]
    found = [_counts(side, rows, _is_of(side, cube)) for side in of]
    if len(of) > 1:
        blocks, of_run, on_cube = _placed(session, context, "BLOCK_PMU", tasks, own)
        at = np.searchsorted(run, of_run)
        at = np.where(at < len(run), at, 0)
        other = (run[at] == of_run) & (on_cube != cube[at]) if len(run) else on_cube & False
        at, blocks, on_cube = at[other], blocks[other], on_cube[other]
        for side, counted in zip(of, found, strict=True):
            mine = _is_of(side, on_cube)
            more = _counts(side, blocks[mine], mine[mine])
            np.add.at(counted.cycles, at[mine], more.cycles)
            np.add.at(counted.events, at[mine], more.events)
    return _Found(own[run], cube, found)


def _is_of(side: Side, cube: Mask) -> Mask:
    return np.ones(len(cube), np.bool_) if side.core is None else cube == (side.core == "aic")


def _placed(
    session: Session, context: Context, record: str, tasks: Tasks, own: Integers
) -> tuple[Rows, Integers, Mask]:
    """Records of one kind, the place among ``own`` of each, and whether they are of a cube core.

    Of several runs with the numbers of one task it is that of the last one which had begun.
    """
    rows = session.rows(context, "ffts_profile", record)
    rows = rows[rows["endTime"] < LIMIT]
    try:
        end = context.side.device.times(rows["endTime"].astype(np.int64))
        demand_within(session, end)
    except Unknown as reason:
        if len(rows):
            text = f"{reason}, so {len(rows):,} counters are of no known task"
            session.damage.append(Damage(context.folder.path, text, kind="ffts_profile"))
        rows, end = rows[:0], np.zeros(0, np.int64)
    declaration = session.declaration("ffts_profile", record)
    way, kind = (numbers(declaration, name, rows) for name in ("fftsType", "subTaskType"))
    is_part = way == numbered("ffts_types")[FFTS]
    stream, number = placed(declaration, rows)
    part = np.where(is_part, rows["subTaskId"].astype(np.int64), NONE)
    having = (tasks.stream[own], tasks.number[own], tasks.context[own])
    _, group = groups(
        *(np.concatenate(pair) for pair in zip(having, (stream, number, part), strict=True))
    )
    run = _last_begun(group[: len(own)], tasks.start[own], group[len(own) :], end)
    if record == "BLOCK_PMU":
        cube = numbers(declaration, "coreType", rows) == 0
    else:
        plain = np.isin(way, [numbered("ffts_types")[one] for one in (AIC_ONLY, MIX_AIC)])
        of_part = np.isin(kind, [numbered("sub_tasks")[one] for one in ("AIC", "MIX_AIC")])
        cube = np.where(is_part, of_part, plain)
    rows, run, cube = _matched(session, context, "ffts_profile", rows, run, cube)
    return rows, run, cube


def _last_begun(having: Integers, start: Integers, wanted: Integers, moment: Integers) -> Integers:
    """For each wanted key the row that has it and had last begun at its moment, NONE for none."""
    count = len(having)
    keys, times = np.concatenate([having, wanted]), np.concatenate([start, moment])
    order = np.lexsort((np.arange(len(keys)) >= count, times, keys))
    at = np.maximum.accumulate(np.where(order < count, np.arange(len(order)), 0))
    row = order[at] if len(order) else order
    found = np.full(len(keys), NONE)
    found[order] = np.where((row < count) & (keys[row] == keys[order]), row, NONE)
    return found[count:]


def _matched(
    session: Session, context: Context, kind: str, rows: Rows, run: Integers, cube: Mask
) -> tuple[Rows, Integers, Mask]:
    """The records that are of a task."""
    known = run != NONE
    if not known.all():
        text = f"{kind}: {int(np.sum(~known)):,} records are of no task that ran"
        session.damage.append(Damage(context.folder.path, text, kind=kind))
    return rows[known], run[known], cube[known]


def _counts(side: Side, rows: Rows, mine: Mask) -> Counts:
    """What the records of a side's cores hold; 0 of the others."""
    width = len(side.events)
    return Counts(
        np.where(mine, np.minimum(rows["totalCycle"], _MOST).astype(np.int64), 0),
        np.where(mine[:, None], np.minimum(rows["pmuList"][:, :width], _MOST).astype(np.int64), 0),
    )


def _runs(tasks: Tasks, computed: Computed, task: Integers, cube: Mask) -> Counted:
    """The runs of tasks; of those that are no kernels the blocks are not known."""
    kernels, kinds = computed.kernels, computed.kinds
    row = counterparts(tasks.identity[task], 0, kernels.task)
    kind = values_at(kernels.kind, row)
    return Counted(
        device=tasks.device[task],
        end=tasks.end[task],
        on_cube=cube,
        blocks=np.maximum(values_at(kinds.blocks, kind), 0),
        mix_blocks=np.maximum(values_at(kinds.mix_blocks, kind), 0),
    )
