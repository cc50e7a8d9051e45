"""Real profiles with what torch_npu records of its workspaces since 2025-06 put among their rows.

``NPUWorkspaceAllocator.cpp`` reports each workspace that is taken and given back; of a block that
grows, the block as well, with the total before it. ``_memory_prepare_parser.py`` makes blocks of
them, ``_memory_view_parser.py`` and ``_memory_db_parser.py`` levels of the component WORKSPACE.
"""

from __future__ import annotations

import csv
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest
from profiles import real

from ascend_conformance.check import check
from ascend_conformance.finding import Finding
from ascend_conformance.options import Options

MIB = 1 << 20
STREAM = "77"


class Event(NamedTuple):
    """One report of the allocator: time in ns, sizes in Byte."""

    time: int
    size: int
    allocated: int
    reserved: int


class Block(NamedTuple):
    name: str
    taken: Event
    released: Event | None


def blocks(start: int) -> Iterator[Block]:
    """A workspace of 20 MiB, taken and given back twice, and one of 26 MiB, for which it grows."""
    first, second = 20 * MIB, 26 * MIB
    yield Block("", Event(start, first, 0, first), None)
    for time, size in ((200, first), (9_000, first), (20_300, second)):
        if size == second:
            yield Block("", Event(start + 20_100, second, 0, second), None)
        taken = Event(start + time, size, size, size)
        released = Event(start + time + 3_000, -size, 0, size)
        yield Block("aten::mm", taken, released)


def levels(found: Sequence[Block], start: int) -> list[Event]:
    """The event of each level, in order of time: the smaller block is freed before it grows."""
    events = [one.taken for one in found]
    events += [one.released for one in found if one.released]
    freed = Event(start + 20_000, -20 * MIB, 0, 0)
    return sorted([*events, freed])


def findings(folder: Path) -> list[Finding]:
    return list(check([folder], Options(workers=1)).findings)


def keys(found: Sequence[Finding]) -> set[tuple[str, str]]:
    return {(one.rule, one.place) for one in found}


def extend_text(folder: Path) -> None:
    output = folder / "ASCEND_PROFILER_OUTPUT"
    path = output / "operator_memory.csv"
    header, *rows = csv.reader(path.read_text(encoding="utf-8").splitlines())
    times = [at for at, name in enumerate(header) if name == "Allocation Time(us)"]
    start = nanoseconds(rows[40][times[0]]) + 7
    found = list(blocks(start))
    framework = [row for row in rows if row[header.index("Stream Ptr")]]
    added = [text_row(block, header, rows[0][-1]) for block in found]
    framework = sorted([*framework, *added], key=lambda row: nanoseconds(row[times[0]]))
    others = [row for row in rows if not row[header.index("Stream Ptr")]]
    write_csv(path, [header, *framework, *others])
    path = output / "memory_record.csv"
    header, *rows = csv.reader(path.read_text(encoding="utf-8").splitlines())
    at = header.index("Timestamp(us)")
    behind = next(
        number
        for number, row in enumerate(rows)
        if row[0] in ("PTA", "GE") and nanoseconds(row[at]) > start + 30_000
    )
    merged = []
    new = levels(found, start)
    for number, row in enumerate(rows):
        while new and row[0] in ("PTA", "GE") and nanoseconds(row[at]) > new[0].time:
            merged.append(level_row(new.pop(0), rows[0][-1]))
        merged.append(row)
        assert number < behind or not new
    write_csv(path, [header, *merged])


def nanoseconds(text: str) -> int:
    return int(text.strip().replace(".", ""))


def microseconds(time: int) -> str:
    return f"{time // 1000}.{time % 1000:03d}\t"


def level_row(event: Event, device: str) -> list[str]:
    total = str(event.allocated / MIB)
    row = ["WORKSPACE", microseconds(event.time), total, str(event.reserved / MIB), total]
    return [*row, STREAM, device]


def text_row(block: Block, header: Sequence[str], device: str) -> list[str]:
    taken, released = block.taken, block.released
    cells = {
        "Name": block.name,
        "Size(KB)": str(taken.size / 1024),
        "Allocation Time(us)": microseconds(taken.time),
        "Allocation Total Allocated(MB)": str(taken.allocated / MIB),
        "Allocation Total Reserved(MB)": str(taken.reserved / MIB),
        "Allocation Total Active(MB)": str(taken.allocated / MIB),
        "Stream Ptr": STREAM,
        "Device Type": device,
    }
    if released:
        cells["Release Time(us)"] = microseconds(released.time)
        cells["Duration(us)"] = microseconds(released.time - taken.time)
        cells["Release Total Allocated(MB)"] = str(released.allocated / MIB)
        cells["Release Total Reserved(MB)"] = str(released.reserved / MIB)
        cells["Release Total Active(MB)"] = str(released.allocated / MIB)
    return [cells.get(name, "") for name in header]


def write_csv(path: Path, rows: Sequence[Sequence[str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\r\n").writerows(rows)


def extend_database(folder: Path) -> None:
    with closing(sqlite3.connect(folder / "ascend_pytorch_profiler_0.db")) as rows:
        insert_workspaces(rows)
        rows.commit()


def insert_workspaces(rows: sqlite3.Connection) -> None:
    texts = {text: number for number, text in rows.execute("SELECT id, value FROM STRING_IDS")}
    for text in ("", "aten::mm", "WORKSPACE"):
        if text not in texts:
            texts[text] = max(texts.values()) + 1
            rows.execute("INSERT INTO STRING_IDS (id, value) VALUES (?, ?)", (texts[text], text))
    operators = rows.execute("SELECT * FROM OP_MEMORY ORDER BY rowid").fetchall()
    start, device = operators[40][2] + 7, operators[0][-1]
    found = list(blocks(start))
    framework = [row for row in operators if row[-2] is not None]
    for name, taken, released in found:
        given_back: tuple[int | None, ...] = (None,) * 3
        if released:
            given_back = (released.allocated, released.reserved, released.allocated)
        held = released and released.time - taken.time
        row = (texts[name], taken.size, taken.time, released and released.time, None, held, None)
        row = (*row, taken.allocated, taken.reserved, taken.allocated, *given_back)
        framework.append((*row, int(STREAM), device))
    framework.sort(key=lambda row: row[2])
    replace_rows(rows, "OP_MEMORY", [*framework, *(row for row in operators if row[-2] is None)])
    component = texts["WORKSPACE"]
    merged = []
    new = levels(found, start)
    for row in rows.execute("SELECT * FROM MEMORY_RECORD ORDER BY rowid").fetchall():
        while new and row[1] > new[0].time:
            time, _, allocated, reserved = new.pop(0)
            merged.append((component, time, allocated, reserved, allocated, int(STREAM), device))
        merged.append(row)
    assert new == []
    replace_rows(rows, "MEMORY_RECORD", merged)


def replace_rows(rows: sqlite3.Connection, table: str, values: Sequence[Sequence[object]]) -> None:
    rows.execute(f"DELETE FROM {table}")
    marks = ", ".join("?" * len(values[0]))
    rows.executemany(f"INSERT INTO {table} VALUES ({marks})", values)


@pytest.mark.parametrize(
    ("name", "extend"),
    [
        pytest.param("text/pytorch_level1_rank0", extend_text, marks=pytest.mark.campaign),
        pytest.param(
            "generations/text_llm_2025_level2_rank0", extend_text, marks=pytest.mark.campaign
        ),
        ("db/level1_rank0", extend_database),
        ("generations/db_910a_2024_level1_rank0", extend_database),
    ],
)
def test_workspaces_are_no_fault(name: str, extend: Callable[[Path], None], tmp_path: Path) -> None:
    copy = shutil.copytree(real(f"../{name}"), tmp_path / "real", copy_function=shutil.copyfile)
    before = keys(findings(copy))
    extend(copy)
    after = [one for one in findings(copy) if (one.rule, one.place) not in before]
    assert [f"{one.rule} {one.place} {one.message}" for one in after] == []
