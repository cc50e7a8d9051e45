"""Rows read from CSV files: against the standard library where sound, else one by one."""

from __future__ import annotations

import csv
import io
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ascend_ref.text import rows as reader
from ascend_ref.text.rows import CsvRows

REAL = Path(__file__).parents[2] / ".." / "shared" / "data" / "text"

Row = tuple[int, int, int, list[str]]


def read(path: Path) -> tuple[CsvRows, list[Row]]:
    found = CsvRows(path)
    rows = [
        (*row[:3], list(row[3:]))
        for batch in found.batches()
        for row in zip(*(column.to_pylist() for column in batch.columns), strict=True)
    ]
    return found, rows


def write(folder: Path, content: bytes | str) -> Path:
    path = folder / "op_summary.csv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def assert_places(rows: list[Row], content: bytes) -> None:
    for _, line, offset, cells in rows:
        assert content[:offset].count(b"\n") + 1 == line
        text = content[offset:].decode(errors="replace")
        with io.StringIO(text, newline="") as source:
            assert next(csv.reader(source)) == cells


@pytest.mark.parametrize("size", [16, 64, 1 << 22])
def test_real_files_are_read_as_the_standard_library_reads_them(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = sorted(REAL.rglob("*.csv"))
    if not paths:
        pytest.skip(f"needs the real files of {REAL}")
    monkeypatch.setattr(reader, "PART", size)
    for path in paths:
        if size < 1 << 22 and path.stat().st_size > 20_000:
            continue
        with path.open(newline="", encoding="utf-8") as file:
            header, *wanted = csv.reader(file)
        found, rows = read(path)
        assert list(found.header) == header
        assert [cells for *_, cells in rows] == [row for row in wanted if len(row) == len(header)]
        assert found.count == len(wanted)
        assert_places(rows[:50], path.read_bytes())
        ends = found.returns + found.line_feeds
        assert ends == len(wanted) + 1


CELLS = st.one_of(
    st.sampled_from(["", "N/A", "1.500\t", '"32,3"', 'a"b', "a,b", "two\nlines", "two\r\nlines"]),
    st.text('ab\u00e9\u4e2d, "\t', max_size=6),
)


@given(
    rows=st.lists(st.lists(CELLS, min_size=3, max_size=3), max_size=12),
    end=st.sampled_from(["\n", "\r\n"]),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    open_end=st.booleans(),
    size=st.integers(4, 200),
)
@settings(max_examples=150, deadline=None)
def test_what_the_standard_library_writes_is_read_as_it_was(
    rows: list[list[str]],
    end: str,
    quoting: int,
    open_end: bool,
    size: int,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    target = io.StringIO(newline="")
    csv.writer(target, lineterminator=end, quoting=quoting).writerows([["x", "y", "z"], *rows])
    text = target.getvalue()
    content = (text.removesuffix(end) if open_end else text).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader, "PART", size)
        found, read_rows = read(write(tmp_path_factory.mktemp("csv"), content))
    assert not found.faults
    assert [cells for *_, cells in read_rows] == rows
    assert [row for row, *_ in read_rows] == list(range(len(rows)))
    assert_places(read_rows, content)


BROKEN = {
    "too-few-cells": b"1,2",
    "too-many-cells": b"1,2,3,4",
    "blank": b"",
    "bad-quote": b'1,a"b,3',
    "lone-return": b"1,a\rb,3",
    "not-utf8": b"1,\xff,3",
    "zero-byte": b"1,a\0,3",
}


@pytest.mark.parametrize("fault", BROKEN)
@pytest.mark.parametrize("size", [8, 40, 1 << 22])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("before", [0, 7])
def test_a_broken_row_is_told_and_the_others_are_read(
    fault: str, size: int, end: bytes, before: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "PART", size)
    sound = [b'"a\nb",%d,3' % number for number in range(before)]
    head = end.join([b"x,y,z", *sound]) + end
    behind = [b"7,8,9", b'"q""q",8,9']
    content = head + end.join([BROKEN[fault], *behind, BROKEN[fault], b"1,2,3"]) + end
    found, rows = read(write(tmp_path, content))
    (told,) = found.faults.values()
    assert (told.fault, told.count) == (fault, 2)
    assert told.first.offset == len(head)
    assert told.first.line == head.count(b"\n") + 1
    assert told.first.row == before
    cells = [cells for *_, cells in rows]
    assert cells[before:] == [["7", "8", "9"], ['q"q', "8", "9"], ["1", "2", "3"]]
    assert [row for row, *_ in rows] == [*range(before), before + 1, before + 2, before + 4]
    assert found.count == before + 5
    assert_places(rows, content)


@pytest.mark.parametrize(
    "cell", [b'"never closed', b'"closed"behind', b'"a"b"', b'x"', b'"a" ', b'"a""', b'""a']
)
@pytest.mark.parametrize("size", [8, 1 << 22])
def test_quotes_that_do_not_fit_cost_their_own_line_only(
    cell: bytes, size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "PART", size)
    monkeypatch.setattr(reader, "MAX_ROW", 64)
    content = b"x,y\n" + b"1,2\n" * 3 + b"1," + cell + b"\n" + b"3,4\n" * 40
    found, rows = read(write(tmp_path, content))
    assert [cells for *_, cells in rows] == [["1", "2"]] * 3 + [["3", "4"]] * 40
    (told,) = found.faults.values()
    assert (told.fault, told.count, told.first.line) == ("bad-quote", 1, 5)


def test_header_of_thousands_of_columns(tmp_path: Path) -> None:
    names = [f"column {number}" for number in range(5_000)]
    content = ",".join(names) + "\n" + ",".join("1" * 5_000) + "\n"
    found, rows = read(write(tmp_path, content))
    assert list(found.header) == names
    assert rows[0][3] == ["1"] * 5_000


def test_endless_row_ends_the_reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "PART", 100)
    monkeypatch.setattr(reader, "MAX_ROW", 1_000)
    content = b"x,y\n1,2\n" + b"3," + b"a" * 5_000 + b"\n5,6\n"
    found, rows = read(write(tmp_path, content))
    assert [cells for *_, cells in rows] == [["1", "2"]]
    assert found.faults["too-long"].first.line == 3
    assert found.skipped_from == 8


def test_huge_cells_are_cells(tmp_path: Path) -> None:
    long = "a" * 6_000_000
    found, rows = read(write(tmp_path, f'x,y\n"{long}\n{long}",2\n3,4\n'))
    assert not found.faults
    assert rows[0][3] == [f"{long}\n{long}", "2"]
    assert rows[1][:2] == (1, 4)


@pytest.mark.parametrize(
    ("content", "header", "damage"),
    [
        (b"", (), None),
        (b"\n1,2\n", (), None),
        (b"x,y", ("x", "y"), None),
        (b'"x,y\n1,2\n', ('"x', "y"), "bad-quote"),
        (b"x,\xff\n1,2\n", ("x", "\ufffd"), "not-utf8"),
        (b"x,y\0\n1,2\n", ("x", "y\0"), "zero-byte"),
        (b"\xef\xbb\xbfx,y\r\n1,2\r\n", ("x", "y"), None),
        (b'"a ""b""",y\n', ('a "b"', "y"), None),
        (b",".join([b"x"] * 30_000) + b"\n", (), "too-long"),
    ],
)
def test_headers(content: bytes, header: tuple[str, ...], damage: str, tmp_path: Path) -> None:
    found, rows = read(write(tmp_path, content))
    assert found.header == header
    assert found.header_damage == damage
    assert found.marked == content.startswith(b"\xef")
    assert len(rows) == (content.count(b"1,2") if header else 0)


def test_memory_does_not_grow_with_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "PART", 1 << 18)
    peaks = []
    for number in (100_000, 400_000):
        path = write(tmp_path, b"x,y\n" + b'12345,"a,b"\n' * number)
        tracemalloc.start()
        assert sum(batch.num_rows for batch in CsvRows(path).batches()) == number
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.2 * peaks[0]
