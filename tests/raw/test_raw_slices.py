"""Records across slices: nothing is lost, invented or passed over without a word."""

from __future__ import annotations

import struct
import tracemalloc
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from raw_trees import stars

from ascend_ref.raw.damage import MOST_PLACES, Damage
from ascend_ref.raw.layout import Layout, layout_of
from ascend_ref.raw.series import Slice
from ascend_ref.raw.slices import read_blocks
from ascend_ref.raw.tree import find_folders
from ascend_spec import raw_catalog

SIZE = 64


def layout(name: str, chip: int | None = 5) -> Layout:
    """The layout of a kind of file on a chip."""
    return layout_of(raw_catalog().files[name], chip, {"info.json/version": "1.0"})


def logs(number: int) -> list[bytes]:
    """So many records, each other than any other."""
    return [stars(at % 2, at, 2, at // 2, 10**9 + at) for at in range(number)]


def write(folder: Path, pieces: Sequence[bytes]) -> list[Slice]:
    folder.mkdir(exist_ok=True)
    slices = []
    for number, piece in enumerate(pieces):
        path = folder / f"stars_soc.data.0.slice_{number}"
        path.write_bytes(piece)
        slices.append(Slice(path, number, ()))
    return slices


def read(slices: Sequence[Slice], kind: str = "stars_soc") -> tuple[list[bytes], list[Damage]]:
    """The records that are found, and what is said of the rest."""
    damage: list[Damage] = []
    found = [
        row.tobytes()
        for block in read_blocks(slices, layout(kind), "device", damage)
        for row in block.rows
    ]
    return found, damage


@settings(deadline=None)
@given(st.data())
def test_cuts_change_nothing(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    records = logs(data.draw(st.integers(1, 40)))
    content = b"".join(records)
    cuts = data.draw(st.lists(st.integers(0, len(content)), max_size=6).map(sorted))
    ends = [*cuts, len(content)]
    pieces = [content[begin:end] for begin, end in zip([0, *cuts], ends, strict=True)]
    found, damage = read(write(tmp_path_factory.mktemp("cuts"), pieces))
    assert found == records
    assert damage == []


@pytest.mark.parametrize("lost", [1, 63, 64, 100, 640])
def test_a_lost_head_costs_the_record_that_it_ends_in(tmp_path: Path, lost: int) -> None:
    records = logs(30)
    content = b"".join(records)[lost:]
    found, damage = read(write(tmp_path, [content[:500], content[500:]]))
    assert found == records[-(-lost // SIZE) :]
    assert [one.offset for one in damage] == ([0] if lost % SIZE else [])


def test_a_cut_end_costs_the_last_record(tmp_path: Path) -> None:
    records = logs(30)
    found, damage = read(write(tmp_path, [b"".join(records)[:-10]]))
    assert found == records[:-1]
    assert [(one.offset, one.message) for one in damage] == [
        (29 * SIZE, "the last 54 bytes are no whole record of 64")
    ]


@pytest.mark.parametrize(("start", "lost"), [(650, 20), (641, 63), (650, 64 * 3 + 5)])
def test_a_hole_costs_the_records_that_it_touches(tmp_path: Path, start: int, lost: int) -> None:
    records = [one[:20] + bytes(range(at, at + 44)) for at, one in enumerate(logs(40))]
    whole = b"".join(records)
    found, damage = read(write(tmp_path, [whole[:start] + whole[start + lost :]]))
    first, last = start // SIZE, -(-(start + lost) // SIZE)
    assert found == records[:first] + records[last:]
    assert [one.offset for one in damage] == [first * SIZE]


def test_a_record_without_its_front_may_cost_its_neighbour_and_is_stated(tmp_path: Path) -> None:
    records = logs(40)
    whole = b"".join(records)
    found, damage = read(write(tmp_path, [whole[:640] + whole[641:]]))
    assert len(found) == 39
    assert (found[:9], found[10:]) == (records[:9], records[11:])
    assert [one.offset for one in damage] == [9 * SIZE]


def test_a_slice_that_ends_within_a_record_loses_that_one_alone(tmp_path: Path) -> None:
    records = logs(40)
    pieces = [b"".join(records[:20])[:-7], b"".join(records[20:])]
    found, damage = read(write(tmp_path, pieces))
    assert found == records[:19] + records[20:]
    assert [(one.file.name, one.offset) for one in damage] == [
        ("stars_soc.data.0.slice_0", 19 * SIZE)
    ]


def test_a_lost_slice_between_records_is_stated_and_costs_nothing_else(tmp_path: Path) -> None:
    records = logs(40)
    slices = write(tmp_path, [b"".join(records[at : at + 10]) for at in range(0, 40, 10)])
    found, damage = read([slices[0], slices[2], slices[3]])
    assert found == records[:10] + records[20:]
    assert [str(one) for one in damage] == [f"{slices[2].path}: slice 1 is missing before it"]


def test_a_wrong_magic_number_is_left_out_and_stated(tmp_path: Path) -> None:
    records = logs(10)
    broken = records[4][:2] + b"\0\0" + records[4][4:]
    found, damage = read(write(tmp_path, [b"".join([*records[:4], broken, *records[5:]])]))
    assert found == records[:4] + records[5:]
    assert [(one.offset, one.message) for one in damage] == [
        (4 * SIZE, "64 bytes are no whole record with its magic number")
    ]


def test_bytes_that_are_none_of_it_end(tmp_path: Path) -> None:
    found, damage = read(write(tmp_path, [b"\xd3\x6b" * 100_000]))
    assert len(found) <= 200_000 // SIZE
    assert damage or found


def test_a_file_without_magic_numbers_loses_its_front(tmp_path: Path) -> None:
    records = [struct.pack("<QQII", at, 7, at % 2, 0) for at in range(20)]
    content = b"".join(records)[5:]
    found, damage = read(write(tmp_path, [content]), "hbm")
    assert found == records[1:]
    assert [one.offset for one in damage] == [0]


def test_a_host_slice_that_goes_on_in_the_next_is_stated(tmp_path: Path) -> None:
    calls = [struct.pack("<HHIIIQQQ", 0x5A5A, 20000, 1, 7, 0, at, at + 1, 0) for at in range(9)]
    content = b"".join(calls)
    damage: list[Damage] = []
    slices = write(tmp_path, [content[:130], content[130:]])
    blocks = list(read_blocks(slices, layout("api_event"), "host", damage))
    assert b"".join(one.rows.tobytes() for one in blocks) == content
    assert [one.offset for one in damage] == [0]


def test_an_unreadable_slice_is_stated_and_the_rest_read(tmp_path: Path) -> None:
    records = logs(10)
    slices = write(tmp_path, [b"".join(records[:5]), b"".join(records[5:])])
    slices[0].path.unlink()
    found, damage = read(slices)
    assert found == records[5:]
    assert [one.message for one in damage] == ["No such file or directory"]


# --- many ---


def test_slices_follow_each_other_by_their_numbers(tmp_path: Path) -> None:
    """What is kept is read before what may be dropped (raw-prof 2)."""
    data = tmp_path / "PROF_1" / "host" / "data"
    data.mkdir(parents=True)
    for name in ("aging", "unaging"):
        for number in ("10", "9", "0", "1", "007"):
            (data / f"{name}.api_event.data.slice_{number}").touch()
    (data.parent / "unaging.api_event.data.slice_9").touch()
    strange = "unaging.api_event.data.slice_" + "9" * 200
    for name in ("unaging.api_event.data.slice_", "unaging.api_event.data.slice_x", strange):
        (data / name).touch()
    (host,) = find_folders(tmp_path / "PROF_1")
    found = host.files["api_event"]
    texts = [one.path.name.partition(".slice_")[2] for one in found]
    assert texts == ["0", "1", "007", "9", "9", "10", "0", "1", "007", "9", "10"]
    assert [one.number for one in found[2:4]] == [7, 9]
    assert all(one.path.is_file() for one in found)
    assert [(dict(parts), len(some)) for parts, some in found.runs()] == [
        ({"age": "unaging"}, 6),
        ({"age": "aging"}, 5),
    ]
    assert host.unknown == (
        "unaging.api_event.data.slice_",
        strange,
        "unaging.api_event.data.slice_x",
    )


def test_of_many_damaged_slices_the_first_and_the_last_are_stated(tmp_path: Path) -> None:
    slices = write(tmp_path, [logs(1)[0][:10]] * 2_000)
    found, damage = read(slices)
    assert found == []
    assert len(damage) == MOST_PLACES + 1
    assert damage[-1].file == slices[-1].path
    assert "1,899 more before it are not listed" in damage[-1].message


@pytest.mark.exhaustive
def test_a_million_slices_take_little_memory(tmp_path: Path) -> None:
    """Of each only its number is kept; the issue allows 500 MB for a million of them."""
    fewer, more = kept(tmp_path / "fewer", 1_000), kept(tmp_path / "more", 4_000)
    assert (more - fewer) / 3_000 < 50


def kept(place: Path, number: int) -> int:
    """Bytes that modules of raw files keep of so many slices, none of which follows another, when
    they are read.
    """
    data = place / "PROF_1" / "device_0" / "data"
    data.mkdir(parents=True)
    for at in range(number):
        (data / f"stars_soc.data.0.slice_{2 * at}").touch()
    for folder in find_folders(place):  # what is kept of the spec
        read(folder.files["stars_soc"])
    tracemalloc.start()
    try:
        (device,) = find_folders(place)
        _, damage = read(device.files["stars_soc"])
        assert "slice 1 is missing" in str(damage[0])
        own = [tracemalloc.Filter(inclusive=True, filename_pattern="*/ascend_ref/raw/*")]
        every = tracemalloc.take_snapshot().filter_traces(own).statistics("filename")
        return sum(one.size for one in every)
    finally:
        tracemalloc.stop()
