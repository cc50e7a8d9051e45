"""Defective exporters of raw files: the reference on files of which one thing is read wrongly."""

from __future__ import annotations

import json
import shutil
import struct
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from ascend_ref.profile.raw import export_raw


class Bug(NamedTuple):
    """What is done to a copy of the raw folder before the reference exports it."""

    summary: str
    spoil: Callable[[Path], None]


def _one(prof: Path, pattern: str) -> Path:
    return next(iter(sorted(prof.rglob(pattern))))


def _records(prof: Path, pattern: str, size: int, change: Callable[[bytearray], None]) -> None:
    """Change every record of all files of a pattern."""
    for path in prof.rglob(pattern):
        content = path.read_bytes()
        rows = [bytearray(content[at : at + size]) for at in range(0, len(content), size)]
        for row in rows:
            change(row)
        path.write_bytes(b"".join(rows))


def _cut(prof: Path, pattern: str, size: int) -> None:
    """Without the last record of a file, as an exporter that counts one too few."""
    path = _one(prof, pattern)
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


def _frequency(prof: Path) -> None:
    """Nanoseconds in place of ticks: the frequency of the host is not looked at."""
    path = prof / "host" / "info.json"
    document = json.loads(path.read_text())
    document["CPU"][0]["Frequency"] = "1000.000000"
    path.write_text(json.dumps(document))


def _no_contexts(row: bytearray) -> None:
    if row[0] & 0x3F in (34, 35):
        row[18:20] = b"\0\0"


def _rename(prof: Path, name: str) -> None:
    for path in prof.rglob(f"unaging.{name}*"):
        number = 100 + int(path.name.rpartition("_")[2])
        path.rename(path.with_name(f"aging.{name}{number}"))


def _level(row: bytearray) -> None:
    """Calls of communication for those of nodes."""
    if struct.unpack_from("<H", row, 2)[0] == 5500:
        struct.pack_into("<H", row, 2, 10000)


BUGS: Mapping[str, Bug] = {
    "last-task-dropped": Bug(
        "The last launch of the host is lost.",
        lambda prof: _cut(prof, "*.compact.task_track.slice_*", 64),
    ),
    "last-log-dropped": Bug(
        "The last end of a task is lost.",
        lambda prof: _cut(prof, "stars_soc.data.*" if _has_stars(prof) else "hwts.data.*", 64),
    ),
    "last-call-dropped": Bug(
        "The last call is lost.", lambda prof: _cut(prof, "*.api_event.data.slice_*", 40)
    ),
    "task-number-swapped": Bug(
        "Numbers of tasks are read in the other order of bytes.",
        lambda prof: _records(prof, "*.compact.task_track.*", 64, lambda row: _swap(row, 28, 2)),
    ),
    "hash-swapped": Bug(
        "Hashes of names are read in the other order of bytes.",
        lambda prof: _records(
            prof, "*.compact.node_basic_info.*", 64, lambda row: _swap(row, 24, 8)
        ),
    ),
    "host-counter-as-nanoseconds": Bug("The host's frequency is not looked at.", _frequency),
    "device-clock-late": Bug(
        "The device's clock is one microsecond late.",
        lambda prof: _number(prof, "dev_start.log.*", "cntvct", lambda ticks: ticks - 50),
    ),
    "clock-of-the-host-for-the-device": Bug(
        "The counter of the host is taken for that of the device.",
        lambda prof: _number(prof, "dev_start.log.*", "cntvct", lambda ticks: ticks + 1),
    ),
    "sub-tasks-without-number": Bug(
        "All sub-tasks have number 0.",
        lambda prof: _records(prof, "stars_soc.data.*", 64, _no_contexts),
    ),
    "communication-as-nodes": Bug(
        "Calls of communication are taken for nodes.",
        lambda prof: _records(prof, "*.api_event.data.*", 40, _level),
    ),
    "no-dictionary": Bug(
        "The dictionary of texts is not read.",
        lambda prof: _one(prof, "*.additional.hash_dic.*").unlink(),
    ),
    "static-as-dynamic": Bug(
        "The prefix of a file's name is not looked at.",
        lambda prof: _rename(prof, "compact.node_basic_info.slice_"),
    ),
}


def _has_stars(prof: Path) -> bool:
    return any(prof.rglob("stars_soc.data.*"))


def exporter(name: str) -> Callable[[Path, Path], None]:
    """A defective exporter."""

    def export(source: Path, target: Path) -> None:
        copied = target / source.name
        shutil.copytree(source, copied)
        BUGS[name].spoil(copied)
        export_raw(copied, target / "text", ("csv", "timeline"))
        shutil.rmtree(copied)

    return export
