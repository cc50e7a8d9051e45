"""What raw files hold of a capture: times that counters can show, and what is recorded at all.

Written as raw files and read back, the view is exactly what it was. So it is the truth that an
exporter of these files is compared with.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ascend_ref.capture import (
    Capture,
    Counters,
    Integers,
    KernelKinds,
    Origin,
    Records,
    Transfers,
)
from ascend_ref.capture.model import FIRST_MARK_CONNECTION, NONE, Samples
from ascend_ref.derive.matching import values_at
from ascend_spec import raw_catalog

from .aicpu import RUNS, held_of_aicpu
from .amounts import RATES
from .caches import KINDS, held_of_caches
from .ccu import TABLE, ccu_table, held_of_ccu
from .chip_links import held_of_chip_links
from .clocks import Clock
from .communication import NOT_COLLECTED
from .cores import LOAD, SUMMARY, held_of_cores
from .counters import counted_runs, counts_of, metrics_of, sides_of
from .encode.calls import HostTicks
from .encode.fusion import first_calls
from .encode.tracks import launching_calls, task_rows
from .engines import held_of_engines
from .fusion import held_of_fusions
from .graph_memory import held_of_graph_memory
from .host import held_of_host, host_facts, host_records
from .instructions import held_of_instructions
from .iterations import iterations_of, of_device, of_devices, points_of
from .machine import chip_of, family_of
from .marks import is_mark
from .moments import MOMENTS, Clocks, Moments
from .pipes import held_of_pipes
from .processors import held_of_processors
from .samples import CLOCK, FILES, HOST_TABLES, clock_name, file_of, has_bounds, with_bounds
from .system_calls import held_of_system_calls
from .system_load import held_of_system_load
from .tensors import NOT_AVAILABLE, todays_layouts
from .traffic import HELD
from .voltages import held_of_voltages

_NOT_WRITTEN: Mapping[str, str] = {
    "schedules": "kernels that schedule communication",
    "memory_totals": "totals of memory",
}
"""Tables of a capture that are not written."""
_COPIES = "memcpy_info"


class RawView(NamedTuple):
    """The capture as raw files hold it; ``lost``: what they do not, a phrase each."""

    capture: Capture
    lost: list[str]


def raw_view(capture: Capture, moments: Moments = MOMENTS) -> RawView:
    """What raw files hold of a capture whose clocks these moments describe."""
    clocks = moments.clocks(capture.origin.start)
    lost: list[str] = []
    calls = replace(
        capture.calls,
        start=nearest(clocks.host, capture.calls.start),
        end=nearest(clocks.host, capture.calls.end),
    )
    tasks = capture.tasks
    noted = is_mark(capture)
    known = np.isin(tasks.connection, calls.connection) | noted
    ticks = HostTicks(replace(capture, calls=calls), clocks.host)
    _, model = ticks.model_numbers(tasks)
    without = int(np.sum((tasks.model >= 0) & (model < 0)))
    if without:
        lost.append(f"the model of {without:,} tasks, which no call of a model encloses")
    tasks = replace(
        tasks,
        start=nearest(clocks.device, tasks.start),
        end=nearest(clocks.device, np.where(noted, tasks.start, tasks.end)),
        connection=np.where(known, tasks.connection, NONE),
        model=model,
    )
    # Logs are files of a device, in which tasks that begin at one moment stand as they ended.
    tasks = tasks.take(np.lexsort((tasks.device, tasks.end, tasks.start)))
    link = capture.marks.device_link
    linked = np.isin(link, tasks.connection[noted] - FIRST_MARK_CONNECTION)
    marks = replace(
        capture.marks,
        device_link=np.where(linked, link, NONE),
        start=nearest(clocks.host, capture.marks.start),
        end=nearest(clocks.host, capture.marks.end),
    )
    events = capture.workspace_events
    events = replace(events, time=nearest(clocks.host, events.time))
    samples = _samples(capture, clocks, lost)
    system_calls = held_of_system_calls(capture)
    if system_calls.lost:
        lost.append(f"{system_calls.lost:,} system calls of names that readers pass over")
    kept = replace(
        capture,
        calls=calls,
        tasks=tasks,
        marks=marks,
        workspace_events=events,
        samples=samples,
        system_calls=system_calls.calls,
        **_with_todays_formats(capture),
    )
    cores = held_of_cores(replace(kept, samples=capture.samples), clocks, lost)
    kept = replace(kept, samples={**samples, **cores})
    if not capture.switches.level:
        kept = _of_level_0(kept)
    bare = Capture(capture.origin, capture.switches, capture.texts)
    without_files = [phrase for name, phrase in _NOT_WRITTEN.items() if len(getattr(capture, name))]
    nothing = {name: getattr(bare, name) for name in _NOT_WRITTEN}
    if chip_of(capture.origin) not in raw_catalog().files[_COPIES].chips:
        without_files += [f"{len(capture.copies):,} copies"] if len(capture.copies) else []
        nothing["copies"] = bare.copies
    records: Records = {
        **host_records(samples, host_facts(capture)),
        **held_of_system_load(capture, clocks),
        **held_of_engines(capture),
        **held_of_processors(capture),
        **held_of_pipes(capture, lost),
        **held_of_instructions(capture, clocks.device),
        **held_of_ccu(kept, clocks.device),
        **held_of_voltages(capture, clocks.device),
        **held_of_chip_links(capture, partial(nearest, clocks.device)),
        **_iterations(capture, clocks.device, lost),
        **held_of_caches(capture),
        **held_of_aicpu(capture, clocks.device),
        **held_of_fusions(capture, list(first_calls(capture, ticks))),
        **held_of_graph_memory(capture),
    }
    without_files += _missing(capture.records, records)
    if not len(capture.tasks):
        records = _without_names(records)
    units = ccu_table(records, kept.tasks, kept.texts, float(clocks.device.step))
    samples = {**kept.samples, **({TABLE: units} if units else {})}
    kept = replace(kept, **nothing, records=records, samples=samples)
    kept = replace(kept, transfers=_as_launched(kept, clocks.host))
    counters = _counters(kept, float(clocks.device.step))
    if len(capture.counters.task) and not len(counters.task):
        without_files.append("counters of cores")
    return RawView(replace(kept, counters=counters), lost + without_files)


def _without_names(records: Records) -> Records:
    """What files hold of kernels has the names of the tasks with their numbers."""
    return {
        record: {**table, "name": 0 * table["name"] + NONE} if record in (RUNS, *KINDS) else table
        for record, table in records.items()
    }


def _missing(recorded: Records, held: Records) -> Iterator[str]:
    """Which records of the recording have no files, and which are shorter there."""
    without = sorted(recorded.keys() - held.keys())
    if without:
        yield f"records of {', '.join(without)}"
    for name in recorded.keys() & held.keys():
        every, kept = (len(next(iter(one[name].values()))) for one in (recorded, held))
        if kept < every:
            yield f"{every - kept:,} of {every:,} rows of {name}"


def _iterations(capture: Capture, clock: Clock, lost: list[str]) -> Records:
    """The iterations that follow from the points that devices note of them."""
    found = {}
    for device in capture.origin.devices:
        own = of_device(capture.records, device)
        found[device] = iterations_of(points_of(own, partial(nearest, clock)))
    missing = sum(one.lost for one in found.values())
    if missing:
        lost.append(f"{missing:,} points of iterations that overlap")
    return of_devices({device: one.records for device, one in found.items()})


def _as_launched(capture: Capture, clock: Clock) -> Transfers:
    """The tasks of collectives in order of the calls that launched them, and then as they ran."""
    transfers, tasks = capture.transfers, capture.tasks
    if not len(transfers):
        return transfers
    ticks = HostTicks(capture, clock)
    within = launching_calls(capture, ticks)
    row = task_rows(capture, transfers.task)
    place = np.full(len(capture.calls) + 1, NONE)
    place[ticks.tree.place] = np.arange(len(ticks.tree.place))
    keys = (tasks.context[row], tasks.start[row], place[within[row]], transfers.collective)
    return transfers.take(np.lexsort(keys))


def _counters(capture: Capture, tick: float) -> Counters:
    """The metrics that follow from whole numbers of events and of ticks, which take so many ns."""
    of, counters, facts = sides_of(capture), capture.counters, capture.origin.facts
    if not of or facts is None or not len(counters.task):
        return Counters.empty()
    family = family_of(capture.origin)
    found, runs = counts_of(capture, of, tick), counted_runs(capture)
    clock = capture.samples.get(CLOCK, {})
    names, values = metrics_of(of, family, found, runs, clock, facts.frequency, tick)
    return Counters(names, counters.task, values)


def _of_level_0(capture: Capture) -> Capture:
    """What level 0 records: of kernels their names, of communication which tasks it has."""
    missing = capture.texts.number(NOT_AVAILABLE)
    kinds, transfers, groups = capture.kernel_kinds, capture.transfers, capture.groups
    unknown: dict[str, Integers | int] = {name: missing for name, _ in kinds.columns()}
    nowhere: dict[str, Integers | int] = {"grid": NONE, "thread_block": NONE}
    return replace(
        capture,
        kernel_kinds=KernelKinds.filled(
            len(kinds), **{**unknown, **nowhere, "name": kinds.name, "blocks": 0, "mix_blocks": 0}
        ),
        transfers=Transfers.filled(
            len(transfers),
            task=transfers.task,
            collective=transfers.collective,
            kind=missing,
            master=1,
            **dict.fromkeys(("transport", "link", "data_type", "rdma"), NOT_COLLECTED),
        ),
        groups=replace(groups, rank=0 * groups.rank + NONE, size=0 * groups.size),
    )


def _samples(capture: Capture, clocks: Clocks, lost: list[str]) -> Samples:
    """The samples that raw files hold, at the times that their clocks show."""
    chip = chip_of(capture.origin)
    found: dict[str, Mapping[str, npt.NDArray[Any]]] = {}
    for name, table in capture.samples.items():
        if name in (LOAD, SUMMARY, TABLE):
            continue
        kind = file_of(name, chip) if name in FILES else None
        if kind is None:
            lost.append(f"the samples of {name}")
            continue
        time = table["timestampNs"]
        bounds = np.isin(time, [capture.origin.start, capture.origin.end or 0])
        clock = clocks.device if name == CLOCK else clocks.by_name(clock_name(kind))
        shown = nearest(clock, time)
        shown = np.where(bounds, time, shown) if name == CLOCK and has_bounds(chip) else shown
        held = HELD.get(name, dict)({**table, "timestampNs": shown})
        if name in HOST_TABLES.values():
            held = held_of_host(capture, name, held, clocks.monotonic)
        found[name] = RATES[name](held, chip) if name in RATES else held
    if CLOCK in found and has_bounds(chip):
        found[CLOCK] = _with_bounds(found[CLOCK], capture.origin)
    return found


def _with_bounds(
    table: Mapping[str, npt.NDArray[Any]], origin: Origin
) -> Mapping[str, npt.NDArray[Any]]:
    """The clock of each device with rows at both ends of the session, which exporters add."""
    parts = []
    for device in np.unique(table["deviceId"]).tolist():
        own = table["deviceId"] == device
        inner = own & ~np.isin(table["timestampNs"], [origin.start, origin.end or 0])
        time, clock = table["timestampNs"][inner], table["freq"][inner]
        nominal = origin.facts.frequency if origin.facts else 0
        every = with_bounds(time, clock, nominal, origin)
        parts.append((np.full(len(every[0]), device), *every))
    devices, times, clocks = (np.concatenate(one) for one in zip(*parts, strict=True))
    return {
        "deviceId": devices,
        "timestampNs": times,
        "freq": clocks,
        "dieId": np.full(len(times), NONE),
    }


def _with_todays_formats(capture: Capture) -> dict[str, Any]:
    """Records have numbers of formats, which exporters of today name."""
    texts = capture.texts.copy()
    every = texts.all
    renamed = np.array([texts.number(todays_layouts(one)) for one in every], np.int64)
    kinds = capture.kernel_kinds
    return {
        "texts": texts,
        "kernel_kinds": replace(
            kinds,
            input_formats=values_at(renamed, kinds.input_formats),
            output_formats=values_at(renamed, kinds.output_formats),
        ),
    }


def nearest(clock: Clock, times: Integers) -> Integers:
    """The times nearest to these that a clock shows."""
    return clock.times(clock.ticks(times))
