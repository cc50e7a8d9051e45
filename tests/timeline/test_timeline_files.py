"""Files appear whole or not at all, under their names, the same each time, whatever they hold."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from plain_timeline import canonical
from timeline_recordings import layers, of_phase, simulated, written

from ascend_ref.recorded import Recorded
from ascend_ref.timeline import write as module
from ascend_ref.timeline import write_timeline

HOSTILE = [
    'quote " and \\ backslash',
    "line\nbreak\r\n and \t tab \x00\x1f\x7f",
    "<script>alert('1')</script>",
    "../../etc/passwd",
    "Gruß 中文 \U0001f600 \u2028 \ufffd",
    '{"ph": "X"}]',
    "",
    "{name}%s{0}",
    "x" * 5000,
]


def with_texts(recorded: Recorded, **columns: str) -> Recorded:
    """The recording with hostile texts in place of those of these tables' columns."""
    tables = dict(recorded.tables)
    for table_name, names in columns.items():
        table = tables[table_name]
        for name in names.split():
            old = table[name].combine_chunks()
            texts = old.dictionary.to_pylist()
            worse = pa.array([HOSTILE[place % len(HOSTILE)] for place, _ in enumerate(texts)])
            column = pa.DictionaryArray.from_arrays(old.indices, worse)
            place = table.column_names.index(name)
            table = table.set_column(place, table.schema.field(name), column)
        tables[table_name] = table
    return replace(recorded, tables=tables)


@pytest.mark.parametrize("writer", ["adapter", "adapter-2025-01"])
def test_hostile_texts_come_back_as_they_were(writer: str) -> None:
    plain = simulated("observed-everything", "pytorch")
    recorded = with_texts(
        plain,
        PYTORCH_API="name inputShapes inputDtypes",
        PYTORCH_CALLCHAINS="stack",
        CANN_API="name",
        COMPUTE_TASK_INFO="name taskType",
        COMMUNICATION_OP="opName groupName algType",
        COMMUNICATION_TASK_INFO="groupName taskType",
        OSRT_API="name",
        QOS="eventName",
    )
    events = written(recorded, writer)["trace_view.json"]
    names = {event["name"] for event in events}
    assert HOSTILE[4] in names
    assert sum(1 for _ in of_phase(events, "X")) == sum(
        1 for _ in of_phase(written(plain, writer)["trace_view.json"], "X")
    )
    shown = {layers(events)[event["pid"]] for event in events if event["name"] in HOSTILE}
    assert {"Python", "Ascend Hardware"} <= shown


def test_the_same_recording_gives_the_same_bytes(tmp_path: Path) -> None:
    for writer, output in (("cpp", "msprof"), ("python", "msprof"), ("adapter", "pytorch")):
        recorded = simulated("observed-everything", "msprof" if output == "msprof" else "pytorch")
        texts = []
        for turn in ("one", "two"):
            folder = tmp_path / writer / turn
            folder.mkdir(parents=True)
            paths = write_timeline(recorded, folder, writer=writer)
            texts.append({path.name: path.read_bytes() for path in paths})
            assert sorted(texts[-1]) == sorted(path.name for path in folder.iterdir())
        assert texts[0] == texts[1]


def test_files_are_called_as_the_exporters_call_them(tmp_path: Path) -> None:
    device = simulated("observed-everything", "msprof")
    paths = write_timeline(device, tmp_path, timestamp="20250109123456")
    assert [path.name for path in paths] == [
        "msprof_20250109123456.json",
        "msprof_tx_20250109123456.json",
    ]
    host = simulated("observed-everything", "pytorch")
    assert [path.name for path in write_timeline(host, tmp_path)] == ["trace_view.json"]


def test_the_engine_follows_the_family_of_products(tmp_path: Path) -> None:
    for preset, compact in (("observed-everything", True), ("inference-310p", False)):
        (path, *_) = write_timeline(simulated(preset, "msprof"), tmp_path)
        assert (b'"name":"' in path.read_bytes()[:40]) == compact


def test_a_writer_of_another_output_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="writer: 'cpp'; expected one of adapter"):
        write_timeline(simulated("single-op", "pytorch"), tmp_path, writer="cpp")
    assert list(tmp_path.iterdir()) == []


def test_a_recording_without_rows_gives_no_file(tmp_path: Path) -> None:
    for output, writer in (("msprof", "cpp"), ("pytorch", "adapter")):
        some = simulated("single-op", "msprof" if output == "msprof" else "pytorch")
        nothing = replace(some, tables={}, extras={})
        assert write_timeline(nothing, tmp_path, writer=writer) == []
    assert list(tmp_path.iterdir()) == []


def test_a_failure_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(session: Any) -> Any:
        raise OSError("disk full")
        yield

    layers_of = {**module.FILES, "timeline": (*module.OF_MSPROF, fails)}
    monkeypatch.setattr(module, "FILES", layers_of)
    (old := tmp_path / "msprof_20260101000000.json").write_text("old")
    with pytest.raises(OSError, match="disk full"):
        write_timeline(
            simulated("single-op", "msprof"), tmp_path, writer="cpp", timestamp="20260101000000"
        )
    assert old.read_text() == "old"
    assert list(tmp_path.iterdir()) == [old]


def test_marks_have_a_file_of_their_own() -> None:
    recorded = simulated("observed-everything", "msprof")
    for writer in ("cpp", "python"):
        files = written(recorded, writer)
        own = Counter(map(canonical, files["msprof_tx"]))
        assert own <= Counter(map(canonical, files["msprof"]))
        shown = {
            (layers(files["msprof_tx"])[event["pid"]], event["ph"]) for event in files["msprof_tx"]
        }
        home = {("python", phase) for phase in "MXs"}
        assert shown == home | {("Ascend Hardware", phase) for phase in "MXf"}


def test_clocks_are_repeated_by_the_python_engine_alone() -> None:
    recorded = simulated("observed-everything", "msprof")
    table = recorded.table("AICORE_FREQ")
    rows = sorted(
        zip(*(table[name].to_pylist() for name in ("deviceId", "timestampNs")), strict=True)
    )
    for writer in ("cpp", "python"):
        events = written(recorded, writer)["msprof"]
        shown = [event for event in of_phase(events, "C") if event["name"] == "AI Core Freq"]
        expected = []
        for (device, time), following in zip(rows, [*rows[1:], None], strict=True):
            expected.append(time)
            last = following is None or following[0] != device
            while (
                writer == "python"
                and not last
                and following
                and expected[-1] + 1_000_000 < following[1]
            ):
                expected.append(expected[-1] + 1_000_000)
        moments = [int(event["ts"].replace(".", "")) for event in shown]
        assert moments == expected
        assert {event["args"]["MHz"] for event in shown} == {1800}


STEPS = {
    "device": [0, 0, 0],
    "model": [5, 5, 5],
    "iteration": [1, 2, 3],
    "start": [1_000, 10_000, 30_000],
    "fp_start": [2_000, 12_345, -1],
    "bp_end": [6_000, 18_000, -1],
    "end": [9_000, 20_000, 40_000],
}
REDUCES = {
    "device": [0, 0, 0],
    "model": [5, 5, 5],
    "iteration": [1, 1, 2],
    "start": [3_000, 4_000, 13_000],
    "end": [3_500, 4_500, 14_000],
}


def with_steps() -> Recorded:
    some = simulated("single-op", "msprof")
    extras = {"step_trace": STEPS, "step_trace_reduce": REDUCES}
    tables = {
        name: pa.table({key: pa.array(one, pa.int64()) for key, one in columns.items()})
        for name, columns in extras.items()
    }
    return replace(some, extras=tables)


def test_step_traces_have_a_file_of_their_own() -> None:
    """Times and names of text-outputs.md 7.6, calculated by hand."""
    files = written(with_steps(), "python")
    events = files["step_trace"]
    process = {"pid": 3217657, "tid": 0}
    assert events[0] == {
        "name": "process_name",
        **process,
        "args": {"name": "Step Trace"},
        "ph": "M",
    }
    place = {"pid": 3217657, "tid": 3217657 + 70000}
    assert [event["args"] for event in events[1:3]] == [
        {"name": "Model ID:5"},
        {"sort_index": 70005},
    ]
    told = {event["name"]: event for event in events if event["ph"] == "X"}
    assert told["Iteration 2"] == {
        "name": "Iteration 2",
        **place,
        "ts": "10.000",
        "dur": 10.0,
        "args": {
            "Iteration ID": 2,
            "FP Start": "12.345",
            "BP End": "18.000",
            "Iteration End": "20.000",
            "Iteration Time(us)": 10.0,
        },
        "cat": "Iteration Time",
        "ph": "X",
    }
    assert told["Iteration 3"]["args"]["FP Start"] == "N/A"
    assert "FP_BP Time 3" not in told
    assert told["FP_BP Time 2"]["args"]["FP_BP Time(us)"] == 5.655
    assert told["Iteration Refresh 1"]["dur"] == 3.0
    assert told["Reduce_1_1"]["args"] == {
        "Iteration ID": 1,
        "Reduce Start 1": "4.000",
        "Reduce End 1": "4.500",
    }
    assert "Reduce_2_0" in told
    waits = [event for event in events if event["ph"] in "st"]
    identity = f"Data_aug Bound {place['pid']}_{place['tid']}"
    assert canonical(waits[0]) == canonical(
        {
            "name": "Data_aug Bound 0",
            "cat": "Data_aug Bound",
            "ph": "t",
            "ts": "2.000",
            **place,
            "id": identity,
            "args": {"Iteration ID": 1},
        }
    )
    assert [event["args"] for event in waits if event["ph"] == "s"] == [
        {"Data_aug Bound(us)": 0.0},
        {"Data_aug Bound(us)": 3.345},
    ]
    assert [event["ts"] for event in waits if event["ph"] == "s"] == ["7.500", "19.000"]


def test_step_traces_are_part_of_the_tasks_in_the_whole_timeline() -> None:
    files = written(with_steps(), "cpp")
    whole, own = files["msprof"], files["step_trace"]
    assert layers(own) == dict.fromkeys(layers(own), "Ascend Hardware")
    threads = {event["args"]["name"] for event in whole if event["name"] == "thread_name"}
    assert "Step Trace(Model ID:5)" in threads
    steps = Counter(canonical(event) for event in own if event["ph"] in "Xst")
    assert steps <= Counter(map(canonical, whole))
    reduces = [event for event in own if event["name"].startswith("Reduce_")]
    assert [event["name"] for event in reduces] == ["Reduce_1_0", "Reduce_1_1", "Reduce_2_2"]
    assert reduces[2]["args"] == {
        "Iteration ID": 2,
        "Reduce Start 2": "13000",
        "Reduce End 2": "14000",
    }
    waits = [event["ts"] for event in own if event["ph"] == "s"]
    assert waits == ["6.000", "19.672"]


def test_large_numbers_do_no_harm() -> None:
    recorded = simulated("observed-everything", "pytorch")
    table = recorded.table("TASK")
    worst = np.resize(np.array([2**63 - 1, -(2**63), -1, 0]), table.num_rows)
    for names in (("startNs",), ("endNs", "modelId"), ("streamId", "taskId", "contextId")):
        changed = table
        for name in names:
            place = table.column_names.index(name)
            changed = changed.set_column(place, table.schema.field(name), pa.array(worst))
        one = replace(recorded, tables={**recorded.tables, "TASK": changed})
        assert written(one, "adapter-2025-01")


@pytest.mark.parametrize("plane", [2**63 - 1, -(2**63), 2**32])
def test_planes_that_no_group_has_number_no_thread(plane: int) -> None:
    recorded = simulated("dense-8", "pytorch")
    table = recorded.table("COMMUNICATION_TASK_INFO")
    assert len(set(table["groupName"].to_pylist())) > 1
    place = table.column_names.index("planeId")
    column = pa.array(np.full(table.num_rows, plane))
    changed = table.set_column(place, table.schema.field("planeId"), column)
    tables = {**recorded.tables, "COMMUNICATION_TASK_INFO": changed}
    (events,) = written(replace(recorded, tables=tables), "adapter").values()
    names = [one["args"]["name"] for one in events if one["name"] == "thread_name"]
    assert sum(name.startswith("Group") for name in names) > 1
    assert {name for name in names if name.startswith("Plane")} == {"Plane 0"}
