"""Defective exporters of raw files: the reference on files of which one thing is read wrongly.

A bug changes a copy of the raw folder before the reference exports it. Where there is nothing to
change the exporter is right.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from functools import partial
from pathlib import Path

from zoo import Bug, Inapplicable, export_changed, register

from ascend_conformance.harness.raw_to_text import reference

BUGS: dict[str, Bug] = {}
bug = partial(register, BUGS, partial(export_changed, reference))
OF_AGED: dict[str, Bug] = {}
"""Bugs that only files show of which the oldest records were taken away."""
bug_of_aged = partial(register, OF_AGED, partial(export_changed, reference))

SIZE = 64
"""Bytes of a record of a log of tasks."""


def slices_of(prof: Path, pattern: str) -> list[Path]:
    """The slices of all files of a pattern, the last one last."""
    found = sorted(prof.rglob(f"{pattern}.slice_*"), key=lambda one: int(one.suffix[7:]))
    if not found:
        raise Inapplicable
    return found


def _records(prof: Path, pattern: str, size: int, change: Callable[[bytearray], None]) -> None:
    """Change every record of all files of a pattern."""
    for path in slices_of(prof, pattern):
        content = path.read_bytes()
        rows = [bytearray(content[at : at + size]) for at in range(0, len(content), size)]
        for row in rows:
            change(row)
        path.write_bytes(b"".join(rows))


def _cut(prof: Path, pattern: str, size: int) -> None:
    """Without the last record of a file, as an exporter that counts one too few."""
    path = slices_of(prof, pattern)[-1]
    path.write_bytes(path.read_bytes()[:-size])


def _number(prof: Path, name: str, key: str, change: Callable[[int], int]) -> None:
    """Another number in a log of clocks."""
    for path in prof.rglob(name):
        lines = path.read_text().splitlines()
        for at, line in enumerate(lines):
            if line.startswith(f"{key}:"):
                lines[at] = f"{key}: {change(int(line.partition(':')[2]))}"
        path.write_text("\n".join(lines) + "\n")


def _swap(row: bytearray, at: int, size: int) -> None:
    row[at : at + size] = row[at : at + size][::-1]


def log_of(prof: Path) -> str:
    """The log of the scheduler that the chip has."""
    return "stars_soc.data.*" if any(prof.rglob("stars_soc.data.*")) else "hwts.data.*"


@bug()
def last_task_dropped(prof: Path) -> None:
    """The last launch of the host is lost."""
    _cut(prof, "*.compact.task_track", 64)


@bug()
def last_log_dropped(prof: Path) -> None:
    """The last end of a task is lost."""
    _cut(prof, log_of(prof), 64)


@bug()
def last_call_dropped(prof: Path) -> None:
    """The last call is lost."""
    _cut(prof, "*.api_event.data", 40)


def _of_sampled_cores(prof: Path, change: Callable[[bytearray], None]) -> None:
    """Change every sample of the cores: 96 bytes, of chip 15 112."""
    settings = json.loads(next(prof.glob("device_*/sample.json")).read_text())
    if settings["ai_core_profiling_mode"] != "sample-based":
        raise Inapplicable
    files = [one for one in ("ffts_profile", "aicore") if any(prof.rglob(f"{one}.data.*"))]
    machine = json.loads(next(prof.glob("device_*/info.json.*")).read_text())
    size = 112 if machine["platform_version"] == "15" else 96
    for name in files or [""]:
        _records(prof, f"{name}.data.*", size, change)


@bug()
def sampled_events_one_off(prof: Path) -> None:
    """Counters of sampled cores are read one place too far."""

    def shift(row: bytearray) -> None:
        row[8:72] = row[16:80]

    _of_sampled_cores(prof, shift)


@bug()
def vector_cores_numbered_as_cubes(prof: Path) -> None:
    """The first vector core is taken for the first one of all."""

    def renumber(row: bytearray) -> None:
        core = len(row) - 7
        row[core] -= 25 if row[core] >= 25 else 0

    _of_sampled_cores(prof, renumber)


@bug()
def last_slice_dropped(prof: Path) -> None:
    """A loop over slices ends one too early."""
    _, *others = slices_of(prof, "*.api_event.data")
    if not others:
        raise Inapplicable
    others[-1].unlink()


@bug()
def task_number_swapped(prof: Path) -> None:
    """Numbers of tasks are read in the other order of bytes."""
    _records(prof, "*.compact.task_track", 64, lambda row: _swap(row, 28, 2))


@bug()
def hash_swapped(prof: Path) -> None:
    """Hashes of names are read in the other order of bytes."""
    _records(prof, "*.compact.node_basic_info", 64, lambda row: _swap(row, 24, 8))


@bug()
def host_counter_as_nanoseconds(prof: Path) -> None:
    """The host's frequency is not looked at."""
    path = prof / "host" / "info.json"
    document = json.loads(path.read_text())
    document["CPU"][0]["Frequency"] = "1000.000000"
    path.write_text(json.dumps(document))


@bug()
def device_clock_late(prof: Path) -> None:
    """The device's clock is one microsecond late."""
    _number(prof, "dev_start.log.*", "cntvct", lambda ticks: ticks - 50)


@bug()
def device_clock_one_tick_early(prof: Path) -> None:
    """The counter of the device is read one tick after the clock that it is paired with."""
    _number(prof, "dev_start.log.*", "cntvct", lambda ticks: ticks + 1)


@bug()
def clock_of_one_device(prof: Path) -> None:
    """The clock of the first device is that of all of them."""
    first, *others = sorted(prof.rglob("dev_start.log.*"))
    if not others:
        raise Inapplicable
    for path in others:
        path.write_bytes(first.read_bytes())


@bug()
def wraps_off_by_one(prof: Path) -> None:
    """How often the numbers of a stream began again is counted from 1 on the host, from 0 else."""
    path = slices_of(prof, "*.compact.task_track")[0]
    content = path.read_bytes()
    first: dict[bytes, bytes] = {}
    for at in range(0, len(content), 64):
        first.setdefault(content[at + 26 : at + 28], content[at : at + 64])
    wraps = [_wrap(record) for record in first.values()]
    path.write_bytes(b"".join(wraps) + content)


def _wrap(record: bytes) -> bytes:
    """The record of a stream whose numbers begin again right before a task."""
    found = bytearray(record)
    struct.pack_into("<Q", found, 16, struct.unpack_from("<Q", record, 16)[0] - 1)
    struct.pack_into("<Q", found, 32, 98)  # FLIP_TASK
    return bytes(found)


@bug()
def joined_by_task_alone(prof: Path) -> None:
    """Launches are joined to tasks by their number, which several streams share."""
    paths = slices_of(prof, "*.compact.task_track")
    rows = [
        (path, at, path.read_bytes()[at : at + 64])
        for path in paths
        for at in range(0, path.stat().st_size, 64)
    ]
    streams: dict[bytes, list[bytes]] = {}
    for _, _, row in rows:
        known = streams.setdefault(row[28:30], [])
        if row[26:28] not in known:
            known.append(row[26:28])
    if all(len(one) == 1 for one in streams.values()):
        raise Inapplicable
    for path, at, row in rows:
        known = streams[row[28:30]]
        other = known[known.index(row[26:28]) - 1]
        content = bytearray(path.read_bytes())
        content[at + 26 : at + 28] = other
        path.write_bytes(content)


@bug()
def sub_tasks_without_number(prof: Path) -> None:
    """All sub-tasks have number 0."""

    def changed(row: bytearray) -> None:
        if row[0] & 0x3F in (34, 35):
            row[18:20] = b"\0\0"

    _records(prof, "stars_soc.data.*", 64, changed)


@bug()
def communication_as_nodes(prof: Path) -> None:
    """Calls of communication are taken for nodes."""

    def changed(row: bytearray) -> None:
        if struct.unpack_from("<H", row, 2)[0] == 5500:
            struct.pack_into("<H", row, 2, 10000)

    _records(prof, "*.api_event.data", 40, changed)


@bug()
def no_dictionary(prof: Path) -> None:
    """The dictionary of texts is not read."""
    for path in slices_of(prof, "*.additional.hash_dic"):
        path.unlink()


@bug()
def prefix_ignored(prof: Path) -> None:
    """Which operators are static is not looked up in the prefix of the file's name."""
    for path in slices_of(prof, "*.compact.node_basic_info"):
        prefix, _, name = path.name.partition(".")
        other = {"aging": "unaging", "unaging": "aging"}[prefix]
        path.rename(path.with_name(f"{other}.{name}"))


@bug_of_aged()
def aged_head_kept(prof: Path) -> None:
    """Records are read from the first byte on, where the rest of a lost one stands."""
    for device in prof.glob("device_*"):
        first, *others = slices_of(device, log_of(device))
        content = b"".join(one.read_bytes() for one in (first, *others))
        rows = bytearray(content[: len(content) // SIZE * SIZE])
        for at in range(0, len(rows), SIZE):
            struct.pack_into("<H", rows, at + 2, 0x6BD3)  # it does not look at the magic number
        first.write_bytes(rows)
        for one in others:
            one.unlink()


@bug(source="Ascend/msprof 36bee276d, merge request 290, 2026-06-16")
def start_with_the_next_end(prof: Path) -> None:
    """Where the end of a task is lost, its start is paired with the end of the next one."""
    path = slices_of(prof, log_of(prof))[0]
    content = path.read_bytes()
    path.write_bytes(content[:64] + content[128:])


@bug(source="Ascend/msprof 5ce17bed2, merge request 124, 2026-03-17")
def marks_by_the_counter_of_the_device(prof: Path) -> None:
    """Times of marks are converted as those of the device."""

    def changed(row: bytearray) -> None:
        for at in (64, 72):  # start and end
            ticks = struct.unpack_from("<Q", row, at)[0]
            struct.pack_into("<Q", row, at, ticks // 2)

    _records(prof, "*.additional.msproftx", 256, changed)
