"""One capture from those of several devices that one process used."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from ascend_spec import catalog

from .batch import Batch, Integers
from .model import (
    FIRST_MARK_CONNECTION,
    NONE,
    Capture,
    Collections,
    Counters,
    HostCalls,
    Marks,
    MemoryTotals,
    Samples,
    SystemCalls,
    Tasks,
    WorkspaceEvents,
)
from .records import RECORDS, Records
from .texts import Texts

BatchT = TypeVar("BatchT", bound=Batch)

ORDERED: Mapping[type[Batch], str] = {
    Tasks: "start",
    HostCalls: "connection",
    SystemCalls: "start",
    Collections: "start",
    Marks: "start",
    MemoryTotals: "time",
    WorkspaceEvents: "time",
}
"""Tables whose rows are in order, and the column that they are ordered by."""


TASK = "globalTaskId"
"""The column of samples that names a task."""


def merged(captures: Sequence[Capture]) -> Capture:
    """The captures of one process, as one: everything of each, on one host and in one session.

    Process, rank, switches and steps are those of the first, and so is what records state about
    the host. Host calls get new numbers in order of time; groups, operators, tasks and stacks stay
    apart. Raises ``ValueError`` for no capture, for different switches or metrics, and for a device
    that stands in two of them.
    """
    if not captures:
        raise ValueError("captures: none; expected at least one")
    if len(captures) == 1:
        return captures[0]
    first = captures[0]
    devices = tuple(device for capture in captures for device in capture.origin.devices)
    if len(set(devices)) < len(devices):
        raise ValueError(f"captures: devices {sorted(devices)}; expected each once")
    if any(capture.switches != first.switches for capture in captures):
        raise ValueError("captures: of different switches; expected those of one session")
    texts = Texts()
    before: Counter[str] = Counter()
    parts = []
    for capture, connections in zip(captures, _connections(captures), strict=True):
        move = _Move(texts.numbers(capture.texts.all), dict(before), connections)
        parts.append(move.moved(capture))
        before.update(_counts(capture))
    ends = [capture.origin.end for capture in captures]
    origin = replace(
        first.origin,
        devices=devices,
        start=min(capture.origin.start for capture in captures),
        end=None if None in ends else max(end for end in ends if end is not None),
    )
    tables = {
        item.name: _stacked([getattr(part, item.name) for part in parts])
        for item in fields(Capture)
        if isinstance(getattr(first, item.name), Batch) and item.name != "steps"
    }
    return Capture(
        origin=origin,
        switches=first.switches,
        texts=texts,
        counters=_counters([part.counters for part in parts]),
        group_ranks=np.concatenate([part.group_ranks for part in parts]),
        steps=first.steps,
        samples=_samples([part.samples for part in parts]),
        records=_records([part.records for part in parts]),
        **tables,
    )


def _counts(capture: Capture) -> dict[str, int]:
    """How many of each counted thing a capture has."""

    def numbered(column: Integers) -> int:
        return int(column.max(initial=NONE)) + 1

    return {
        "tasks": numbered(capture.tasks.identity),
        "kernel_kinds": len(capture.kernel_kinds),
        "group_ranks": len(capture.group_ranks),
        "groups": len(capture.groups),
        "collectives": len(capture.collectives),
        "stacks": numbered(capture.frames.stack),
        "links": numbered(capture.activities.link),
        "activities": len(capture.activities),
        "marks": numbered(capture.marks.device_link),
    }


@dataclass(frozen=True, slots=True)
class _Connections:
    """The connections of one capture: its host calls before and after, and the first number that
    none of all the calls has.
    """

    before: Integers
    after: Integers
    beyond: int

    def of(self, numbers: Integers, marks: int) -> Integers:
        """The new connections; the profiler's own tasks share the first free number (4.5)."""
        place = np.searchsorted(self.before, numbers).clip(max=max(len(self.before) - 1, 0))
        found = np.full(len(numbers), self.beyond)
        if len(self.before):
            known = self.before[place] == numbers
            found[known] = self.after[place[known]]
        marked = numbers >= FIRST_MARK_CONNECTION
        found[marked] = numbers[marked] + marks
        return np.where(numbers == NONE, NONE, found)


def _connections(captures: Sequence[Capture]) -> list[_Connections]:
    """Connections that are unique and ascend in time over all captures."""
    starts = np.concatenate([capture.calls.start for capture in captures])
    least = min(
        (int(capture.calls.connection[0]) for capture in captures if len(capture.calls)), default=0
    )
    numbers = np.empty(len(starts), np.int64)
    numbers[np.argsort(starts, kind="stable")] = least + np.arange(len(starts))
    ends = np.cumsum([len(capture.calls) for capture in captures]).tolist()
    return [
        _Connections(
            capture.calls.connection,
            numbers[end - len(capture.calls) : end],
            least + len(starts),
        )
        for capture, end in zip(captures, ends, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class _Move:
    """How the numbers in one capture change."""

    texts: Integers
    before: Mapping[str, int]
    connections: _Connections

    def moved(self, capture: Capture) -> Capture:
        tables: dict[str, Any] = {
            item.name: self._table(value)
            for item in fields(Capture)
            if isinstance(value := getattr(capture, item.name), Batch)
        }
        counters = replace(capture.counters, task=capture.counters.task + self._shift("tasks"))
        return replace(
            capture,
            **tables,
            counters=counters,
            samples=self._of_tasks(self._columns(capture.samples, _holds_text)),
            records=self._columns(capture.records, lambda one, name: name in RECORDS[one].texts),
        )

    def _shift(self, counted: str) -> int:
        return self.before.get(counted, 0)

    def _table(self, batch: BatchT) -> BatchT:
        changed: dict[str, Integers] = {}
        for name, counted in type(batch).counted().items():
            values = getattr(batch, name)
            if counted == "texts":
                changed[name] = self._text(values)
            elif counted == "connections":
                changed[name] = self.connections.of(values, self._shift("marks"))
            else:
                changed[name] = np.where(values == NONE, NONE, values + self._shift(counted))
        return replace(batch, **changed)

    def _text(self, numbers: npt.NDArray[Any]) -> Integers:
        # NONE is the last place.
        found: Integers = np.append(self.texts, NONE)[numbers]
        return found

    def _of_tasks(self, samples: Samples) -> Samples:
        return {
            table: {**columns, TASK: columns[TASK] + self._shift("tasks")}
            if TASK in columns
            else columns
            for table, columns in samples.items()
        }

    def _columns(self, tables: Samples, holds_text: Callable[[str, str], bool]) -> Samples:
        return {
            table: {
                name: self._text(values) if holds_text(table, name) else np.asarray(values)
                for name, values in columns.items()
            }
            for table, columns in tables.items()
        }


def _holds_text(table: str, column: str) -> bool:
    newest = catalog().at(catalog().revisions[-1].id, "pytorch").tables[table]
    return column in newest.columns and "STRING_IDS.id" in newest.columns[column].references


def _stacked(parts: Sequence[BatchT]) -> BatchT:
    stacked = type(parts[0]).joined(parts)
    if type(stacked) not in ORDERED:
        return stacked
    return stacked.take(np.argsort(getattr(stacked, ORDERED[type(stacked)]), kind="stable"))


def _counters(parts: Sequence[Counters]) -> Counters:
    filled = [part for part in parts if len(part.task)]
    if len({part.metrics for part in filled}) > 1:
        raise ValueError("captures: with different metrics; expected those of one session")
    if not filled:
        return Counters.empty()
    return Counters(
        filled[0].metrics,
        np.concatenate([part.task for part in filled]),
        np.concatenate([part.values for part in filled]),
    )


def _samples(parts: Sequence[Samples]) -> Samples:
    """Samples of every device; of the host those of the first capture that has them."""
    found: dict[str, Mapping[str, npt.NDArray[Any]]] = {}
    for part in parts:
        for table, columns in part.items():
            if table not in found:
                found[table] = columns
            elif "deviceId" in columns:
                found[table] = {
                    name: np.concatenate([found[table][name], values])
                    for name, values in columns.items()
                }
    return found


def _records(parts: Sequence[Records]) -> Records:
    """Rows of every device, one device after the other; those of the host from the first capture
    that has any.
    """
    found: dict[str, dict[str, npt.NDArray[Any]]] = {}
    hosts: set[str] = set()
    for part in parts:
        for record, columns in part.items():
            device = columns.get("device")
            kept = np.ones(len(next(iter(columns.values()))), np.bool_)
            if device is not None and record in hosts:
                kept = device != NONE
            elif device is not None and (device == NONE).any():
                hosts.add(record)
            before = found.get(record)
            found[record] = {
                name: values[kept] if before is None else np.append(before[name], values[kept])
                for name, values in columns.items()
            }
    return found
