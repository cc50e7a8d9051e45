"""Work of the engines for pictures and video, from lines by hand, to the rows that msprof shows.

The form of the lines is that of upstream-msprof test_dvpp_parser.py.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from raw_trees import write_tree

from ascend_ref.profile.raw import export_raw
from ascend_ref.raw.decode.read import RawCapture, read_raw

NAMES = (
    "time_stamp(s):time_stamp(ns) dvpp_id engine_type engine_id all_time all_frame "
    "all_utilization proc_time proc_frame  proc_utilization last_time last_frame"
)
MOST = str((1 << 64) - 1)


def tree(folder: Path, *lines: str) -> Path:
    content = "".join(f"{one}\n" for one in lines).encode()
    return write_tree(folder / "PROF_1", {}, {"dvpp.data.0.slice_0": content})


def rows(made: Path) -> tuple[RawCapture, list[tuple[object, ...]]]:
    (found,) = read_raw(made)
    columns = found.capture.records.get("dvpp", {})
    texts = found.capture.texts.all
    values = [
        [texts[one] for one in column.tolist()] if name == "type" else column.tolist()
        for name, column in columns.items()
    ]
    return found, list(zip(*values, strict=True))


def line(engine: str, busy: int | str, frames: int | str, share: str) -> str:
    return f"176167:889901260 {engine} {busy} {frames} {share} 0 0 0% 0 0"


def test_what_engines_did_between_their_samples(tmp_path: Path) -> None:
    """The share is that of the last sample."""
    made = tree(
        tmp_path,
        NAMES,
        line("0 4 1", 1_000, 10, "3%"),
        line("0 0 0", 7, 0, "0%"),
        line("0 4 1", 1_500, 14, "12.5%"),
        line("0 0 0", 7, 0, "0%"),
        line("8 0 0", 5, 1, "99%"),
    )
    found, shown = rows(made)
    assert found.damage == []
    # device, type, busy, group, engine, frames, utilization
    assert shown == [
        (0, "VDEC", 0, 0, 0, 0, 0),
        (0, "VPC", 500_000, 0, 1, 4, 12_500),
        (0, "VDEC", 0, 8, 0, 0, 99_000),
    ]
    export_raw(made, tmp_path / "out", ("csv",))
    (path,) = (tmp_path / "out").rglob("dvpp_2*.csv")
    assert path.read_text().splitlines()[1:] == [
        "0,0,VDEC,0,0,0,0.0",
        "0,0,VPC,1,500,4,12.5",
        "0,8,VDEC,0,0,0,99.0",
    ]


def test_lines_without_a_group_and_without_names(tmp_path: Path) -> None:
    found, shown = rows(tree(tmp_path, line("1 2", 5, 6, "7%"), line("1 2", 7, 9, "8%")))
    assert found.damage == []
    assert shown == [(0, "JPEGD", 2_000, 0, 2, 3, 8_000)]


@pytest.mark.parametrize(
    "wrong",
    [
        line("0 7 0", 1, 1, "1%"),
        line(f"{MOST} 0 0", 1, 1, "1%"),
        line(f"0 0 {MOST}", 1, 1, "1%"),
        line("0 0 0", MOST, 1, "1%"),
        line("0 0 0", 1, MOST, "1%"),
        line("0 0 0", 1, 1, f"{MOST}%"),
        line("0 0 0", 1, 1, "-1%"),
    ],
)
def test_samples_that_cannot_be_are_damage(tmp_path: Path, wrong: str) -> None:
    found, shown = rows(tree(tmp_path, NAMES, wrong, line("0 1 0", 1, 1, "1%")))
    assert [one[1] for one in shown] == ["JPEGD"]
    assert ["1 of 2 samples" in one.message for one in found.damage] == [True]


@pytest.mark.parametrize(
    "lines", [("",), (NAMES,), ("a b",), (NAMES, "1:2 3", f"{'9' * 40}:1 0 0 0 1 1 1% 1 1 1% 1 1")]
)
def test_lines_of_any_kind_are_no_reason_to_fail(tmp_path: Path, lines: tuple[str, ...]) -> None:
    assert rows(tree(tmp_path, *lines))[1] == []
