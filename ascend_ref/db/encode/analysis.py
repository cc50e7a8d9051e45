"""The tables of analysis.db, derived from a capture by the formulas of ascend_ref.derive."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ascend_ref.capture import Integers
from ascend_ref.capture.batch import Reals
from ascend_ref.capture.kinds import NODE, OP
from ascend_ref.capture.model import NONE
from ascend_ref.db.columns import Values
from ascend_ref.derive import matrix, transit
from ascend_ref.derive.communication_report import CLASSES
from ascend_ref.derive.decimals import python_round
from ascend_ref.derive.group_hash import group_hash
from ascend_ref.derive.matching import groups
from ascend_ref.derive.steps import (
    EVER,
    Spans,
    StepRange,
    StepTrace,
    step_of,
    step_ranges,
    step_trace,
)

from .recording import Recording, Rows

EXPOSED = "communication_not_overlapped_and_exclude_receive"
BYTES_PER_MB = 1e6

LINK_TYPES = "ENUM_HCCL_LINK_TYPE"
TRANSPORTS = "ENUM_HCCL_TRANSPORT_TYPE"


def analysis_tables(recording: Recording) -> dict[str, Rows]:
    """The four tables; those without rows are left out.

    Without what the adapter of torch_npu makes of it, there are the operators of all steps and each
    of their flows, as CANN's analysis leaves them.
    """
    if not recording.schema.adapter:
        everything = [StepRange(None, None, 0, EVER)]
        place = np.zeros(len(recording.operators), np.int64)
        found = TransitTables(recording, everything, place)
        return found.tables(found.every_flow()) if len(place) else {}
    ranges = _step_ranges(recording)
    tables: dict[str, Rows] = {"StepTraceTime": _step_traces(recording, ranges)}
    place = step_of(ranges, recording.operators.start)
    if (place >= 0).any():
        found = TransitTables(recording, ranges, place)
        tables |= found.tables(found.chosen_flows())
    return {name: columns for name, columns in tables.items() if len(columns["step"])}


def _step_ranges(recording: Recording) -> list[StepRange]:
    capture = recording.capture
    steps, calls, tasks = capture.steps, capture.calls, capture.tasks
    launches = calls.take(calls.level == NODE)
    place = np.searchsorted(launches.connection, tasks.connection)
    place[place == len(launches)] = 0
    found = (
        launches.connection[place] == tasks.connection
        if len(launches)
        else np.zeros(len(tasks), np.bool_)
    )
    return step_ranges(
        steps.number,
        Spans(steps.start, steps.end),
        Spans(launches.start, launches.end),
        np.where(found, place, NONE),
        Spans(tasks.start, tasks.end),
    )


def _step_traces(recording: Recording, ranges: list[StepRange]) -> Rows:
    """StepTraceTime: per device a row for every step."""
    capture = recording.capture
    # Tasks are in order of start, and so are their rows.
    kernels = capture.tasks.take(np.sort(recording.task_rows(capture.kernels.task)))
    found = recording.operators
    operators = capture.collectives.take(found.rows)
    receive = operators.kind == recording.texts.number("receive")
    framework = capture.activities.start[capture.activities.kind == OP]
    begin = int(framework.min()) if framework.size else None
    traces: list[StepTrace] = []
    devices = np.union1d(kernels.device, operators.device)
    for device in devices.tolist():
        own, here = kernels.device == device, operators.device == device
        traces += [
            step_trace(
                step,
                Spans(kernels.start[own], kernels.end[own]),
                Spans(found.start[here], found.end[here]),
                receive[here],
                begin,
            )
            for step in ranges
        ]
    lengths = {
        name: np.array([getattr(trace, name) for trace in traces], np.int64)
        for name in StepTrace.__dataclass_fields__
        if name != "step"
    }
    exposed = lengths["communication_not_overlapped"] - lengths["bubble"]
    lengths[EXPOSED] = np.maximum(exposed, 0) if recording.habits.receive_floored else exposed
    steps = [trace.step.number for trace in traces]
    return {
        "device": np.repeat(devices, len(ranges)),
        "step": pa.array(
            [None if step is None else str(step) for step in steps], pa.large_string()
        ),
        **lengths,
    }


class TransitTables:
    """The tables of the communication operators that lie in a step."""

    def __init__(self, recording: Recording, ranges: list[StepRange], place: Integers) -> None:
        self.recording = recording
        capture, found = recording.capture, recording.operators
        kept = np.flatnonzero(place >= 0)
        self.batch = capture.collectives.take(found.rows[kept])
        self.start, self.end = found.start[kept], found.end[kept]
        self.place = place[kept]
        self.steps = [f"step{'' if step.number is None else step.number}" for step in ranges]
        place_of = np.full(len(capture.collectives), NONE)
        place_of[found.rows[kept]] = np.arange(len(kept))
        self.tasks = self._tasks(place_of)
        texts = recording.texts.all
        self.names = _named(texts, self.batch.name)
        hashes = [group_hash(texts[name]) for name in capture.groups.name.tolist()]
        self.groups = pa.array(hashes, pa.large_string())
        numbers, kind = np.unique(self.batch.kind, return_inverse=True)
        kinds = [f"hcom_{texts[number]}_" for number in numbers.tolist()]
        paired = np.array([matrix.is_point_to_point(name) for name in kinds])
        self.collective = np.where(paired, 0, 1)[kind]
        self.matrix_kinds = sorted({matrix.matrix_kind(name) for name in kinds})
        places = [self.matrix_kinds.index(matrix.matrix_kind(name)) for name in kinds]
        self.matrix_kind = np.array(places)[kind]

    def _tasks(self, place_of: Integers) -> transit.SmallTasks:
        recording = self.recording
        batch = recording.transfers
        owner = place_of[batch.collective]
        batch, owner = batch.take(owner != NONE), owner[owner != NONE]
        rows = recording.task_rows(batch.task)
        carries = np.isin(batch.kind, recording.texts.numbers(transit.TRANSIT_KINDS))
        remote = batch.transport == recording.enum_id(TRANSPORTS, "RDMA")
        direct = batch.transport == recording.enum_id(TRANSPORTS, "SDMA")
        return transit.SmallTasks(
            owner=owner,
            start=recording.capture.tasks.start[rows],
            end=recording.capture.tasks.end[rows],
            link=np.where(remote, transit.RDMA, self._links(batch.link)),
            source=batch.source,
            target=np.where(batch.target == NONE, batch.source, batch.target),
            size=batch.size,
            on_master=batch.master == 1,
            moves=carries & (remote | direct),
            waits=batch.kind == recording.texts.number(transit.WAIT_KIND),
        )

    def _links(self, links: Integers) -> Integers:
        table = np.full(int(links.max(initial=0)) + 2, transit.SDMA)
        for number, name in self.recording.members(LINK_TYPES).items():
            if number < len(table) - 1:
                table[number] = transit.OF_LINK.get(name, transit.SDMA)
        return table[links]

    def tables(self, flows: Rows) -> dict[str, Rows]:
        """CommAnalyzerTime, CommAnalyzerBandwidth, and CommAnalyzerMatrix of these flows."""
        return {
            "CommAnalyzerTime": self._times(),
            "CommAnalyzerBandwidth": self._bandwidths(),
            "CommAnalyzerMatrix": flows,
        }

    def _times(self) -> Rows:
        found = transit.division(self.tasks, self.start, self.end)
        return {
            **self._key(np.arange(len(self.batch))),
            "start": self.start,
            "elapsed": found.elapsed,
            "transit": found.transit,
            "wait": found.wait,
            "synchronization": found.synchronization,
            "idle": found.idle,
        }

    def _bandwidths(self) -> Rows:
        """Per link a row for each size of packet, in the exporter's order of links."""
        found = transit.rows_of_links(transit.packets(self.tasks))
        order = np.lexsort((found.link, found.owner))
        ratio = python_round(found.large / np.maximum(found.packets, 1), 4)
        columns: dict[str, npt.NDArray[Any]] = {
            "size": found.transit_size / BYTES_PER_MB,
            "time": found.transit_time,
            "bandwidth": matrix.rate(found.transit_size, found.transit_time),
            "large_share": ratio,
            "package": found.size / BYTES_PER_MB,
            "count": found.count,
            "package_time": found.duration,
        }
        return {
            **self._key(found.owner[order]),
            "transport": _named(transit.LINKS, found.link[order]),
            **{name: values[order] for name, values in columns.items()},
        }

    def every_flow(self) -> Rows:
        """Each operator's flow for each pair of ranks, those of an operator together."""
        flows = transit.flows(self.tasks)
        order = np.argsort(flows.owner, kind="stable")
        return self._of_flows(flows, order, flows.size[order], flows.duration[order])

    def chosen_flows(self) -> Rows:
        """Per step, class, kind and group: the chosen flows of each pair of ranks."""
        flows = transit.flows(self.tasks)
        step, collective, kind, group = (
            key[flows.owner]
            for key in (self.place, self.collective, self.matrix_kind, self.batch.group)
        )
        _, family = groups(step, collective, kind, group)
        _, heap = groups(family, flows.source, flows.target)
        rows = matrix.choices(flows, heap)
        flow = rows.flow
        owner = flows.owner[flow]
        order = np.lexsort((heap[flow], rows.choice, family[flow], collective[flow], step[flow]))
        flow, owner, choice = flow[order], owner[order], rows.choice[order]
        total = choice == matrix.CHOICES.index("total")
        labels = [f"{name}-{suffix}" for name in self.matrix_kinds for suffix in matrix.CHOICES]
        operator = self.names.take(pa.array(owner))
        return {
            **self._of_flows(flows, flow, rows.size[order], rows.duration[order]),
            "operator": _named(labels, kind[flow] * len(matrix.CHOICES) + choice),
            "collective": pc.if_else(pa.array(total), "", operator),
        }

    def _of_flows(
        self, flows: transit.Flows, rows: Integers, size: Integers, duration: Integers | Reals
    ) -> Rows:
        """Columns of some flows, with the Byte and ns that are stated of each."""
        return {
            **self._key(flows.owner[rows]),
            "source": flows.source[rows],
            "target": flows.target[rows],
            "transport": _named(transit.NAMES_IN_MATRIX, flows.link[rows]),
            "size": size / BYTES_PER_MB,
            "time": duration,
            "bandwidth": matrix.rate(size, duration),
        }

    def _key(self, owner: Integers) -> dict[str, Values]:
        return {
            "operator": self.names.take(pa.array(owner)),
            "group": self.groups.take(pa.array(self.batch.group[owner])),
            "step": _named(self.steps, self.place[owner]),
            "class": _named(CLASSES, self.collective[owner]),
        }


def _named(names: Sequence[str | None], places: Integers) -> pa.Array:
    return pa.array(names, pa.large_string()).take(pa.array(places))
