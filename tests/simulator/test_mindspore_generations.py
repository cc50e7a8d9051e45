"""Folders of MindSpore 2.3 to 2.7: clean, called and filled as the sources of each day do it.

The oracles follow the sources named in mindspore-present.md 0 to 4, in plain Python.
"""

from __future__ import annotations

import csv
import json
import re
import shutil
import struct
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from slices import few, some

from ascend_conformance.check import check
from ascend_conformance.finding import TEXT
from ascend_ref.capture import Switches
from ascend_simulator import write_run
from ascend_simulator.choices import FaultChoice, ModelChoice, Parallelism, Scenario, Schedule
from ascend_simulator.documents.text import ScenarioError

SCENARIO = Scenario(
    name="generations",
    model=ModelChoice(layers=1, hidden=256, heads=4, sequence=128),
    parallelism=Parallelism(ranks=2),
    schedule=Schedule(active=2),
    capture=Switches(level=1, memory=True, record_shapes=True, stack=True),
)
WRITERS = {
    "G5a": "viewer-2024",
    "G5b": "viewer-2025-02",
    "2025-04-01": "viewer-2025-04",
    "G5c": "viewer-2025",
}
BETWEEN = ("G5b", "2025-04-01")
TODAY = re.compile(r"^.+_\d+_\d{17}_ascend_ms$")
EARLIER = re.compile(r"^(rank-\d+|.+--\d+)_\d{14}_ascend_ms$")
FREE = (1 << 64) - 1


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The folder of rank 0 of each generation."""
    place = tmp_path_factory.mktemp("generations")
    return {
        name: write_run(SCENARIO, 1, place / name, ("mindspore-text",), generation=name).profiles[0]
        for name in WRITERS
    }


def rows(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / "ASCEND_PROFILER_OUTPUT" / name).open(newline="") as file:
        return list(csv.DictReader(file))


def info(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "profiler_info_0.json").read_text())
    return found


@pytest.mark.exhaustive
@pytest.mark.parametrize("generation", some(["G5a", *BETWEEN, "G5c"], every=2))
def test_it_is_clean_and_its_writer_is_found(folders: dict[str, Path], generation: str) -> None:
    report = check([folders[generation]])
    assert [one for one in report.findings if one.rule != "LOS401"] == []
    (text,) = (one for one in report.files if one.seen and one.seen.carrier == TEXT)
    assert text.seen is not None
    assert text.seen.revision == WRITERS[generation]


@pytest.mark.exhaustive
def test_folders_are_called_as_on_their_day(folders: dict[str, Path]) -> None:
    assert EARLIER.match(folders["G5a"].name)
    assert not TODAY.match(folders["G5a"].name)
    assert all(TODAY.match(folders[one].name) for one in ("G5b", "2025-04-01", "G5c"))


def test_what_a_folder_holds_came_piece_by_piece(folders: dict[str, Path]) -> None:
    held = {
        name: {path.name for path in (folder / "ASCEND_PROFILER_OUTPUT").iterdir()}
        for name, folder in folders.items()
    }
    assert "api_statistic.csv" not in held["G5a"]
    assert held["G5b"] - held["G5a"] == {"api_statistic.csv"}
    assert held["2025-04-01"] - held["G5b"] == {"communication_analyzer.db"}
    assert held["G5c"] - held["2025-04-01"] == {"operator_details.csv"}


def test_kernels_of_the_first_folders_are_plain_copies(folders: dict[str, Path]) -> None:
    first, later = (
        rows(folders["G5a"], "kernel_details.csv"),
        rows(folders["G5b"], "kernel_details.csv"),
    )
    assert next(iter(first[0])) == "Device_id"
    assert "Step ID" not in first[0]
    assert "Device_id" not in later[0]
    assert [row["Name"] for row in first] == [row["Name"].rsplit("/", 1)[-1] for row in later]


def test_steps_of_the_first_folders_are_one_row_whose_stage_means_nothing(
    folders: dict[str, Path],
) -> None:
    """AscendClusterGenerator of b4db235470e, on the events of msprof in the timeline (M60)."""
    (row,) = rows(folders["G5a"], "step_trace_time.csv")
    assert row["Step"] == ""
    assert "Preparing" not in row
    text = (folders["G5a"] / "ASCEND_PROFILER_OUTPUT" / "trace_view.json").read_text()
    own = [one for one in json.loads(text) if one["pid"] != 1 and one.get("cat") != "async_npu"]
    ends = [float(one.get("ts", 0)) + float(one.get("dur", 0)) for one in own]
    bubble = len(own) * float(own[-1].get("dur", 0))
    assert float(row["Bubble"]) == pytest.approx(bubble, abs=0.5)
    assert float(row["Stage"]) == pytest.approx(max(ends) - bubble, abs=1)


def test_the_key_of_communication_is_step_alone_at_first(folders: dict[str, Path]) -> None:
    keys = {
        name: set(json.loads((folder / "ASCEND_PROFILER_OUTPUT/communication.json").read_text()))
        for name, folder in folders.items()
    }
    assert keys["G5a"] == {"step"}
    assert keys["G5b"] == keys["G5c"] == {"step1", "step2"}


def test_options_came_and_went(folders: dict[str, Path]) -> None:
    assert info(folders["G5a"])["context_mode"] == "pynative"
    assert info(folders["G5a"])["rank_id"] == "0"
    found = {name: info(folders[name]) for name in ("G5b", "2025-04-01", "G5c")}
    options = {name: set(one["profiler_parameters"]) for name, one in found.items()}
    assert options["2025-04-01"] - options["G5b"] == {"aic_metrics", "export_type"}
    assert options["G5b"] - options["2025-04-01"] == {"aicore_metrics"}
    assert options["G5c"] - options["2025-04-01"] == {
        *("sys_io", "sys_interconnection", "host_sys", "record_shapes"),
        *("mstx_domain_include", "mstx_domain_exclude"),
    }
    assert ["context_mode" in one for one in found.values()] == [True, True, False]


@pytest.mark.campaign
@pytest.mark.parametrize(
    ("generation", "changes", "valid"),
    few(
        [
            # _get_devid_rankid_and_devtarget: a text of digits; Model ID is read as a double.
            ("G5a", {"rank_id": "0", "graph_ids": [1.0, 4294967295.0], "diff_time": 5}, True),
            ("G5a", {"rank_id": 0}, False),
            # get_cann_version came while MindSpore was 2.5.
            ("G5b", {"cann_version": None}, True),
            ("2025-04-01", {"cann_version": None}, False),
            # AicoreMetrics.AiCoreNone is "None".
            ("G5b", {"profiler_parameters": {"aicore_metrics": "None"}}, True),
            ("G5b", {"profiler_parameters": {"aicore_metrics": "AiCoreNone"}}, False),
        ],
        every=3,
    ),
)
def test_profiler_info_is_judged_as_of_its_day(
    folders: dict[str, Path], tmp_path: Path, generation: str, changes: dict[str, Any], valid: bool
) -> None:
    folder = tmp_path / folders[generation].name
    shutil.copytree(folders[generation], folder)
    for path in (folder / "ASCEND_PROFILER_OUTPUT").iterdir():
        if path.name not in ("kernel_details.csv", "step_trace_time.csv"):
            path.unlink()
    changed = info(folder)
    for key, value in changes.items():
        if value is None:
            del changed[key]
        else:
            changed[key] = {**changed[key], **value} if isinstance(value, dict) else value
    (folder / "profiler_info_0.json").write_text(json.dumps(changed, indent=4))
    found = [one for one in check([folder]).findings if "profiler_info_0.json" in str(one)]
    assert (found == []) == valid, found


@pytest.mark.parametrize("generation", ["G5b", "2025-04-01"])
def test_totals_of_blocks_were_exchanged(folders: dict[str, Path], generation: str) -> None:
    """By AscendOpMemoryViewer before 95482b934e6: alloc_size is Allocated, used_size Reserved."""
    early, later = (rows(folders[name], "operator_memory.csv") for name in (generation, "G5c"))
    assert early
    for side in ("Allocation", "Release"):
        assert [
            (row[f"{side} Total Allocated(MB)"], row[f"{side} Total Reserved(MB)"]) for row in early
        ] == [
            (row[f"{side} Total Reserved(MB)"], row[f"{side} Total Allocated(MB)"]) for row in later
        ]


def test_blocks_of_2_5_are_divided_by_1024(folders: dict[str, Path]) -> None:
    early, later = (
        rows(folders["G5b"], "operator_memory.csv"),
        rows(folders["G5c"], "operator_memory.csv"),
    )
    for one, other in zip(early, later, strict=True):
        assert float(one["Allocation Time(us)"]) == pytest.approx(
            float(other["Allocation Time(us)"]) * 1000 / 1024, abs=1
        )
    first = (folders["G5a"] / "ASCEND_PROFILER_OUTPUT/operator_memory.csv").read_bytes()
    assert all(line.endswith(b",") for line in first.splitlines())


def records(path: Path, fixed: str) -> Iterator[tuple[tuple[Any, ...], dict[int, str]]]:
    """TLV as TLVDecoder reads it: a head, the fixed part, then texts."""
    content, place = path.read_bytes(), 0
    while place < len(content):
        _, length = struct.unpack_from("<HI", content, place)
        body = content[place + 6 : place + 6 + length]
        place += 6 + length
        size = struct.calcsize(fixed)
        texts, at = {}, size
        while at < len(body):
            tag, long = struct.unpack_from("<HI", body, at)
            texts[tag] = body[at + 6 : at + 6 + long].decode()
            at += 6 + long
        yield struct.unpack_from(fixed, body), texts


def test_op_range_of_both_layouts_names_what_the_timeline_shows(folders: dict[str, Path]) -> None:
    early = records(folders["G5b"] / "FRAMEWORK" / "op_range_0", "<3q6Qb?")
    later = records(folders["G5c"] / "FRAMEWORK" / "mindspore.op_range", "<5Qi3Hb3?")
    names = [texts[3] for _, texts in early]
    modules = {3: "PynativeFramework", 5: "Python"}
    events = {28: "RunOp", 32: "PyNativeLaunchTask", 53: "PythonObserved"}
    shown = []
    for fixed, texts in later:
        if fixed[12] or texts[13] == "flow":
            shown.append(texts[13])
        else:
            shown.append(f"{modules[fixed[6]]}::{events[fixed[7]]}::{texts[14]}")
    assert names == shown
    text = (folders["G5c"] / "ASCEND_PROFILER_OUTPUT" / "trace_view.json").read_text()
    drawn = [one["name"] for one in json.loads(text) if one["pid"] == 1 and one["ph"] in "Xi"]
    assert sorted(drawn) == sorted(name for name in shown if name != "flow")


def test_blocks_follow_from_memory_usage(folders: dict[str, Path]) -> None:
    """AscendOpMemoryViewer: each record that takes, with the next of its address."""
    place = folders["G5c"] / "FRAMEWORK" / "mindspore.memory_usage"
    found = sorted(records(place, "<i11QI4B"), key=lambda one: one[0][3])
    by_address: dict[int, list[tuple[tuple[Any, ...], str]]] = {}
    for fixed, texts in found:
        by_address.setdefault(fixed[4], []).append((fixed, texts.get(13, "")))
    due = []
    for own in by_address.values():
        for (fixed, name), after in zip(own, [*own[1:], None], strict=True):
            if fixed[5] != FREE:
                freed = after[0][3] / 1000 if after and after[0][5] == FREE else "N/A"
                due.append((name, fixed[5] / 1024, fixed[3] / 1000, str(freed)))
    due.sort(key=lambda one: one[2])
    shown = rows(folders["G5c"], "operator_memory.csv")
    assert [
        (
            row["Name"],
            float(row["Size(KB)"]),
            float(row["Allocation Time(us)"]),
            row["Release Time(us)"],
        )
        for row in shown
    ] == due


@pytest.mark.parametrize("generation", ["G5a", "G5b"])
def test_there_was_no_database_before_2025_03(generation: str, tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="a database since 2025-03-08"):
        write_run(SCENARIO, 0, tmp_path / "run", ("mindspore-db",), generation=generation)


@pytest.mark.exhaustive
def test_the_data_pipeline_is_in_the_folder_of_a_program_that_looks_at_it(tmp_path: Path) -> None:
    """By MindDataPiplineSummaryViewer; under a schedule the profiler does not record it."""
    stalled = replace(
        SCENARIO,
        parallelism=Parallelism(),
        faults=(FaultChoice("data-loading-stall", milliseconds=20),),
    )
    run = write_run(stalled, 0, tmp_path / "run", ("mindspore-text",), generation="G5c")
    (profile,) = run.profiles
    assert check([run.folder]).findings == ()
    parameters = info(profile)["profiler_parameters"]
    assert (parameters["data_process"], parameters["is_set_schedule"]) == (True, False)
    output = profile / "ASCEND_PROFILER_OUTPUT"
    summary = json.loads((output / "minddata_pipeline_summary_0.json").read_text())
    raw = json.loads((profile / "FRAMEWORK" / "pipeline_profiling_0.json").read_text())
    sizes = [one["metrics"] and one["metrics"]["output_queue"]["size"] for one in raw["op_info"]]
    assert summary["queue_average_size"] == [
        round(sum(one) / len(one), 2) if one else -1 for one in sizes
    ]
    lines = (output / "minddata_pipeline_summary_0.csv").read_text().splitlines()
    assert [line.partition(",")[0] for line in lines] == list(summary)
    assert "Step ID" not in rows(profile, "kernel_details.csv")[0]
