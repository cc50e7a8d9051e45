"""What the cores counted while they ran kernels, as the metrics of their group (raw-prof 7.1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ascend_ref.capture import Counters, Integers, Origin, Switches, Tasks
from ascend_ref.capture.model import NONE
from ascend_ref.derive.matching import values_at
from ascend_ref.spill import Spill, batches, counterparts, last_begun, sorted_rows
from ascend_spec import catalog, raw_catalog, text_catalog
from ascend_spec.core.packed import dtype_of
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
from ..fields import numbers, whole
from ..samples import CLOCK
from ..side import Unknown
from ..task_kinds import has_whole_numbers
from ..vocabulary import numbered
from .kernels import Computed
from .logs import placed
from .session import Rows, Session
from .times import demand_within, state_timeless

Mask = npt.NDArray[np.bool_]
Samples = Mapping[str, Mapping[str, npt.NDArray[Any]]]


class _Found(NamedTuple):
    """Rows of tasks, whether a cube core is the one that each is of, and what each side counted of
    some of them. tick: of the device's counter, ns.
    """

    task: Integers
    cube: Mask
    tick: float
    counts: Callable[[slice], list[Counts]]


class _Placed(NamedTuple):
    """Records that are of a task: their rows, the place of the task, whether a cube core counted.

    In order of the tasks, of equal ones as they stand.
    """

    records: Rows
    row: Integers
    run: Integers
    cube: Mask


_CORE_TYPE = 1
"""The bit of the kind of core; its byte may have others."""
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
    spill = session.spill
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
        width = dtype_of(session.declaration(kind, _record(context, kind)))["pmuList"].shape[0]
        of = [programmed(session, context, kind, one, group, product.id, width) for one in known]
        own = spill.where(lambda one, device=device: one == device, tasks.device)
        if kind == "aicore":
            kernels = spill.marks(len(tasks), computed.kernels.task)
            is_kernel = spill.made(kernels.take, spill.taken(tasks.identity, own), kind=np.bool_)
            own = spill.taken(own, spill.where(lambda one: one, is_kernel))
            found.append(_tasks(session, context, of, tasks, own))
        else:
            found.append(_stars(session, context, of, tasks, own))
    if not found:
        return Counters.empty()
    task = spill.joined(*(one.task for one in found))
    kernel = counterparts(
        spill, [spill.taken(tasks.identity, task)], [computed.kernels.task], share_first=True
    )
    names = tuple(name for side in of for name in side.names)
    values = spill.changeable(len(names) * len(task), 0, np.float64).reshape(len(names), -1)
    clock, before = samples.get(CLOCK, {}), 0
    for one in found:
        for batch in spill.batches(len(one.task)):
            here = slice(before + batch.start, before + batch.stop)
            runs = _runs(tasks, computed, one.task[batch], one.cube[batch], kernel[here])
            _, metrics = metrics_of(
                of, product.id, one.counts(batch), runs, clock, origin.facts.frequency, one.tick
            )
            values[:, here] = metrics.T
        before += len(one.task)
    return Counters(names, spill.taken(tasks.identity, task), values.T)


def _kind(context: Context) -> str | None:
    """The file of counters that a device has, and that its chip writes."""
    for kind in ("ffts_profile", "aicore"):
        if kind in context.folder.files and context.side.chip in raw_catalog().files[kind].chips:
            return kind
    return None


def programmed(
    session: Session,
    context: Context,
    kind: str,
    side: Side,
    group: PmuGroup,
    family: str,
    counters: int,
) -> Side:
    """A side with the events that sample.json states of so many counters, and the metrics that
    follow from them.
    """
    sample = context.side.documents.get("sample", {})
    name = f"{CORE_SETTINGS[side.core or 'aic']}_profiling_events"
    events = _events(str(sample.get(name, "")), counters)
    found = counting(side, group, family, tuple(events))
    if len(found.metrics) < len(side.metrics):
        lost = len(side.metrics) - len(found.metrics)
        text = f"{kind}: {name} of sample.json lacks the events of {lost} metrics of the group"
        session.damage.append(Damage(context.folder.path, text, kind=kind))
    return found


def _record(context: Context, kind: str) -> str:
    """The records of a file of counters that every counted task has one of."""
    if kind == "aicore":
        return "AICORE_PMU"
    return "PMU_V6" if has_whole_numbers(context.side.chip) else "CONTEXT_PMU"


def _events(text: str, counters: int) -> list[int]:
    found = []
    for one in text.split(",")[:counters]:
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
    spill = session.spill
    rows = session.rows(context, "aicore", "AICORE_PMU")
    order = sorted_rows(spill, *(spill.taken(one, own) for one in (tasks.start, tasks.end)))
    own = spill.taken(own, order)
    wanted = [spill.made(whole, rows[name]) for name in ("streamId", "taskId")]
    having = [spill.taken(one, own) for one in (tasks.stream, tasks.number)]
    run = counterparts(spill, wanted, having)
    every = np.broadcast_to(np.bool_(True), len(rows))
    placed = _matched(session, context, "aicore", rows, run, every)

    def counts(batch: slice) -> list[Counts]:
        return [_counts(of[0], rows[placed.row[batch]], placed.cube[batch])]

    return _Found(spill.taken(own, placed.run), placed.cube, 0.0, counts)


def _stars(
    session: Session,
    context: Context,
    of: Sequence[Side],
    tasks: Tasks,
    own: Integers,
) -> _Found:
    """A record of each task for the cores that it is of, and records of blocks or of the task
    again, of which those on the other cores count.
    """
    spill, record = session.spill, _record(context, "ffts_profile")
    every = _placed(session, context, record, tasks, own)
    blocks = None
    if has_whole_numbers(context.side.chip):
        every, blocks = (_last(spill, one) for one in _by_part(session, record, every))
    elif len(of) > 1:
        blocks = _in_order(spill, _placed(session, context, "BLOCK_PMU", tasks, own))
    every = _last(spill, every)

    def counts(batch: slice) -> list[Counts]:
        records, mine = every.records[every.row[batch]], every.cube[batch]
        found = [_counts(side, records, _is_of(side, mine)) for side in of]
        if blocks is not None and len(mine):
            _add_blocks(found, of, blocks, every.run[batch], mine)
        return found

    tick = float(context.side.device.step) if len(every.run) else 0.0
    return _Found(spill.taken(own, every.run), every.cube, tick, counts)


def _by_part(session: Session, record: str, placed: _Placed) -> tuple[_Placed, _Placed]:
    """The records of the cores that tasks are of, and of those of the other kind."""
    spill, declaration = session.spill, session.declaration("ffts_profile", record)
    main = spill.made(
        lambda row: numbers(declaration, "mst", spill.gathered(placed.records, row)), placed.row
    )
    first, second = (
        _chosen(spill, placed, spill.where(lambda one, part=part: one == part, main))
        for part in (1, 0)
    )
    return first, second


def _last(spill: Spill, placed: _Placed) -> _Placed:
    """Of several records of a task the last one."""
    placed = _in_order(spill, placed)
    last = spill.where(np.not_equal, placed.run[1:], placed.run[:-1])
    return _chosen(spill, placed, spill.joined(last, np.arange(len(placed.run))[-1:]))


def _chosen(spill: Spill, placed: _Placed, places: Integers) -> _Placed:
    return _Placed(placed.records, *(spill.taken(one, places) for one in placed[1:]))


def _add_blocks(
    found: list[Counts], of: Sequence[Side], blocks: _Placed, run: Integers, cube: Mask
) -> None:
    """Add what the blocks of runs, ascending, counted on the cores that the run is not of."""
    first = np.searchsorted(blocks.run, run[0], side="left")
    some = slice(int(first), int(np.searchsorted(blocks.run, run[-1], side="right")))
    at = np.searchsorted(run, blocks.run[some])
    other = (run[at] == blocks.run[some]) & (blocks.cube[some] != cube[at])
    at, on_cube = at[other], blocks.cube[some][other]
    records = blocks.records[blocks.row[some][other]]
    for side, counted in zip(of, found, strict=True):
        mine = _is_of(side, on_cube)
        more = _counts(side, records[mine], mine[mine])
        np.add.at(counted.cycles, at[mine], more.cycles)
        np.add.at(counted.events, at[mine], more.events)
        np.add.at(counted.ticks, at[mine], more.ticks)


def _in_order(spill: Spill, placed: _Placed) -> _Placed:
    return _chosen(spill, placed, sorted_rows(spill, placed.run))


def _is_of(side: Side, cube: Mask) -> Mask:
    return np.ones(len(cube), np.bool_) if side.core is None else cube == (side.core == "aic")


def _placed(
    session: Session, context: Context, record: str, tasks: Tasks, own: Integers
) -> _Placed:
    """Records of one kind with their places among ``own``.

    Of several runs with the numbers of one task it is that of the last one which had begun.
    """
    spill = session.spill
    rows = session.rows(context, "ffts_profile", record)
    every = len(rows)
    rows = session.chosen(rows, lambda end: end < LIMIT, rows["endTime"])
    state_timeless(session, context, "ffts_profile", every - len(rows))
    try:
        end = spill.made(context.side.device.times, spill.made(whole, rows["endTime"]))
        demand_within(session, end)
    except Unknown as reason:
        if len(rows):
            text = f"{reason}, so {len(rows):,} counters are of no known task"
            session.damage.append(Damage(context.folder.path, text, kind="ffts_profile"))
        rows, end = rows[:0], np.zeros(0, np.int64)
    declaration = session.declaration("ffts_profile", record)
    ways = numbered("ffts_types")
    unique = has_whole_numbers(context.side.chip)

    def numbered_as(some: Rows) -> tuple[Integers, ...]:
        if unique:
            return (whole(some["taskId"]),)
        is_part = numbers(declaration, "fftsType", some) == ways[FFTS]
        return *placed(declaration, some), np.where(is_part, whole(some["subTaskId"]), NONE)

    def is_cube(some: Rows) -> Mask:
        if record != "CONTEXT_PMU":
            on_cube: Mask = numbers(declaration, "coreType", some) & _CORE_TYPE == 0
            return on_cube
        way, kind = (numbers(declaration, name, some) for name in ("fftsType", "subTaskType"))
        plain = np.isin(way, [ways[one] for one in (AIC_ONLY, MIX_AIC)])
        of_part = np.isin(kind, [numbered("sub_tasks")[one] for one in ("AIC", "MIX_AIC")])
        return np.where(way == ways[FFTS], of_part, plain)

    keys = (tasks.number,) if unique else (tasks.stream, tasks.number, tasks.context)
    numbered_rows = (numbered_as(rows[batch]) for batch in batches(len(rows)))
    wanted = spill.arrays(numbered_rows, len(keys), np.int64)
    having = [spill.taken(one, own) for one in keys]
    run = last_begun(spill, wanted, end, having, spill.taken(tasks.start, own))
    cube = spill.made(is_cube, rows, kind=np.bool_)
    return _matched(session, context, "ffts_profile", rows, run, cube)


def _matched(
    session: Session, context: Context, kind: str, rows: Rows, run: Integers, cube: Mask
) -> _Placed:
    """The records that are of a task."""
    spill = session.spill
    known = spill.where(lambda one: one != NONE, run)
    if len(known) < len(rows):
        text = f"{kind}: {len(rows) - len(known):,} records are of no task that ran"
        session.damage.append(Damage(context.folder.path, text, kind=kind))
    return _Placed(rows, known, spill.taken(run, known), spill.taken(cube, known))


def _counts(side: Side, rows: Rows, mine: Mask) -> Counts:
    """What the records of a side's cores hold; 0 of the others."""
    width, ticks = len(side.events), np.zeros(len(rows), np.int64)
    if "startTime" in (rows.dtype.names or ()):
        ticks = np.clip(whole(rows["endTime"]) - whole(rows["startTime"]), 0, _MOST)
    return Counts(
        np.where(mine, np.minimum(rows["totalCycle"], _MOST).astype(np.int64), 0),
        np.where(mine[:, None], np.minimum(rows["pmuList"][:, :width], _MOST).astype(np.int64), 0),
        np.where(mine, ticks, 0),
    )


def _runs(
    tasks: Tasks, computed: Computed, task: Integers, cube: Mask, kernel: Integers
) -> Counted:
    """The runs of tasks; of those that are no kernels the blocks are not known."""
    kinds = computed.kinds
    kind = np.full(len(task), NONE)
    kind[kernel >= 0] = computed.kernels.kind[kernel[kernel >= 0]]
    return Counted(
        device=tasks.device[task],
        end=tasks.end[task],
        on_cube=cube,
        blocks=np.maximum(values_at(kinds.blocks, kind), 0),
        mix_blocks=np.maximum(values_at(kinds.mix_blocks, kind), 0),
    )
