"""Memory and processors of the systems of devices and of the host, and of their processes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import count

import numpy as np

from ascend_ref.capture import Capture, Integers, Texts
from ascend_ref.capture.model import NONE
from ascend_ref.derive.host_usage import STATES
from ascend_spec import raw_catalog

from ..lines import Entry, encode_lines
from ..processors import samples_of
from ..system_load import (
    FIGURES,
    FILES,
    KIBIBYTE,
    PAGES,
    PROCESSORS,
    TIMES,
    clock_of,
    of_sizes,
)
from .tree import RawTree

Row = Mapping[str, int]

_WIDTH = 23
"""Of a name and a number in /proc/meminfo, which stand in columns."""


def device_processors(capture: Capture) -> Mapping[int, Mapping[str, str]]:
    """What info.json has to say of each device for readers of its processors.

    Processors whose load was not sampled have the least numbers that are free.
    """
    table = capture.records.get("cpu_usage", {})
    texts = capture.texts.all
    found: dict[int, dict[str, str]] = {}
    for device in capture.origin.devices:
        numbers: dict[str, list[int]] = {}
        if table:
            own = table["device"] == device
            kinds = np.array([texts[number] for number in table["type"][own].tolist()], object)
            numbers = {
                key: np.unique(table["cpu"][own][kinds == kind]).tolist()
                for kind, key in PROCESSORS.items()
            }
        for key in PROCESSORS.values():
            if not numbers.get(key) and samples_of(capture, key, device):
                taken = {one for own in numbers.values() for one in own}
                numbers[key] = [next(one for one in count() if one not in taken)]
        found[device] = {key: ",".join(map(str, one)) for key, one in numbers.items() if one}
    return found


def write_system_load(capture: Capture, tree: RawTree) -> None:
    """Write the samples of the systems and of their processes that there are."""
    for record, kinds in FILES.items():
        table = capture.records.get(record, {})
        for device in (NONE, *tree.devices) if table else ():
            kind = kinds.of(device)
            own = np.flatnonzero(table["device"] == device)
            if not len(own) or not tree.writes(kind):
                continue
            process = table["pid"][own] if "pid" in table else np.zeros(len(own), np.int64)
            for pid in np.unique(process).tolist():
                rows = {name: column[own[process == pid]] for name, column in table.items()}
                parts = {"process": pid} if "pid" in table else {}
                place = None if device == NONE else device
                clock = tree.side[place].by_name(clock_of(device))
                samples = _samples(rows, clock.ticks(np.unique(rows["time"])))
                content = ((time, _LINES[record](own, capture.texts)) for time, own in samples)
                tree.write_lines(kind, _blocks(kind, content), place, **parts)


def _samples(columns: Mapping[str, Integers], ticks: Integers) -> Iterator[tuple[int, list[Row]]]:
    """The rows of each moment, in order; ticks: of the moments."""
    _, moment = np.unique(columns["time"], return_inverse=True)
    rows: list[list[Row]] = [[] for _ in ticks]
    values = zip(*(column.tolist() for column in columns.values()), strict=True)
    for at, row in zip(moment.reshape(-1).tolist(), values, strict=True):
        rows[at].append(dict(zip(columns, row, strict=True)))
    return zip(ticks.tolist(), rows, strict=True)


def _blocks(kind: str, samples: Iterable[tuple[int, Iterable[Entry]]]) -> Iterator[Entry]:
    """A block for each sample, of which the time is given and the lines."""
    grammar = raw_catalog().grammar_of(kind)
    for index, (time, lines) in enumerate(samples):
        content = list(lines)
        yield Entry("time", {"time": time})
        yield Entry("index", {"index": index})
        yield Entry("length", {"length": len(encode_lines(content, grammar))})
        yield from content
        yield Entry("end")


def _memory(rows: list[Row], texts: Texts) -> Iterator[Entry]:
    """The lines of /proc/meminfo that readers take."""
    sizes = of_sizes("sys_mem")
    for row in rows:
        for name, column in FIGURES.items():
            is_size = column in sizes
            number = str(row[column] // KIBIBYTE if is_size else row[column])
            amount = f"{number:>{_WIDTH - len(name)}}{' kB' * is_size}"
            yield Entry("figure", {"name": name, "amount": amount})


def _process_memory(rows: list[Row], texts: Texts) -> Iterator[Entry]:
    for row in rows:
        pages = {name: row[name] for name in PAGES}
        others = dict.fromkeys(("text", "libraries", "data", "dirty"), 0)
        yield Entry("memory", {**pages, **others})
        yield Entry("name", {"name": texts.all[row["name"]]})


def _processors(rows: list[Row], texts: Texts) -> Iterator[Entry]:
    """The lines of /proc/stat in lower case, first that of all processors together."""
    every = {state: sum(row[state] for row in rows) for state in STATES}
    yield Entry("processor", {"processor": "cpu", "states": f" {_states(every)}"})
    for row in rows:
        yield Entry("processor", {"processor": f"cpu{row['cpu']}", "states": _states(row)})


def _states(row: Row) -> str:
    return " ".join(str(row[state]) for state in STATES)


def _process(rows: list[Row], texts: Texts) -> Iterator[Entry]:
    """The line of /proc/pid/stat, and the time of all processors, which readers add up."""
    for row in rows:
        name = texts.all[row["name"]]
        before, behind = " ".join("0" * 10), " ".join("0" * 35)
        ran = " ".join(str(row[column]) for column in TIMES)
        yield Entry("process", {"pid": row["pid"], "rest": f"({name}) S {before} {ran} {behind}"})
        yield Entry("name", {"name": name})
        every = {**dict.fromkeys(STATES, 0), "idle": row["system"]}
        yield Entry("processors", {"states": f" {_states(every)}"})


_LINES: Mapping[str, Callable[[list[Row], Texts], Iterable[Entry]]] = {
    "sys_mem": _memory,
    "process_mem": _process_memory,
    "cpu_usage": _processors,
    "process_cpu_usage": _process,
}
