"""What AI CPU, Ctrl CPU and TS CPU did, as samples of their functions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ascend_ref.capture import Capture
from ascend_spec.core.packed import ClockName
from ascend_spec.raw.records import SCHEDULER_MAGIC

from ..lines import Entry
from ..moments import MICROSECOND
from ..processors import FILES, SCHEDULER, UNKNOWN, Sample, address_of, samples_of
from ..rates import SECOND
from ..system_load import PROCESSORS
from .system_load import device_processors
from .tree import RawTree

_CLOCK: ClockName = "device-monotonic"
_PROGRAM = "unrecorded"


class _Timed(NamedTuple):
    """A sample at a moment; ``processor``: the number of the processor."""

    time: int
    processor: int
    sample: Sample


def write_processors(capture: Capture, tree: RawTree) -> None:
    """Write the samples of each device, evenly over the session."""
    listed = device_processors(capture)
    for device in tree.devices:
        if tree.writes(FILES[SCHEDULER]):
            _write_scheduler(capture, tree, device)
        timed: list[_Timed] = []
        for key in PROCESSORS.values() if tree.writes(FILES["ai_cpu"]) else ():
            samples = samples_of(capture, key, device)
            times = _times(capture, tree, device, len(samples))
            number = int(listed[device][key].split(",")[0]) if samples else 0
            timed += [_Timed(at, number, one) for at, one in zip(times, samples, strict=True)]
        tree.write_lines(FILES["ai_cpu"], _lines(sorted(timed, key=lambda one: one.time)), device)


def _times(capture: Capture, tree: RawTree, device: int, count: int) -> list[int]:
    start = capture.origin.start
    length = (capture.origin.end or start) - start
    moments = start + length * np.arange(count) // max(count, 1)
    ticks: list[int] = tree.side[device].by_name(_CLOCK).ticks(moments).tolist()
    return ticks


def _lines(timed: list[_Timed]) -> Iterator[Entry]:
    """What perf script prints, the events of a sample one after the other."""
    for time, processor, sample in timed:
        seconds, rest = divmod(time, SECOND)
        name, module = sample.function
        shown = f"[{UNKNOWN}]" if name == UNKNOWN else f"{name}+0x0"
        for event, count in sample.counts.items():
            yield Entry(
                "sample",
                {
                    "command": _PROGRAM,
                    "process": 0,
                    "thread": 0,
                    "processor": f"{processor:03}",
                    "time": f"{seconds}.{rest // MICROSECOND:06}",
                    "count": count,
                    "event": f"r{event:x}",
                },
            )
            yield Entry("frame", {"address": "0", "function": shown, "module": module})
            yield Entry("end")


def _write_scheduler(capture: Capture, tree: RawTree, device: int) -> None:
    """Records with as many events as there is room for, and of the others further ones."""
    samples = samples_of(capture, SCHEDULER, device)
    kind = FILES[SCHEDULER]
    room = tree.rows(kind, 0).dtype["pmuData"].shape[0] // 2
    found = [
        (
            time,
            address_of(sample.function[0]) or 0,
            dict(list(sample.counts.items())[at : at + room]),
        )
        for time, sample in zip(_times(capture, tree, device, len(samples)), samples, strict=True)
        for at in range(0, len(sample.counts), room)
    ]
    rows = tree.rows(kind, len(found))
    rows["header"] = SCHEDULER_MAGIC
    for row, (time, address, counts) in zip(rows, found, strict=True):
        row["timestamp"], row["pc"] = time, address
        pairs = [number for pair in counts.items() for number in pair]
        row["pmuData"][: len(pairs)] = pairs
    tree.write(kind, rows, device)
