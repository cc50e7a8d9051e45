"""Iterations of graphs: points by hand, against the state machine of the documents, both ways."""

from __future__ import annotations

import struct
from collections import defaultdict
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from raw_trees import DEVICE, WALL_US, device_ticks, info, write_tree
from slices import some

from ascend_ref.capture import Capture
from ascend_ref.cli import main
from ascend_ref.raw.decode.read import RawCapture, read_raw
from ascend_ref.raw.encode.write import write_raw
from ascend_ref.raw.iterations import Points, iterations_of
from ascend_ref.raw.view import raw_view
from ascend_simulator.run import simulate
from ascend_simulator.scenario import RUN

FILE = "ts_track.data.0.slice_0"
PROGRAM = 0xFFFFFFFF
"""Model of the steps that a program notes itself (ge-profiling 3.1)."""
KNOWN = "010a28000000000015cd5b0700000000010000000000000007000000000000000900210004000000"
"""A record of ge-profiling 6: time 123456789, index 1, model 7, stream 9, task 33, tag 4."""

Point = tuple[int, int, int, int, int]
"""Model, index, tag, stream, time."""


def point(us: float, tag: int, model: int = 7, index: int = 1, stream: int = 9) -> bytes:
    """A record of the run of 40 bytes (raw-prof 4.7)."""
    head = struct.pack("<BBHIQ", 1, 10, 40, 0, device_ticks(us))
    return head + struct.pack("<QQHHHH", index, model, stream, 33, tag, 0)


def point_v6(us: float, tag: int, model: int, index: int) -> bytes:
    """The same on the chips 15 and 16."""
    head = struct.pack("<BBHIQ", 1, 10, 40, 0, device_ticks(us))
    return head + struct.pack("<QQHHI", index, model, tag, 9, 1 << 20)


def ns(us: float) -> int:
    return WALL_US * 1000 + round(us * 1000)


def read(folder: Path, *rows: bytes, chip: str = "5") -> RawCapture:
    write_tree(folder, {}, {FILE: b"".join(rows)})
    if chip != "5":
        for side, devices in (("host/info.json", "64"), ("device_0/info.json.0", "0")):
            more = {"DeviceInfo": [DEVICE]} if devices == "0" else {}
            text = str(info(devices, platform_version=chip, **more)).replace("'", '"')
            (folder / side).write_text(text)
    (found,) = read_raw(folder)
    return found


def rows_of(found: RawCapture, name: str) -> list[dict[str, int]]:
    table = found.capture.records.get(name, {})
    columns = [column.tolist() for column in table.values()]
    return [dict(zip(table, row, strict=True)) for row in zip(*columns, strict=True)]


def test_the_known_record_is_what_the_tests_write() -> None:
    made = point(0, 4)
    known = bytes.fromhex(KNOWN)
    assert made[:8] + known[8:16] + made[16:] == known


def test_an_iteration_of_each_kind_of_point(tmp_path: Path) -> None:
    found = read(
        tmp_path / "PROF_1",
        *(point(1_000, 0), point(1_000, 20_000), point(1_010, 20_001)),
        *(point(1_020, 2), point(1_500, 10_000), point(1_600, 10_001)),
        *(point(1_650, 3), point(1_600, 10_002), point(1_700, 10_003), point(1_800, 1)),
    )
    assert found.damage == []
    assert rows_of(found, "step_trace") == [
        {
            "device": 0,
            **{"start": ns(1_000), "fp_start": ns(1_020), "bp_end": ns(1_650), "end": ns(1_800)},
            **{"model": 7, "iteration": 1},
        }
    ]
    assert [(one["start"], one["end"]) for one in rows_of(found, "step_trace_reduce")] == [
        (ns(1_500), ns(1_600)),
        (ns(1_600), ns(1_700)),
    ]
    (reading,) = rows_of(found, "step_trace_get_next")
    assert (reading["start"], reading["end"], reading["iteration"]) == (ns(1_000), ns(1_010), 1)


def test_ends_of_iterations_begin_the_next_one_and_nobody_trains(tmp_path: Path) -> None:
    rows = [point(1_000, 0), point(1_100, 4), point(1_250, 4), point(1_300, 1)]
    found = read(tmp_path / "PROF_1", *rows)
    spans = [(one["start"], one["end"], one["iteration"]) for one in rows_of(found, "step_trace")]
    assert spans == [(ns(1_000), ns(1_100), 1), (ns(1_100), ns(1_250), 2)]
    assert {one["fp_start"] for one in rows_of(found, "step_trace")} == {-1}
    assert found.damage == []


def test_a_program_notes_its_own_steps(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The example of raw-prof 6.4: 60000 and 60001 at 9,000.1 and 11,500.1 us."""
    rows = [point(at, tag, PROGRAM, 5) for at, tag in ((9_000.1, 60_000), (11_500.1, 60_001))]
    found = read(tmp_path / "PROF_1", *rows)
    (step,) = rows_of(found, "step_trace")
    assert (step["start"], step["end"], step["iteration"]) == (ns(9_000.1), ns(11_500.1), 5)
    assert (step["fp_start"], step["bp_end"], step["model"]) == (-1, -1, PROGRAM)
    words = ["export", str(tmp_path / "PROF_1"), "-o", str(tmp_path / "out"), "--explain"]
    assert main(words) == 0
    explained = capsys.readouterr().out.splitlines()
    at = explained.index("csv step_trace: 1 row")
    assert explained[at + 1] == "  ts_track: device_0, 1 file, 80 bytes, 2 records"
    assert (
        "layer Step Trace: absent; a whole timeline shows it as part of the layer Ascend Hardware"
        in explained
    )
    (text,) = (tmp_path / "out").rglob("step_trace_*.csv")
    _, row = text.read_text(encoding="utf-8").splitlines()
    cells = [cell.strip() for cell in row.split(",")]
    assert cells[2:9] == ["N/A", "N/A", f"{ns(11_500.1) // 1000}.100", "2500.000", *["N/A"] * 3]


def test_chips_of_the_sixth_generation_have_another_order_of_fields(tmp_path: Path) -> None:
    rows = [point_v6(1_000, 0, 3, 1), point_v6(1_900, 1, 3, 1)]
    found = read(tmp_path / "PROF_1", *rows, chip="15")
    (step,) = rows_of(found, "step_trace")
    assert (step["start"], step["end"], step["model"]) == (ns(1_000), ns(1_900), 3)


@pytest.mark.parametrize(
    "damage",
    [
        {"model": (1 << 64) - 1},
        {"index": 1 << 63},
        {"tag": 65_535},
        {"tag": 0},
        {"tag": 4, "model": 8},
        {"tag": 10_001},
        {"stream": 65_535, "tag": 10_000},
    ],
)
def test_points_that_can_be_of_no_iteration_are_stated(
    tmp_path: Path, damage: dict[str, int]
) -> None:
    odd = point(1_100, **{"tag": 2, **damage})
    found = read(tmp_path / "PROF_1", point(1_000, 0), odd, point(1_200, 1))
    assert len(rows_of(found, "step_trace")) == 1
    (problem,) = found.damage
    assert str(problem).endswith("ts_track: 1 points of iterations are of no whole one")


def test_times_without_a_clock_are_not_guessed(tmp_path: Path) -> None:
    folder = tmp_path / "PROF_1"
    write_tree(folder, {}, {FILE: point(1_000, 0) + point(1_200, 1)})
    (folder / "device_0" / "dev_start.log.0").unlink()
    (found,) = read_raw(folder)
    assert "step_trace" not in found.capture.records
    assert any("ts_track" in str(one) for one in found.damage)


def machine(points: list[Point]) -> list[tuple[int, ...]]:
    """Iterations by the table of states of ge-profiling 3.4, point by point."""
    found = []
    by_model = defaultdict(list)
    for one in points:
        by_model[one[0]].append(one)
    for model, own in by_model.items():
        state, number, parts = "model end", 1, {}
        for _, _, tag, _, time in sorted(own, key=lambda one: one[4]):
            if tag == 0 and state != "model start":
                state, parts = "model start", {"start": time}
            elif tag == 1 and state == "model start":
                found.append((model, number, *values(parts), time))
                state, number, parts = "model end", number + 1, {}
            elif tag == 4 and state != "model end":
                found.append((model, number, *values(parts), time))
                state, number, parts = "iteration end", number + 1, {"start": time}
            elif tag in (2, 3) and "start" in parts:
                parts[tag] = time
    return sorted(found)


def values(parts: dict[object, int]) -> tuple[int, ...]:
    return parts["start"], parts.get(2, -1), parts.get(3, -1)


@given(
    st.lists(
        st.tuples(
            *(st.integers(1, 2), st.just(1), st.sampled_from([0, 0, 1, 1, 2, 3, 4])),
            *(st.just(9), st.integers(1, 40)),
        ),
        max_size=30,
    )
)
def test_any_points_make_up_what_the_state_machine_does(points: list[Point]) -> None:
    columns = np.array(points, np.int64).reshape(-1, 5).T
    found = iterations_of(Points(*columns))
    table = found.records.get("step_trace", {})
    names = ("model", "iteration", "start", "fp_start", "bp_end", "end")
    rows = zip(*(table[name].tolist() for name in names), strict=True) if table else ()
    assert sorted(rows) == machine(points)
    assert 0 <= found.lost <= len(points)


@cache
def graph(name: str) -> Capture:
    """A preset whose steps run a graph."""
    scenario = RUN.preset(name)
    return simulate(replace(scenario, model=replace(scenario.model, graph=True))).capture(0)


@pytest.mark.parametrize(
    "name", some(["text-museum", "cnn-910a", "edge-310b", "recommendation"], every=2)
)
def test_iterations_come_back_at_the_ticks_nearest_to_them(tmp_path: Path, name: str) -> None:
    """The clock of a simulated device has 50 MHz, so that no time moves by more than 10 ns."""
    capture = graph(name)
    held, lost = raw_view(capture)
    assert not any("points" in one or "the model" in one for one in lost)
    write_raw(tmp_path / "PROF_1", held)
    (found,) = read_raw(tmp_path / "PROF_1")
    assert found.damage == []
    names = [one for one in capture.records if one.startswith("step_trace")]
    assert "step_trace" in names
    for one in names:
        for column, values in capture.records[one].items():
            own = found.capture.records[one][column]
            moved = np.abs(own - values) if len(own) == len(values) else [np.inf]
            assert max(moved) <= (10 if column in ("start", "end", "fp_start", "bp_end") else 0)
    of_model = capture.tasks.identity[capture.tasks.model >= 0]
    kept = held.tasks.identity[held.tasks.model >= 0]
    assert set(of_model.tolist()) <= set(kept.tolist())


def test_sums_that_overlap_stand_in_streams_of_their_own(tmp_path: Path) -> None:
    """Else exporters close the one that began last."""
    capture = graph("recommendation")
    sums = {
        name: column[:2].copy() for name, column in capture.records["step_trace_reduce"].items()
    }
    sums["end"][0] = sums["end"][1] + 1_000
    sums["iteration"][:] = 1
    records = {**capture.records, "step_trace_reduce": sums}
    held, _ = raw_view(replace(capture, records=records))
    write_raw(tmp_path / "PROF_1", held)
    content = (tmp_path / "PROF_1" / "device_0" / "data" / "ts_track.data.0.slice_0").read_bytes()
    rows = [struct.unpack_from("<BB14xQQHHH", content, at) for at in range(0, len(content), 40)]
    streams = [row[4] for row in rows if row[1] == 10 and 10_000 <= row[6] < 20_000]
    assert len(streams) == 4
    assert len(set(streams)) == 2
    (found,) = read_raw(tmp_path / "PROF_1")
    assert found.capture.records["step_trace_reduce"]["end"].tolist() == (
        held.records["step_trace_reduce"]["end"].tolist()
    )
