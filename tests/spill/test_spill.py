"""Columns in files against the same columns in memory."""

from __future__ import annotations

import gc
import mmap
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_batches import tiny_batches

from ascend_ref.derive.intervals import long_union, union
from ascend_ref.derive.nesting import Heights
from ascend_ref.derive.overlap import long_overlap, overlap
from ascend_ref.spill import (
    Spill,
    batches,
    first_equal,
    first_of_each,
    is_ascending,
    sorted_rows,
    spilled_table,
)

EXTREME = (-(1 << 63), (1 << 63) - 1)
numbers = st.lists(st.integers(-4, 4) | st.sampled_from(EXTREME), max_size=60)
rows = st.lists(st.tuples(st.integers(0, 3), st.integers(-5, 5)), max_size=60)
spans = st.lists(st.tuples(st.integers(0, 120), st.integers(-2, 9)), max_size=60)


@pytest.fixture(autouse=True, scope="module")
def tiny() -> Iterator[None]:
    with tiny_batches():
        yield


def column(values: list[int]) -> np.ndarray:
    return np.array(values, np.int64)


def intervals(given_spans: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    table = column([bound for start, length in given_spans for bound in (start, start + length)])
    return table[::2], table[1::2]


@given(numbers)
def test_batches_become_the_column_that_they_are_of(values: list[int]) -> None:
    spill = Spill()
    found = spill.array((column(values)[batch] for batch in batches(len(values))), np.int64)
    spill.release()
    assert found.tolist() == values
    assert spill.made(lambda one: one == 1, found, kind=np.bool_).tolist() == [
        value == 1 for value in values
    ]
    assert spill.where(lambda one: one > 0, found).tolist() == [
        row for row, value in enumerate(values) if value > 0
    ]
    assert is_ascending(spill, found) == (values == sorted(values))
    if values:
        assert spill.range_of(found) == (min(values), max(values))


@given(numbers, st.data())
def test_rows_are_looked_up_wherever_they_are(values: list[int], data: st.DataObject) -> None:
    wanted = data.draw(st.lists(st.integers(0, len(values) - 1))) if values else []
    assert Spill().taken(column(values), column(wanted)).tolist() == [values[row] for row in wanted]


@given(rows)
def test_rows_ascend_where_python_finds_them_sorted(table: list[tuple[int, int]]) -> None:
    keys = [column([row[place] for row in table]) for place in range(2)]
    assert is_ascending(Spill(), *keys) == (table == sorted(table))


def test_all_rows_of_a_column_are_that_column() -> None:
    spill, values = Spill(), np.arange(40) * 3
    assert spill.taken(values, np.arange(40)) is values
    assert spill.taken(values, np.arange(39)).tolist() == values[:39].tolist()
    assert spill.taken(values, np.arange(40)[::-1]).tolist() == values[::-1].tolist()
    twice = np.append(np.arange(39), 39)
    twice[20] = 19
    assert spill.taken(values, twice)[20] == values[19]


@given(rows)
def test_rows_are_sorted_as_python_sorts_them(table: list[tuple[int, int]]) -> None:
    spill, keys = Spill(), [column([row[place] for row in table]) for place in range(2)]
    order = sorted(range(len(table)), key=lambda row: table[row])
    assert sorted_rows(spill, *keys).tolist() == order
    assert sorted_rows(spill, keys[1]).tolist() == sorted(
        range(len(table)), key=lambda row: table[row][1]
    )
    firsts = [table.index(row) for row in table]
    assert first_equal(spill, *keys).tolist() == firsts
    ordered = spill.taken(keys[0], sorted_rows(spill, keys[0]))
    assert first_of_each(spill, ordered).tolist() == sorted(
        ordered.tolist().index(value) for value in set(ordered.tolist())
    )


@given(numbers, st.data())
def test_an_array_can_be_changed_at_any_place(values: list[int], data: st.DataObject) -> None:
    places = data.draw(st.permutations(range(len(values))))
    spill = Spill()
    found = spill.changeable(len(values), 7)
    assert found.tolist() == [7] * len(values)
    for place in places[::2]:
        found[place] = values[place]
        spill.release()
    assert found.tolist() == [
        values[place] if place in places[::2] else 7 for place in range(len(values))
    ]


@given(spans)
def test_a_long_union_is_the_union(given_spans: list[tuple[int, int]]) -> None:
    start, end = intervals(given_spans)
    for found, expected in zip(long_union(Spill(), start, end), union(start, end), strict=True):
        assert found.tolist() == expected.tolist()


@given(spans, spans)
def test_a_long_overlap_is_the_overlap(
    computing: list[tuple[int, int]], communication: list[tuple[int, int]]
) -> None:
    unions = union(*intervals(computing)), union(*intervals(communication))
    found, expected = long_overlap(Spill(), *unions, 0, 130), overlap(*unions, 0, 130)
    for ours, theirs in zip(found, expected, strict=True):
        assert [one.tolist() for one in ours] == [one.tolist() for one in theirs]


@given(numbers, st.data())
def test_heights_are_climbed_to_the_last_place(values: list[int], data: st.DataObject) -> None:
    query = st.tuples(st.integers(0, len(values)), st.integers(-5, 5))
    asked = data.draw(st.lists(query, max_size=20))
    before, threshold = (column([one[place] for one in asked]) for place in range(2))
    found = Heights(column(values), Spill()).last_reaching(before, threshold).tolist()
    for place, (end, least) in zip(found, asked, strict=True):
        assert place == max((row for row in range(end) if values[row] >= least), default=-1)


cells = st.tuples(
    st.none() | st.integers(*EXTREME),
    st.none() | st.floats(allow_nan=False),
    st.none() | st.sampled_from(["", "a", "ä", "b" * 30]),
)


@settings(deadline=None)  # the first conversion to Arrow imports pandas
@given(st.lists(st.lists(cells, max_size=12), max_size=6))
def test_a_table_holds_what_its_batches_hold(given_batches: list[list[tuple[object, ...]]]) -> None:
    text = pa.dictionary(pa.int32(), pa.string())
    schema = pa.schema([("whole", pa.int64()), ("real", pa.float64()), ("text", text)])
    spill = Spill()

    def arrays(batch: list[tuple[object, ...]]) -> list[pa.Array]:
        own = [[row[place] for row in batch] for place in range(3)]
        return [pa.array(cells, field.type) for cells, field in zip(own, schema, strict=True)]

    table = spilled_table(spill, schema, map(arrays, given_batches))
    spill.release()
    table.validate(full=True)
    everything = [row for batch in given_batches for row in batch]
    assert list(zip(*(table[name].to_pylist() for name in schema.names), strict=True)) == everything
    assert all(table[name].num_chunks == 1 for name in schema.names)
    assert [table[name].null_count for name in schema.names] == [
        sum(row[place] is None for row in everything) for place in range(3)
    ]


def test_a_file_lasts_as_long_as_its_column_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    gc.collect()
    before = _mappings(tmp_path)
    found = Spill().array([np.arange(100)], np.int64)
    assert _mappings(tmp_path) > before
    assert list(tmp_path.iterdir()) == []
    assert found.sum() == 4950
    with pytest.raises(ValueError, match="read-only"):
        found[0] = 1
    del found
    assert _mappings(tmp_path) == before


def test_an_error_names_the_folder_of_the_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "gone"))
    with pytest.raises(FileNotFoundError, match="TMPDIR") as caught:
        Spill().changeable(100, 0)
    assert caught.value.filename == str(tmp_path / "gone")


def _mappings(folder: Path) -> int:
    if not Path("/proc/self/maps").exists():
        pytest.skip("no /proc: mappings of this process cannot be counted")
    return Path("/proc/self/maps").read_text().count(str(folder))


def test_memory_is_let_go() -> None:
    if not hasattr(mmap.mmap, "madvise") or not Path("/proc/self/statm").exists():
        pytest.skip("no madvise or no /proc on this system")
    spill = Spill()
    found = spill.array((np.arange(100_000) for _ in range(100)), np.int64)
    spill.release()
    before = _resident()
    assert found.sum() > 0
    assert _resident() - before > 70_000_000
    spill.release()
    assert _resident() - before < 10_000_000


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * mmap.PAGESIZE
