"""What the cores counted while they ran kernels (raw-prof 4.7)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ascend_ref.capture import Capture, Integers
from ascend_ref.capture.model import NONE
from ascend_ref.derive.matching import counterparts
from ascend_spec import raw_catalog
from ascend_spec.raw import records

from ..cores import SAMPLED
from ..counters import (
    AIC_ONLY,
    AIV_ONLY,
    CORE_SETTINGS,
    FFTS,
    MIX_AIC,
    Counted,
    Counts,
    Side,
    counted_runs,
    counts_of,
    sides_of,
)
from ..fields import joined, put, taken
from ..machine import chip_of
from ..vocabulary import numbered
from .tree import RawTree, Rows

_FILLER = 0
"""An event that no core has."""


def counter_settings(capture: Capture) -> dict[str, Any]:
    """What sample.json has to say of the counters: which events they count, in their order.

    The parser of devices in C++ wants as many events as a record has counters (raw-prof 3.2), so
    chips that it parses get fillers. It parses no samples, and that in Python takes no event twice.
    """
    settings: dict[str, Any] = {}
    of_tasks = sides_of(capture)
    found = {one.core: one for one in of_tasks or sides_of(capture, SAMPLED)}
    chip = raw_catalog().chips[chip_of(capture.origin)]
    for core, name in CORE_SETTINGS.items():
        side = found.get(core, found.get(None))
        events = () if side is None else side.events
        if events and chip.native_parser and of_tasks:
            events += (_FILLER,) * (records.PMU_COUNTERS - len(events))
        settings[f"{name}_metrics"] = "" if side is None else side.name
        settings[f"{name}_profiling_events"] = ",".join(f"0x{one:x}" for one in events)
    return settings


class _OfDevice(NamedTuple):
    """What a device counted of the runs ``own``, which are those of ``task``: the cores that these
    are of, and those of the other kind.
    """

    capture: Capture
    tree: RawTree
    device: int
    runs: Counted
    own: Integers
    task: Integers
    main: Counts
    other: Counts


def write_counters(capture: Capture, tree: RawTree) -> None:
    """Write the counters of the kernels of every device that its chip has records for."""
    of = sides_of(capture)
    if not of or not len(capture.counters.task):
        return
    runs = counted_runs(capture)
    for device in tree.devices:
        own = np.flatnonzero(runs.device == device)
        if not len(own):
            continue
        found = counts_of(capture, of, float(tree.side[device].device.step))
        task = counterparts(capture.counters.task[own], 0, capture.tasks.identity)
        one = _OfDevice(capture, tree, device, runs, own, task, *_by_side(of, found, runs, own))
        if tree.writes("aicore"):
            _write_tasks(one)
        elif tree.has("ffts_profile", "PMU_V6"):
            _write_v6(one)
        else:
            _write_stars(one)


def _write_tasks(one: _OfDevice) -> None:
    """Records of older chips, which have no times: in the order in which the tasks ended."""
    tree, tasks, task = one.tree, one.capture.tasks, one.task
    rows = tree.rows("aicore", len(task), "AICORE_PMU")
    rows["taskId"], rows["streamId"] = tasks.number[task], tasks.stream[task]
    _put(rows, one.main.cycles, one.main.events)
    order = np.lexsort((tasks.start[task], tasks.end[task]))
    tree.write("aicore", taken(rows, order), one.device)


def _write_stars(one: _OfDevice) -> None:
    """A record of each task, and one of each block on the cores of the other kind."""
    capture, tree, device, runs, own, task, main, other = one
    blocks = np.where(other.cycles > 0, np.maximum(runs.mix_blocks[own], 1), 0)
    whole = tree.rows("ffts_profile", len(own), "CONTEXT_PMU")
    part = tree.rows("ffts_profile", int(blocks.sum()), "BLOCK_PMU")
    at = np.repeat(np.arange(len(own)), blocks)
    number = np.arange(len(at)) - np.repeat(np.cumsum(blocks) - blocks, blocks)
    ffts = _ways(capture, runs, own, task)
    for rows, record, row in (
        (whole, "CONTEXT_PMU", np.arange(len(own))),
        (part, "BLOCK_PMU", at),
    ):
        declaration = tree.declaration("ffts_profile", record)
        tasks, clock = capture.tasks, tree.side[device].device
        put(declaration, rows, "funcType", tree.kind("ffts_profile", record))
        rows["streamId"], rows["taskId"] = tasks.stream[task[row]], tasks.number[task[row]]
        rows["subTaskId"] = np.maximum(tasks.context[task[row]], 0)
        put(declaration, rows, "fftsType", ffts[0][row])
        put(declaration, rows, "subTaskType", ffts[1][row])
        rows["startTime"] = clock.ticks(tasks.start[task[row]])
        rows["endTime"] = clock.ticks(tasks.end[task[row]])
    _put(whole, main.cycles, main.events)
    put(tree.declaration("ffts_profile", "BLOCK_PMU"), part, "coreType", runs.on_cube[own][at])
    part["blockId"] = number
    share = other.cycles[at], other.events[at]
    _put(part, *(_dealt(one, blocks[at], number) for one in share))
    rows = joined([whole, part])
    order = np.argsort(rows["endTime"], kind="stable")
    tree.write("ffts_profile", taken(rows, order), device, record="CONTEXT_PMU")


def _write_v6(one: _OfDevice) -> None:
    """A record of each task and, of one that ran on both kinds of cores, one of the other kind.

    Cores end with the task, so the record shows when they began.
    """
    capture, tree, device, runs, own, task, *sides = one
    record = "PMU_V6"
    declaration = tree.declaration("ffts_profile", record)
    end = tree.side[device].device.ticks(capture.tasks.end[task])
    mixed = sides[1].cycles > 0
    parts = []
    for counted, chosen in zip(sides, (np.arange(len(own)), np.flatnonzero(mixed)), strict=True):
        main = counted is sides[0]
        rows = tree.rows("ffts_profile", len(chosen), record)
        put(declaration, rows, "funcType", tree.kind("ffts_profile", record))
        put(declaration, rows, "mst", int(main))
        put(declaration, rows, "mix", mixed[chosen])
        put(declaration, rows, "coreType", runs.on_cube[own][chosen] != main)
        rows["taskId"] = capture.tasks.number[task[chosen]]
        rows["endTime"] = end[chosen]
        rows["startTime"] = end[chosen] - counted.ticks[chosen]
        _put(rows, counted.cycles[chosen], counted.events[chosen])
        parts.append(rows)
    rows = joined(parts)
    order = np.argsort(rows["endTime"], kind="stable")
    tree.write("ffts_profile", taken(rows, order), device, record=record)


def _by_side(
    of: Sequence[Side], found: Sequence[Counts], runs: Counted, own: Integers
) -> tuple[Counts, Counts]:
    """The counts of the cores that the runs are of, and of those of the other kind."""
    cycles, ticks = (np.zeros((2, len(own)), np.int64) for _ in range(2))
    events = np.zeros((2, len(own), max(one.events.shape[1] for one in found)), np.int64)
    for side, one in zip(of, found, strict=True):
        place = (~runs.is_own(side)[own]).astype(np.int64)
        row = np.arange(len(own))
        cycles[place, row], ticks[place, row] = one.cycles[own], one.ticks[own]
        events[place, row, : one.events.shape[1]] = one.events[own]
    main, other = (Counts(cycles[one], events[one], ticks[one]) for one in (0, 1))
    return main, other


def _ways(
    capture: Capture, runs: Counted, own: Integers, task: Integers
) -> tuple[Integers, Integers]:
    """How each task is made of sub-tasks, and the kind of the sub-task that was counted."""
    ways, kinds = numbered("ffts_types"), numbered("sub_tasks")
    cube, mixed = runs.on_cube[own], runs.mix_blocks[own] > 0
    alone = np.where(cube, kinds["AIC"], kinds["AIV"])
    both = np.where(cube, kinds["MIX_AIC"], kinds["MIX_AIV"])
    kind = np.where(mixed, both, alone)
    plain = np.where(cube, np.where(mixed, ways[MIX_AIC], ways[AIC_ONLY]), ways[AIV_ONLY])
    is_part = capture.tasks.context[task] != NONE
    return np.where(is_part, ways[FFTS], plain), np.where(is_part, kind, 0)


def _dealt(values: Integers, blocks: Integers, number: Integers) -> Integers:
    """The share of each block in the values of its task, the first ones one more."""
    shape = (-1, *([1] * (values.ndim - 1)))
    blocks, number = blocks.reshape(shape), number.reshape(shape)
    return values // blocks + (number < values % blocks)


def _put(rows: Rows, cycles: Integers, events: Integers) -> None:
    rows["totalCycle"] = cycles
    rows["pmuList"][:, : events.shape[1]] = events
