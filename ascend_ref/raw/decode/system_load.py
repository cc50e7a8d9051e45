"""Memory and processors of the systems of devices and of the host, and of their processes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import NamedTuple

import numpy as np

from ascend_ref.capture import RECORDS, Integers, Records, Texts
from ascend_ref.capture.model import NONE
from ascend_ref.derive.host_usage import STATES

from ..clocks import LIMIT, OUT_OF_RANGE
from ..context import Context
from ..damage import Damage
from ..series import Parts
from ..system_load import (
    FIGURES,
    FILES,
    KIBIBYTE,
    OF_HOST,
    PAGES,
    PROCESSORS,
    TIMES,
    clock_of,
    in_order,
    of_sizes,
)
from .session import Session
from .times import state_wrong, times_of

_AMOUNT = re.compile(r"([0-9]{1,20})( kB)?")
_MOST = 1 << 43
"""KiB and pages: more than 8 PiB and 32 PiB, which are no machine's."""
_MOST_TICKS = 1 << 40
"""Of 10 ms: 348 years, also of a process on several processors."""
_MOST_OF_ALL = 1 << 50
"""Of all processors of a system."""
_MOST_PROCESSORS = 1 << 16
_MOST_PROCESSES = 1 << 32
_NUMBERS = re.compile(r"[0-9]{1,20}(?: +[0-9]{1,20})*")
_PROCESSOR = re.compile(r"cpu([0-9]{1,20})")
_BEFORE = 11
"""Values of /proc/pid/stat between the name of the program and the times."""
_OPTIONAL = ("HugePages_Total", "HugePages_Free")
"""Kernels without huge pages do not print them."""


class Wrong(ValueError):
    """A sample that cannot be."""


Kinds = Mapping[int, str]
"""Types of processors by number."""


class Block(NamedTuple):
    """A sample: the process of its file, NONE for the system's, its time and its lines."""

    process: int
    time: int
    lines: list[tuple[str, Mapping[str, str]]]

    def parts(self, line: str) -> Mapping[str, str]:
        """The changing parts of the line of a kind that comes once. Raises :class:`Wrong`."""
        found = [parts for kind, parts in self.lines if kind == line]
        if len(found) != 1:
            raise Wrong
        return found[0]


Row = dict[str, int]


def read_system_load(session: Session, texts: Texts) -> Records:
    """The records of devices and of the host. Samples that cannot be are damage."""
    found: dict[str, list[Mapping[str, Integers]]] = {}
    for device, context in (*session.devices.items(), (NONE, session.host)):
        for record, kinds in FILES.items():
            if context is not None and kinds.of(device) in context.folder.files:
                columns = _read(session, context, device, record, texts)
                found.setdefault(record, []).append(columns)
    joined = {
        record: {
            name: np.concatenate([part[name] for part in parts]) for name in RECORDS[record].columns
        }
        for record, parts in found.items()
    }
    return {
        record: in_order(record, columns)
        for record, columns in joined.items()
        if len(columns["device"])
    }


def _read(
    session: Session, context: Context, device: int, record: str, texts: Texts
) -> Mapping[str, Integers]:
    kind = FILES[record].of(device)
    reader = (
        _READERS[record]
        if record != "cpu_usage"
        else partial(_processors, processor_types(session, context, device, kind))
    )
    rows: list[Row] = []
    ticks: list[int] = []
    wrong = right = 0
    for block in _blocks(session, context, kind):
        try:
            own = reader(block, texts)
        except Wrong:
            wrong += 1
        else:
            right += 1
            rows += own
            ticks += [block.time] * len(own)
    what = "have numbers that they cannot have, or lack lines"
    state_wrong(session, context, kind, wrong, wrong + right, what)
    time = times_of(session, context, kind, clock_of(device), np.array(ticks, np.int64))
    own_columns = [one for one in RECORDS[record].columns if one not in ("device", "time")]
    return {
        "device": np.full(len(rows), device),
        # What is shown does not depend on the time.
        "time": np.where(time == OUT_OF_RANGE, NONE, time),
        **{name: np.array([row[name] for row in rows], np.int64) for name in own_columns},
    }


def _blocks(session: Session, context: Context, kind: str) -> Iterator[Block]:
    """The samples of all files of a kind; lines before the first one are of none."""
    block: Block | None = None
    file: Parts | None = None
    for of, line, parts in session.named_lines(context, kind):
        if line == "time" or of != file:
            if block is not None:
                yield block
            block, file = None, of
        if line == "time":
            process = min(int(dict(of).get("process", NONE)), LIMIT)
            block = Block(process, min(int(parts["time"]), LIMIT), [])
        elif block is not None:
            block.lines.append((line, parts))
    if block is not None:
        yield block


def _count(text: str, most: int) -> int:
    """A number that is not greater than another one. Raises :class:`Wrong`."""
    if int(text) > most:
        raise Wrong
    return int(text)


def _memory(block: Block, texts: Texts) -> list[Row]:
    """The figures of /proc/meminfo that are shown."""
    amounts = dict.fromkeys(_OPTIONAL, 0)
    named = [parts for line, parts in block.lines if line == "figure" and parts["name"] in FIGURES]
    for parts in named:
        amount = _AMOUNT.fullmatch(parts["amount"].strip())
        if amount is None:
            raise Wrong
        amounts[parts["name"]] = _count(amount[1], _MOST)
    if len({parts["name"] for parts in named}) < len(named) or amounts.keys() < FIGURES.keys():
        raise Wrong
    sizes = of_sizes("sys_mem")
    return [
        {
            column: amounts[name] * (KIBIBYTE if column in sizes else 1)
            for name, column in FIGURES.items()
        }
    ]


def _process_memory(block: Block, texts: Texts) -> list[Row]:
    parts = block.parts("memory")
    return [
        {
            "pid": _process(block.process),
            "name": texts.number(block.parts("name")["name"].strip()),
            **{name: _count(parts[name], _MOST) for name in PAGES},
        }
    ]


def processor_types(session: Session, context: Context, device: int, kind: str) -> Kinds | None:
    """The types of the processors of a device, as its info.json has them; None for the host."""
    if device == NONE:
        return None
    found: dict[int, str] = {}
    devices = context.side.documents.get("info", {}).get("DeviceInfo")
    own = devices[0] if isinstance(devices, list) and devices else None
    for type_, key in PROCESSORS.items():
        numbers = str(own.get(key, "")).split(",") if isinstance(own, dict) else []
        for number in numbers:
            if _NUMBERS.fullmatch(number.strip()):
                found.setdefault(int(number), type_)
    if not found:
        text = f"{kind}: info.json has neither ctrl_cpu nor ai_cpu, so no processor is known"
        session.damage.append(Damage(context.folder.path, text, kind=kind))
    return found


def _processors(types: Kinds | None, block: Block, texts: Texts) -> list[Row]:
    """The processors of the host, or those of a device whose type is known.

    Readers of the host count the line of all processors as well; the shares are the same.
    """
    rows = []
    for line, parts in block.lines:
        number = _PROCESSOR.fullmatch(parts["processor"]) if line == "processor" else None
        if number is None:
            continue
        cpu = _count(number[1], _MOST_PROCESSORS)
        kind = OF_HOST if types is None else types.get(cpu)
        if kind is not None:
            spent = _ticks(parts["states"])
            if len(spent) < len(STATES):
                raise Wrong
            row = dict(zip(STATES, spent, strict=False))
            rows.append({"type": texts.number(kind), "cpu": cpu, **row})
    if len({row["cpu"] for row in rows}) < len(rows):
        raise Wrong
    return rows


def _ticks(text: str) -> list[int]:
    if not _NUMBERS.fullmatch(text.strip()):
        raise Wrong
    return [_count(one, _MOST_TICKS) for one in text.split()]


def _process_cpu(block: Block, texts: Texts) -> list[Row]:
    """What a process ran; a sample without the line of all processors is not shown."""
    if not any(line == "processors" for line, _ in block.lines):
        return []
    parts = block.parts("process")
    # Blanks may stand in the name of the program, which is in brackets.
    values = parts["rest"].rpartition(")")[2].split()
    times = values[_BEFORE : _BEFORE + len(TIMES)]
    if len(times) < len(TIMES):
        raise Wrong
    return [
        {
            "pid": _process(int(parts["pid"])),
            "name": texts.number(block.parts("name")["name"].strip()),
            **dict(zip(TIMES, _ticks(" ".join(times)), strict=True)),
            "system": _sum(block.parts("processors")["states"]),
        }
    ]


def _sum(text: str) -> int:
    if not _NUMBERS.fullmatch(text.strip()):
        raise Wrong
    return sum(_count(one, _MOST_OF_ALL) for one in text.split())


def _process(number: int) -> int:
    if number >= _MOST_PROCESSES:
        raise Wrong
    return number


_READERS: Mapping[str, Callable[[Block, Texts], list[Row]]] = {
    "sys_mem": _memory,
    "process_mem": _process_memory,
    "process_cpu_usage": _process_cpu,
}
