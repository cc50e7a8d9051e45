"""Defective exporters of raw profiles of the framework: the reference on files of which one thing
is read wrongly. Where there is nothing to change the exporter is right.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from zoo import Bug, Inapplicable, export_changed, register

from ascend_conformance.harness.framework_to_profile import reference

Texts = dict[int, bytes]
Change = Callable[[bytearray, Texts], object]

OPERATOR = 58
"""Bytes of the fixed part of an operator; its texts are behind it."""
MARK = 40
MEMORY = 77
FUNCTION = 33
SHAPES, STACK = 4, 8

BUGS: dict[str, Bug] = {}
bug = partial(register, BUGS, partial(export_changed, reference))


def _values(content: bytes) -> Iterator[tuple[int, bytes]]:
    """Values with their tags, one behind the other."""
    at = 0
    while at < len(content):
        tag, size = struct.unpack_from("<HI", content, at)
        yield tag, content[at + 6 : at + 6 + size]
        at += 6 + size


def _joined(values: Iterator[tuple[int, bytes]] | list[tuple[int, bytes]]) -> bytes:
    return b"".join(struct.pack("<HI", tag, len(value)) + value for tag, value in values)


def _file(profile: Path, name: str) -> Path:
    path = profile / "FRAMEWORK" / f"torch.{name}"
    if not path.exists():
        raise Inapplicable
    return path


def _records(profile: Path, name: str, select: Callable[[list[bytes]], list[bytes]]) -> None:
    """Other records in a file of records with tags."""
    path = _file(profile, name)
    found = list(_values(path.read_bytes()))
    if not found:
        raise Inapplicable
    kept = select([record for _, record in found])
    path.write_bytes(_joined([(found[0][0], record) for record in kept]))


def _each(profile: Path, name: str, size: int, change: Change) -> None:
    """Change the fixed part and the texts of every record of a file of records with tags."""

    def changed(record: bytes) -> bytes:
        fixed, texts = bytearray(record[:size]), dict(_values(record[size:]))
        change(fixed, texts)
        return bytes(fixed) + _joined(list(texts.items()))

    _records(profile, name, lambda records: [changed(one) for one in records])


def _text(profile: Path, tag: int, change: Callable[[bytes], bytes]) -> None:
    """Change a text of every operator that has it."""

    def changed(_: bytearray, texts: Texts) -> None:
        if tag in texts:
            texts[tag] = change(texts[tag])

    _each(profile, "op_range", OPERATOR, changed)


@bug()
def counter_as_nanoseconds(profile: Path) -> None:
    """Whether times are those of the counter is not looked at."""
    for path in profile.glob("profiler_info_*.json"):
        document = json.loads(path.read_text())
        document["start_info"]["syscnt_enable"] = False
        path.write_text(json.dumps(document))


@bug()
def first_operator_dropped(profile: Path) -> None:
    """A loop over operators begins one too late."""
    _records(profile, "op_range", lambda records: records[1:])


@bug()
def last_operator_dropped(profile: Path) -> None:
    """The last operator is not flushed."""
    _records(profile, "op_range", lambda records: records[:-1])


@bug()
def last_mark_dropped(profile: Path) -> None:
    """The last end of an entry of the queue is lost."""
    _records(profile, "op_mark", lambda records: records[:-1])


@bug()
def last_allocation_dropped(profile: Path) -> None:
    """The last event of the allocator is lost."""
    _records(profile, "memory_usage", lambda records: records[:-1])


@bug()
def exits_off_by_one(profile: Path) -> None:
    """Each exit of a function has the time of the one before."""
    path = _file(profile, "python_tracer_func")
    content = bytearray(path.read_bytes())
    exits = [at for at in range(0, len(content), FUNCTION) if content[at + 32] in (1, 3)]
    times = [bytes(content[at : at + 8]) for at in exits]
    for at, time in zip(exits[1:], times, strict=False):
        content[at : at + 8] = time
    path.write_bytes(content)


@bug()
def one_thread_for_all(profile: Path) -> None:
    """All operators are of the first thread of the process."""

    def changed(fixed: bytearray, _: Texts) -> None:
        fixed[32:40] = fixed[24:32]

    _each(profile, "op_range", OPERATOR, changed)
    _each(profile, "op_mark", MARK, lambda fixed, _: fixed.__setitem__(slice(24, 32), fixed[32:40]))


@bug()
def ends_as_lengths(profile: Path) -> None:
    """The end of an operator is taken for its length."""

    def changed(fixed: bytearray, _: Texts) -> None:
        start, end = struct.unpack_from("<2q", fixed)
        struct.pack_into("<q", fixed, 8, start + end)

    _each(profile, "op_range", OPERATOR, changed)


@bug("it takes a backward pass, and the smallest network that is trained has many operators")
def backward_as_forward(profile: Path) -> None:
    """Which operators are of a backward pass is not looked at."""

    def changed(fixed: bytearray, _: Texts) -> None:
        fixed[48:56] = bytes(8)

    _each(profile, "op_range", OPERATOR, changed)


@bug()
def shapes_cut(profile: Path) -> None:
    """Of the shapes of inputs only the first is read."""
    _text(profile, SHAPES, lambda text: text.partition(b";")[0])


@bug()
def stack_reversed(profile: Path) -> None:
    """The frames of a call stack are read outermost first."""
    _text(profile, STACK, lambda text: b";".join(text.split(b";")[::-1]))


def _memory(profile: Path, change: Callable[[bytearray], object]) -> None:
    _each(profile, "memory_usage", MEMORY, lambda fixed, _: change(fixed))


@bug()
def kilobytes_for_bytes(profile: Path) -> None:
    """Sizes are read as kilobytes and written as those of bytes."""

    def changed(fixed: bytearray) -> None:
        for at in range(16, 48, 8):
            (size,) = struct.unpack_from("<q", fixed, at)
            struct.pack_into("<q", fixed, at, int(size / 1024))

    _memory(profile, changed)


@bug()
def releases_swapped(profile: Path) -> None:
    """Giving back and being back in the pool are exchanged."""

    def changed(fixed: bytearray) -> None:
        fixed[59] = (0, 2, 1)[fixed[59]]

    _memory(profile, changed)


@bug()
def workspaces_as_blocks(profile: Path) -> None:
    """Which allocator an event is of is not looked at."""

    def changed(fixed: bytearray) -> None:
        fixed[58] = 0

    _memory(profile, changed)
