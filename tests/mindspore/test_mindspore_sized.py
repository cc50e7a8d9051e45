"""Records that state their sizes and texts that end with a NUL, however their bytes are cut."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from other_captures import aicpu_text

from ascend_ref.mindspore.raw import sized, strings
from ascend_ref.mindspore.raw.records import layout_of
from ascend_ref.mindspore.raw.sized import read_sized
from ascend_ref.mindspore.raw.strings import read_strings
from ascend_ref.raw.damage import Damage
from ascend_ref.raw.series import Slice


def record(number: int, size: int) -> bytes:
    return (
        bytes([number % 256, 10]) + size.to_bytes(2, "little") + bytes([number % 256]) * (size - 4)
    )


def slices_of(folder: Path, content: bytes, cuts: list[int]) -> list[Slice]:
    edges = [0, *sorted(cut % (len(content) + 1) for cut in cuts), len(content)]
    found = []
    for number, (start, end) in enumerate(pairwise(edges)):
        path = folder / f"slice_{number}"
        path.write_bytes(content[start:end])
        found.append(Slice(path, number, ()))
    return found


CUTS = st.lists(st.integers(0, 2000), max_size=4)


@settings(deadline=None)
@given(st.lists(st.sampled_from([4, 24, 40, 64]), max_size=20), CUTS, st.integers(1, 90))
def test_m29_m53_records_are_found_behind_each_other(
    tmp_path_factory: pytest.TempPathFactory, sizes: list[int], cuts: list[int], at_once: int
) -> None:
    every = [record(number, size) for number, size in enumerate(sizes)]
    damage: list[Damage] = []
    slices = slices_of(tmp_path_factory.mktemp("sized"), b"".join(every), cuts)
    with patch.object(sized, "AT_ONCE", at_once):
        blocks = list(read_sized(slices, layout_of("ts_track", "2021-12-16"), "bufSize", damage))
    found = b"".join(one.rows.tobytes() for one in blocks)
    assert found == b"".join(one for one in every if len(one) == 40)
    assert damage == []
    starts = [sum(sizes[:number]) for number in range(len(sizes))]
    files = {
        one.path: sum(two.path.stat().st_size for two in slices[: one.number]) for one in slices
    }
    places = [
        files[one.path] + one.offset + 40 * row for one in blocks for row in range(len(one.rows))
    ]
    assert places == [start for start, size in zip(starts, sizes, strict=True) if size == 40]


@pytest.mark.parametrize(("lost", "text"), [(3, "the last 37 bytes"), (37, "the last 3 bytes")])
def test_m52_the_rest_of_a_record_is_stated(tmp_path: Path, lost: int, text: str) -> None:
    content = record(1, 40) + record(2, 24) + record(3, 40)
    damage: list[Damage] = []
    (one,) = slices_of(tmp_path, content[:-lost], [])
    layout = layout_of("ts_track", "2021-12-16")
    assert sum(len(two.rows) for two in read_sized([one], layout, "bufSize", damage)) == 1
    assert [(text in str(two), two.offset) for two in damage] == [(True, 64)]


@settings(deadline=None)
@given(st.integers(0, 10**6), CUTS, st.integers(1, 300))
def test_m22_m53_texts_go_on_however_they_are_cut(
    tmp_path_factory: pytest.TempPathFactory, seed: int, cuts: list[int], at_once: int
) -> None:
    content = aicpu_text(seed, is_counted=True)
    folder = tmp_path_factory.mktemp("texts")
    damage: list[Damage] = []
    slices = slices_of(folder, content, cuts)
    with patch.object(strings, "_AT_ONCE", at_once):
        found = list(read_strings(slices, "aicpu", damage))
    starts = [0]
    for text in content.split(b"\0")[:-1]:
        starts.append(starts[-1] + len(text) + 1)
    files = {
        one.path: sum(two.path.stat().st_size for two in slices[: one.number]) for one in slices
    }
    assert [files[one.path] + one.offset for one in found] == starts[:-1]
    assert damage == []
    assert all(one.line is not None for one in found)
