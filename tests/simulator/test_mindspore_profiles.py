"""Simulated folders of MindSpore: clean, and by plain Python what its sources would write.

The oracles follow mindspore-present.md, from trace_view.json and the raw totals.
"""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from slices import marked

from ascend_conformance.check import check
from ascend_ref.capture import Switches
from ascend_simulator import write_run
from ascend_simulator.choices import ModelChoice, Parallelism, Scenario, Schedule
from ascend_simulator.scenario import override, preset

FORMATS = ("mindspore-db", "mindspore-text")
FOLDER = re.compile(r"^.+_\d+_\d{17}_ascend_ms$")
HARMLESS = {"T37", "T100"}
"""Errata that simulated profiles show as real ones do: sort indices of late layers, and work of
planes that crosses.
"""
SCENARIO = Scenario(
    name="mindspore",
    model=ModelChoice(layers=2, hidden=512, heads=4, sequence=256),
    parallelism=Parallelism(ranks=2),
    schedule=Schedule(active=2),
    capture=Switches(level=1, memory=True),
)


def objections(folder: Path) -> list[str]:
    return [
        f"{one.rule} {one.place}: {one.message}"
        for one in check([folder]).findings
        if one.erratum not in HARMLESS
    ]


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """ASCEND_PROFILER_OUTPUT of rank 0."""
    run = write_run(SCENARIO, 3, tmp_path_factory.mktemp("run") / "run", FORMATS)
    assert all(FOLDER.match(path.name) for path in run.profiles)
    return run.profiles[0] / "ASCEND_PROFILER_OUTPUT"


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def events(output: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((output / "trace_view.json").read_text())
    return found


def named(found: list[dict[str, Any]], process: str) -> Iterator[dict[str, Any]]:
    (pid,) = {
        one["pid"]
        for one in found
        if one["name"] == "process_name" and one["args"]["name"] == process
    }
    return (one for one in found if one["pid"] == pid and one["ph"] == "X")


def steps(found: list[dict[str, Any]]) -> dict[str, tuple[Decimal, Decimal]]:
    marks = (one for one in named(found, "MindSpore") if "ProfilerStep#" in one["name"])
    return {
        one["name"].split("#")[-1]: (Decimal(one["ts"]), Decimal(one["ts"]) + Decimal(one["dur"]))
        for one in marks
    }


def test_the_folder_holds_what_mindspore_writes(output: Path) -> None:
    assert {path.name for path in output.iterdir()} == {
        *("ascend_mindspore_profiler_0.db", "communication_analyzer.db"),
        *("communication.json", "communication_matrix.json", "trace_view.json"),
        *("kernel_details.csv", "op_statistic.csv", "api_statistic.csv", "step_trace_time.csv"),
        *("memory_record.csv", "operator_memory.csv"),
        "operator_details.csv",
    }
    info = json.loads((output.parent / "profiler_info_0.json").read_text())
    assert info["ms_profiler_info"] == {"rank_id": "0", "device_id": "0"}
    assert info["profiler_parameters"]["export_type"] == ["text", "db"]
    assert info["profiler_parameters"]["is_set_schedule"] is True


def test_steps_are_those_of_the_timeline(output: Path) -> None:
    found = events(output)
    overlap = list(named(found, "Overlap Analysis"))
    shown = rows(output / "step_trace_time.csv")
    assert [row["Step"] for row in shown] == list(steps(found))
    for row, (start, end) in zip(shown, steps(found).values(), strict=True):
        for name in ("Computing", "Communication", "Communication(Not Overlapped)"):
            due = sum(
                Decimal(str(one["dur"]))
                for one in overlap
                if one["name"] == name and start <= Decimal(one["ts"]) <= end
            )
            assert Decimal(row[name]) == Decimal(due).quantize(Decimal("0.000")), name
        free = sum(
            max(
                min(Decimal(one["ts"]) + Decimal(str(one["dur"])), end)
                - max(Decimal(one["ts"]), start),
                Decimal(0),
            )
            for one in overlap
            if one["name"] == "Free"
        )
        assert Decimal(row["Free"]) == Decimal(free).quantize(Decimal("0.000"))
        first = min(
            Decimal(one["ts"])
            for one in overlap
            if one["name"] in ("Computing", "Communication") and Decimal(one["ts"]) >= start
        )
        assert Decimal(row["Preparing"]) == first - start
        assert (row["Stage"], row["Bubble"]) == ("0", "0")


def test_kernels_are_named_after_their_launches(output: Path) -> None:
    """By the arrows that lead to them, as FwkEvent and AscendTimelineAssembler make both."""
    found = events(output)
    starts = {one["id"]: one for one in found if one["ph"] == "s" and one["cat"] == "async_npu"}
    calls = {
        (one["tid"], one["ts"]): one["name"]
        for one in named(found, "MindSpore")
        if "LaunchTask" in one["name"]
    }
    bare = {one["ts"]: one["name"] for one in named(found, "Ascend Hardware")}
    bare |= {one["ts"]: one["name"] for one in named(found, "Communication") if "__" in one["name"]}
    shown = rows(output / "kernel_details.csv")
    assert len(shown) > 50
    for row in shown:
        moment = row["Start Time(us)"].rstrip("\t")
        start = starts[moment]
        assert row["Name"] == f"{calls[start['tid'], start['ts']]}/{bare[moment]}"
        (step,) = [
            name
            for name, (begin, end) in steps(found).items()
            if begin <= Decimal(start["ts"]) <= end
        ]
        assert row["Step ID"] == step


def test_arrows_have_two_ends(output: Path) -> None:
    points = Counter(
        (one["cat"], one["id"], one["ph"])
        for one in events(output)
        if one["ph"] in "sf" and one["cat"].startswith("async")
    )
    assert points
    assert set(points.values()) == {1}
    assert {(cat, key) for cat, key, ph in points if ph == "s"} == {
        (cat, key) for cat, key, ph in points if ph == "f"
    }


def test_memory_is_followed_by_its_sum(output: Path) -> None:
    shown = rows(output / "memory_record.csv")
    assert list(shown[0]) == [
        *("Component", "Timestamp(us)", "Total Allocated(MB)", "Total Reserved(MB)"),
        *("Total Active(MB)", "Device Type"),
    ]
    own = [row for row in shown if row["Component"] != "APP"]
    newest: dict[str, float] = {"GE": 0.0, "MindSpore": 0.0}
    for row, total in zip(own[::2], own[1::2], strict=True):
        newest[row["Component"]] = float(row["Total Reserved(MB)"])
        assert total["Component"] == "MindSpore+GE"
        assert Decimal(total["Timestamp(us)"]) == Decimal(row["Timestamp(us)"].rstrip("\t"))
        assert float(total["Total Reserved(MB)"]) == pytest.approx(sum(newest.values()))


def test_blocks_have_no_end_of_use(output: Path) -> None:
    shown = rows(output / "operator_memory.csv")
    times = [float(row["Allocation Time(us)"]) for row in shown]
    assert times == sorted(times)
    assert {row["Active Release Time(us)"] for row in shown} == {"N/A"}
    for row in shown:
        assert row["Allocation Total Active(MB)"] == row["Allocation Total Allocated(MB)"]
        held, end = row["Duration(us)"], row["Release Time(us)"]
        assert (held == "N/A") == (end == "N/A") == (row["Release Total Reserved(MB)"] == "N/A")


def test_the_slowest_of_few_is_the_fastest_as_well(output: Path) -> None:
    """Of fewer than three operators MindSpore names one several times (2.6)."""
    matrix = json.loads((output / "communication_matrix.json").read_text())
    for classes in matrix.values():
        for entries in classes.values():
            kinds = {name.rsplit("-", 1)[0] + "@" + name.split("@")[1] for name in entries}
            assert len(entries) == 6 * len(kinds)
            for links in entries.values():
                assert all("Op Name" not in link for link in links.values())


@pytest.mark.campaign
def test_communication_of_a_run_without_steps_is_of_step_0(tmp_path: Path) -> None:
    capture = replace(SCENARIO.capture, cpu=False)
    run = write_run(replace(SCENARIO, capture=capture), 0, tmp_path / "run", FORMATS)
    output = run.profiles[0] / "ASCEND_PROFILER_OUTPUT"
    assert list(json.loads((output / "communication.json").read_text())) == ["step0"]
    assert [row["Step"] for row in rows(output / "step_trace_time.csv")] == ["0"]
    assert "Step ID" not in rows(output / "kernel_details.csv")[0]
    assert objections(run.profiles[1]) == []


CASES = [
    marked((seed, level), pytest.mark.exhaustive if seed == level else pytest.mark.campaign)
    for seed, level in ((0, 0), (1, 0), (2, 1), (3, 2), (2, 2))
]


@pytest.mark.campaign
@pytest.mark.parametrize(("seed", "level"), CASES)
def test_nothing_is_wrong(seed: int, level: int, tmp_path: Path) -> None:
    scenario = replace(SCENARIO, capture=Switches(level=level, memory=bool(seed), stack=True))
    run = write_run(scenario, seed, tmp_path / "run", FORMATS)
    assert objections(run.folder) == []


PRESETS = (
    *("text-museum", "950-dense", "edge-310b", "recommendation", "llm-inference"),
    *("cnn-910a", "moe-8", "dense-pipeline", "a3-dense", "inference-310p"),
)


@pytest.mark.campaign
@pytest.mark.parametrize(
    "name",
    [
        marked(one, pytest.mark.campaign if at % 5 else pytest.mark.exhaustive)
        for at, one in enumerate(PRESETS)
    ],
)
def test_presets_are_clean(name: str, tmp_path: Path) -> None:
    run = write_run(override(preset(name), steps=2), 5, tmp_path / "run", FORMATS)
    assert objections(run.folder) == []
