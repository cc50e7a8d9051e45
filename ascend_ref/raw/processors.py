"""What AI CPU, Ctrl CPU and TS CPU did: samples of their functions, and the sums that are shown.

A recording holds sums alone: cycles by function, and events of all functions together. Files hold
samples that add up to them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from ascend_ref.capture import RECORDS, Capture, Integers, Records, Texts
from ascend_ref.capture.model import NONE
from ascend_spec import raw_catalog

from .machine import chip_of
from .vocabulary import named, numbered

FILES: Mapping[str, str] = {"ai_cpu": "ai_ctrl_cpu", "ctrl_cpu": "ai_ctrl_cpu", "ts_cpu": "tscpu"}
"""The kind of files of each kind of processors."""
SCHEDULER = "ts_cpu"
"""It has addresses in place of functions, and no modules."""
FUNCTIONS, EVENTS = "_top_function", "_pmu_events"
"""How the names of the records end."""
EVENT_NAMES = "processor_events"
CYCLES = "CPU_CYCLES"
"""The event that functions are shown with."""
UNKNOWN = "unknown"
"""What a function without a symbol is called."""
SETTINGS: Mapping[str, tuple[str, ...]] = {
    "ai_ctrl_cpu_profiling_events": ("ai_cpu", "ctrl_cpu"),
    "ts_cpu_profiling_events": (SCHEDULER,),
}
"""Keys of sample.json that list the events."""
PARTS: Mapping[str, int] = {"ai_cpu": 16, "ctrl_cpu": 16, SCHEDULER: 1}
"""Samples of all functions together, at least. A reader takes a text in ten parts, and a sample
that is in several of them as often (U27).
"""
_MOST = 1 << 62
"""No sum is greater."""

Function = tuple[str, str | None]
"""Name and module."""


class Sample(NamedTuple):
    """A function that was found at work, and the events since the last one, by number."""

    function: Function
    counts: Mapping[int, int]


class Sums:
    """What samples of one kind of processors of one device add up to."""

    def __init__(self) -> None:
        self.cycles: dict[Function, int] = {}
        self.events: dict[int, int] = {}

    def add(self, function: Function, event: int, count: int) -> bool:
        """Add events of a function; false for a number or a sum that no counter has."""
        total = self.events.get(event, 0) + count
        if event not in named(EVENT_NAMES) or total > _MOST:
            return False
        self.events[event] = total
        if event == cycles_event() and count:
            self.cycles[function] = self.cycles.get(function, 0) + count
        return True


def cycles_event() -> int:
    """The number of the event of cycles."""
    return numbered(EVENT_NAMES)[CYCLES]


Found = Mapping[str, Mapping[int, Sums]]
"""The sums by kind of processors and device."""


def records_of(found: Found, texts: Texts) -> Records:
    """The records: functions by cycles, the most first, and events as they came first."""
    records = {}
    for processor in FILES:
        by_device = sorted(found.get(processor, {}).items())
        functions = [
            (device, texts.number(name), NONE if module is None else texts.number(module), cycles)
            for device, sums in by_device
            for (name, module), cycles in sorted(sums.cycles.items(), key=lambda one: -one[1])
        ]
        events = [
            (device, texts.number(named(EVENT_NAMES)[event]), event, count)
            for device, sums in by_device
            for event, count in sums.events.items()
        ]
        for record, rows in ((processor + FUNCTIONS, functions), (processor + EVENTS, events)):
            if rows:
                columns = np.array(rows, np.int64).T
                records[record] = dict(zip(RECORDS[record].columns, columns, strict=True))
    return records


def samples_of(capture: Capture, processor: str, device: int) -> list[Sample]:
    """Samples whose sums are the records of a device; those of events are as of cycles.

    Without cycles a function that is not known had all events.
    """
    cycles = _functions(capture, processor, device)
    events = _events(capture, processor, device)
    every = sum(cycles.values())
    if not every:
        return [Sample((UNKNOWN, UNKNOWN), events)] if events and processor != SCHEDULER else []
    made, done = [], 0
    for function, own in cycles.items():
        number = -(-own * PARTS[processor] // every)
        for part in range(number):
            before, after = (done + own * one // number for one in (part, part + 1))
            shares = {
                event: count * after // every - count * before // every
                for event, count in events.items()
            }
            made.append(Sample(function, {cycles_event(): after - before, **shares}))
        done += own
    return made


def _functions(capture: Capture, processor: str, device: int) -> dict[Function, int]:
    texts = capture.texts.all
    found: dict[Function, int] = {}
    for row in _rows(capture, processor + FUNCTIONS, device):
        name, module = texts[row["function"]], row["module"]
        if processor == SCHEDULER and address_of(name) is None:
            continue
        is_named = processor != SCHEDULER
        key = name, (UNKNOWN if module == NONE else texts[module]) if is_named else None
        found[key] = found.get(key, 0) + row["cycles"]
    return found


def _events(capture: Capture, processor: str, device: int) -> dict[int, int]:
    """Events but for cycles, which functions have."""
    return {
        row["event"]: row["count"]
        for row in _rows(capture, processor + EVENTS, device)
        if row["event"] != cycles_event() and row["event"] in named(EVENT_NAMES)
    }


def _rows(capture: Capture, record: str, device: int) -> Iterator[dict[str, int]]:
    table: Mapping[str, Integers] = capture.records.get(record, {})
    for row in zip(*(column.tolist() for column in table.values()), strict=True):
        values = dict(zip(table, row, strict=True))
        if values["device"] == device:
            yield values


def address_of(text: str) -> int | None:
    """The address that a text is; ``None`` for none."""
    try:
        number = int(text, 16)
    except ValueError:
        return None
    return number if hex(number) == text and number < 1 << 64 else None


def held_of_processors(capture: Capture) -> Records:
    """The records as raw files hold them."""
    chip, files = chip_of(capture.origin), raw_catalog().files
    found: dict[str, dict[int, Sums]] = {}
    for processor, kind in FILES.items():
        for device in capture.origin.devices if chip in files[kind].chips else ():
            sums = found.setdefault(processor, {}).setdefault(device, Sums())
            for sample in samples_of(capture, processor, device):
                for event, count in sample.counts.items():
                    sums.add(sample.function, event, count)
    return records_of(found, capture.texts)


def processor_settings(capture: Capture) -> dict[str, str]:
    """What sample.json states of the events that were counted."""
    found = {}
    for key, processors in SETTINGS.items():
        events = [
            event
            for processor in processors
            for event in capture.records.get(processor + EVENTS, {}).get("event", np.zeros(0))
        ]
        if events:
            found[key] = ",".join(dict.fromkeys(hex(int(one)) for one in events))
    return found
