"""Rows of databases, CSV files and timelines are those that a reader sees, and belong together."""

from __future__ import annotations

import csv
import io
import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from shrink_profiles import simulated

from ascend_conformance.reduction.databases import Database
from ascend_conformance.reduction.items import Items
from ascend_conformance.reduction.sheets import Sheet
from ascend_conformance.reduction.timelines import timeline_of


def test_rows_are_tied_to_what_stands_at_their_later_times(tmp_path: Path) -> None:
    """A block and the levels when it was taken and given back, which do not belong together."""
    (tmp_path / "operator_memory.csv").write_text(
        "Name,Allocation Time(us),Release Time(us)\naten::add,1.000\t,5.000\t\n"
    )
    times = ["1.000", "3.000", "5.000"]
    (tmp_path / "memory_record.csv").write_text(
        "".join(["Component,Timestamp(us)\n", *(f"PTA,{time}\t\n" for time in times)])
    )
    items = Items(tmp_path)
    levels, blocks = (bounds.rows for bounds in items.bounds)
    tied = items.tied_to(np.array([blocks]))
    assert {*tied.tolist()} == {blocks, levels, levels + 2}
    belonging = items.components(np.ones(items.count, np.bool_))
    assert [one.tolist() for one in belonging] == [[levels, blocks], [levels + 1], [levels + 2]]


def test_events_refer_to_the_metadata_of_their_process_and_thread(tmp_path: Path) -> None:
    path = tmp_path / "trace_view.json"
    events = [
        {"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "args": {"name": "Python"}},
        {"ph": "M", "name": "thread_name", "pid": 1, "tid": 7, "args": {"name": "Thread 7"}},
        {"ph": "M", "name": "thread_name", "pid": 1, "tid": 8, "args": {"name": "Thread 8"}},
        {"ph": "M", "name": "process_name", "pid": 2, "tid": 0, "args": {"name": "CANN"}},
        {"ph": "X", "name": "a", "pid": 1, "tid": 7, "ts": "1.000", "dur": 1},
        {"ph": "X", "name": "b", "pid": 2, "tid": 9, "ts": "1.000", "dur": 1},
    ]
    path.write_text(json.dumps(events))
    timeline = timeline_of(path)
    assert timeline is not None
    assert sorted(timeline.needed_by(np.array([4]))) == [0, 1]
    assert sorted(timeline.needed_by(np.array([5]))) == [3]
    assert timeline.describing.tolist() == timeline.metadata.tolist() == [0, 1, 2, 3]


def test_rows_of_csv_files_are_those_that_a_reader_sees(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    rows = [["Name", "Text"], ["a", "1"], ["b", 'two\nlines, and "quotes"'], ["c", ""], ["d", "4"]]
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerows(rows)
    path.write_bytes(text.getvalue().encode().removesuffix(b"\r\n"))
    sheet = Sheet(path, "a")
    assert len(sheet.part) == 4
    for kept in range(16):
        flags = np.array([bool(kept >> place & 1) for place in range(4)])
        sheet.write(tmp_path / "b.csv", np.array([True]), flags)
        text = (tmp_path / "b.csv").read_bytes()
        for row in np.flatnonzero(flags).tolist():
            place = text.index(b"\n%c," % b"abcd"[row]) + 1
            assert sheet.row_at(tmp_path / "b.csv", flags, "a", place) == row
        with (tmp_path / "b.csv").open(newline="") as file:
            found = list(csv.reader(file))
        assert found == [rows[0], *[row for row, flag in zip(rows[1:], flags, strict=True) if flag]]


@pytest.mark.parametrize("form", ["[{}]", '{{"other": 1, "traceEvents": [{}], "last": 2}}'])
def test_events_of_timelines_are_those_that_a_reader_sees(form: str, tmp_path: Path) -> None:
    path = tmp_path / "trace_view.json"
    events = [{"ph": "X", "name": f"a{{,]}} {at}", "ts": "1.5", "pid": at % 2} for at in range(4)]
    path.write_text(form.format(",\n".join(map(json.dumps, events))))
    timeline = timeline_of(path)
    assert timeline is not None
    assert [timeline.parts[one] for one in timeline.part] == ["0/None", "1/None"] * 2
    for kept in range(16):
        flags = np.array([bool(kept >> place & 1) for place in range(4)])
        timeline.write(tmp_path / "b.json", np.ones(2, np.bool_), flags)
        value = json.loads((tmp_path / "b.json").read_text())
        text = (tmp_path / "b.json").read_bytes()
        for row in np.flatnonzero(flags).tolist():
            place = text.index(b"]} %d" % row)
            assert timeline.row_at(tmp_path / "b.json", flags, None, place) == row
        found = value if isinstance(value, list) else value["traceEvents"]
        assert found == [one for one, flag in zip(events, flags, strict=True) if flag]


def test_a_timeline_that_is_cut_off_has_no_events(tmp_path: Path) -> None:
    path = tmp_path / "trace_view.json"
    path.write_text('[{"ph": "X", "ts": 1}, {"ph": ')
    assert timeline_of(path) is None


ALWAYS = (
    *("HOST_INFO", "META_DATA", "NPU_INFO", "RANK_DEVICE_MAP", "SESSION_TIME_INFO", "STRING_IDS"),
)
"""Tables that all databases of torch_npu have, but for enums."""


CALLS = "SELECT startNs, (SELECT value FROM STRING_IDS WHERE id = name) FROM CANN_API"


def test_rows_of_databases_keep_their_texts_and_numbers_count_without_gaps(tmp_path: Path) -> None:
    database = simulated(tmp_path / "made", "single-op", 1)["db"] / "ascend_pytorch_profiler_0.db"
    found = Database(database)
    table, texts = found.parts.index("CANN_API"), found.parts.index("STRING_IDS")
    assert {found.parts[one] for one in found.part[found.metadata]} == {*ALWAYS}
    assert len(found.metadata) == np.isin(found.part, [*map(found.parts.index, ALWAYS)]).sum()
    calls = np.flatnonzero(found.part == table)[[1, 3]]
    rows = np.zeros(len(found.part), np.bool_)
    rows[calls] = rows[[*found.needed_by(calls)]] = True
    copy = tmp_path / "copy.db"
    found.write(copy, np.ones(len(found.parts), np.bool_), rows)
    with closing(sqlite3.connect(database)) as old, closing(sqlite3.connect(copy)) as new:
        assert new.execute(CALLS).fetchall() == [old.execute(CALLS).fetchall()[at] for at in (1, 3)]
        ids = [one for (one,) in new.execute("SELECT id FROM STRING_IDS ORDER BY id")]
        assert new.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        starts = new.execute("SELECT rowid, startNs FROM CANN_API").fetchall()
    assert len(ids) == int(rows[found.part == texts].sum())
    assert all(one % (1 << 28) == at for at, one in enumerate(ids))
    for rowid, start in starts:
        row = found.row_at(copy, rows, "CANN_API", rowid)
        assert row is not None
        assert rows[row]
        assert found.times[row] == start
    assert found.row_at(copy, rows, "CANN_API", 1 + max(rowid for rowid, _ in starts)) is None
    before = copy.read_bytes()
    found.keep(copy, np.ones(len(found.parts), np.bool_), rows)
    found.write(tmp_path / "again.db", np.ones(len(found.parts), np.bool_), rows)
    with closing(sqlite3.connect(tmp_path / "again.db")) as again:
        assert again.execute(CALLS).fetchall() == [
            tuple(row) for row in sqlite3.connect(copy).execute(CALLS).fetchall()
        ]
    assert copy.read_bytes() == before


def test_what_shows_one_time_belongs_together_in_all_files(tmp_path: Path) -> None:
    made = simulated(tmp_path / "made", "single-op", 1)
    shutil.copy(made["timeline"] / "trace_view.json", made["db"])
    items = Items(made["db"])
    (database, trace) = items.files
    (start,) = (
        sqlite3.connect(database.path)
        .execute("SELECT startNs FROM TASK JOIN COMPUTE_TASK_INFO USING (globalTaskId) LIMIT 1")
        .fetchone()
    )
    (together,) = [
        one
        for one in items.components(np.ones(items.count, np.bool_))
        if start in database.times[one[one < items.bounds[0].behind] - items.bounds[0].rows]
    ]
    of_trace = together[together >= items.bounds[1].rows] - items.bounds[1].rows
    events = json.loads(trace.path.read_text())
    assert "X" in {events[one]["ph"] for one in of_trace.tolist()}
    assert "f" in {events[one]["ph"] for one in of_trace.tolist()}
