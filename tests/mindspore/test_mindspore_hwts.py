"""The log of the scheduler of the hardware: M17 to M21, M41, M42, M52, M53."""

from __future__ import annotations

import hashlib
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mindspore_captures import drawn_operators, hwts_record, hwts_records
from mindspore_plain import format_data, logs
from mindspore_real import parsed, real

from ascend_ref.mindspore.raw.records import decode_records, encode_records, layout_of
from ascend_spec import mindspore_catalog

NAME = "hwts.log.data.45.dev.profiler_default_tag.0.slice_{}"
OUTPUT = "output_format_data_hwts_0.txt"
DAY = "2020-07-01"
SIZE = 64

REAL_BYTES = 4_273_724
REAL_SHA256 = "2433dc5f71478083bc783b02ca6f10dbbe1ec1d8a253cbe4cb0da70883b4bfe3"


def write(folder: Path, pieces: list[bytes], numbers: list[int] | None = None) -> Path:
    """A job with these slices; where no numbers are given they are in order."""
    folder.mkdir()
    for number, piece in zip(numbers or range(len(pieces)), pieces, strict=True):
        (folder / NAME.format(number)).write_bytes(piece)
    return folder


def written(folder: Path, output: Path, day: str = DAY) -> tuple[str, list[str]]:
    """The text that is made of a job, and what is stated of its damage."""
    parsed(folder, output, day)
    notes = output / "incomplete.txt"
    stated = notes.read_text().splitlines() if notes.exists() else []
    return (output / OUTPUT).read_text(), stated


def test_m17_m18_m19_m20_m21_m41_m42_the_real_log_is_written_as_upstream_does(
    tmp_path: Path,
) -> None:
    """The output of upstream is pinned by its hash in the reference of raw files."""
    job = real("mindinsight/JOB3")
    assert parsed(job, tmp_path / "out", DAY) == 0
    content = (tmp_path / "out/output_format_data_hwts_1.txt").read_bytes()
    assert len(content) == REAL_BYTES
    assert hashlib.sha256(content).hexdigest() == REAL_SHA256


def test_m17_the_real_log_is_taken_apart_and_put_together() -> None:
    (path,) = real("mindinsight/JOB3").glob("hwts*")
    content = path.read_bytes()
    file = decode_records(content, layout_of("hwts", DAY))
    assert len(file) == 62_847
    assert encode_records(file) == content


@settings(deadline=None, max_examples=50)
@given(st.binary(max_size=700))
def test_m17_any_bytes_are_taken_apart_and_put_together(content: bytes) -> None:
    for kind in ("hwts", "task_desc_records", "tensor_data_records", "step_records"):
        layout = layout_of(kind, "2023-07-02" if kind != "hwts" else DAY)
        assert encode_records(decode_records(content, layout)) == content


@pytest.mark.parametrize("day", ["2020-06-20", "2021-12-16", "2022-06-28", "2022-09-19"])
@pytest.mark.parametrize("seed", [3, 4])
def test_m21_all_kinds_are_written_as_a_plain_reader_does(
    tmp_path: Path, day: str, seed: int
) -> None:
    content = b"".join(hwts_records(seed, drawn_operators(seed)))
    text, stated = written(write(tmp_path / "JOB", [content]), tmp_path / "out", day)
    assert text == format_data(logs(content, day))
    assert stated == []


@settings(deadline=None, max_examples=40)
@given(st.data())
def test_m53_slices_in_any_order_give_the_same(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("order")
    content = b"".join(hwts_records(1, drawn_operators(1), 20))
    cuts = data.draw(st.lists(st.integers(0, len(content)), min_size=11, max_size=12).map(sorted))
    edges = [0, *cuts, len(content)]
    pieces = [content[start:end] for start, end in pairwise(edges)]
    order = data.draw(st.permutations(range(len(pieces))))
    job = write(folder / "JOB", [pieces[one] for one in order], list(order))
    text, stated = written(job, folder / "out")
    assert text == format_data(logs(content, DAY))
    assert stated == []


def test_m52_an_empty_log_gives_its_head(tmp_path: Path) -> None:
    text, stated = written(write(tmp_path / "JOB", [b""]), tmp_path / "out")
    assert text == format_data([])
    assert stated == []


def test_m52_a_record_that_is_cut_is_stated_by_its_byte(tmp_path: Path) -> None:
    records = hwts_records(1, drawn_operators(1), 20)
    job = write(tmp_path / "JOB", [b"".join(records)[:-10]])
    text, stated = written(job, tmp_path / "out")
    assert text == format_data(logs(b"".join(records[:-1]), DAY))
    assert stated == [
        f"{job / NAME.format(0)}: byte {SIZE * (len(records) - 1):,}: "
        "the last 54 bytes are no whole record of 64"
    ]


def test_m52_kinds_that_are_not_known_are_stated_by_their_byte(tmp_path: Path) -> None:
    records = [hwts_record(kind, 1, 2, 1000 + kind, kind) for kind in (0, 5, 7, 1, 6)]
    job = write(tmp_path / "JOB", [b"".join(records)])
    text, stated = written(job, tmp_path / "out")
    assert text == format_data(logs(b"".join(records), DAY))
    assert text.count("of task") == 2
    path = job / NAME.format(0)
    assert stated == [
        f"{path}: byte 64: 2 records of a type that is not known: 5, 7",
        f"{path}: byte 256: 1 records of a type that is not known: 6",
    ]


def test_m52_a_time_of_more_than_63_bits_is_stated_and_written(tmp_path: Path) -> None:
    records = [hwts_record(0, 1, 2, 2**63, 0), hwts_record(1, 1, 2, 2**64 - 1, 1)]
    job = write(tmp_path / "JOB", [b"".join(records)])
    text, stated = written(job, tmp_path / "out")
    assert text == format_data(logs(b"".join(records), DAY))
    assert [one.partition(": ")[2] for one in stated] == [
        f"byte 0: a time of {2**63:,}, 2^63 or more",
        f"byte 64: a time of {2**64 - 1:,}, 2^63 or more",
    ]


def test_m21_the_time_of_a_pmu_with_a_warning_is_none(tmp_path: Path) -> None:
    records = [hwts_record(4, 1, 2, 77, 0), hwts_record(4, 1, 2, 77, 1, warn=1)]
    text, _ = written(write(tmp_path / "JOB", [b"".join(records)]), tmp_path / "out")
    cycles = [line[47:62].strip() for line in text.splitlines()[2:4]]
    assert cycles == ["77", "None"]


def test_m21_numbers_begin_again_behind_65000_in_one_stream_alone(tmp_path: Path) -> None:
    tasks = [(1, 65_001), (2, 5), (1, 3), (1, 2), (2, 65_000), (2, 1), (1, 65_535), (1, 0)]
    records = [hwts_record(0, stream, task, at, at) for at, (stream, task) in enumerate(tasks)]
    job = write(tmp_path / "JOB", [b"".join(records)])
    text, _ = written(job, tmp_path / "out", "2022-09-19")
    keys = [line.split()[6] for line in text.splitlines()[2:-1]]
    again = 65_536
    assert keys == [
        "1_65001",
        "2_5",
        f"1_{again + 3}",
        f"1_{again + 2}",
        f"2_{again + 65_000}",
        f"2_{again + 1}",
        f"1_{again + 65_535}",
        f"1_{2 * again}",
    ]
    before, _ = written(job, tmp_path / "before", "2022-09-18")
    assert [line.split()[6] for line in before.splitlines()[2:-1]][2] == "1_3"


def test_m35_m36_a_done_mark_is_no_slice(tmp_path: Path) -> None:
    job = write(tmp_path / "JOB", [hwts_record(0, 1, 2, 3, 0)])
    (job / f"{NAME.format(0)}.done").write_bytes(b"")
    assert written(job, tmp_path / "out")[1] == []
    assert "profiler_default_tag" in mindspore_catalog().files["hwts"].names[0].form.of(
        tag="profiler_default_tag", device=0, slice=0
    )


@pytest.mark.parametrize("kind", range(5))
def test_m52_a_log_of_one_record(tmp_path: Path, kind: int) -> None:
    content = hwts_record(kind, 1, 2, 77, 0)
    text, stated = written(write(tmp_path / "JOB", [content]), tmp_path / "out")
    assert text == format_data(logs(content, DAY))
    assert stated == []
