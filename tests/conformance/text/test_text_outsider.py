"""One file of another rank, unit or clock is one finding, and the others follow from it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from slices import some
from text_folders import OUTPUT, RANK, Table, judged, needs_data, rewritten

from ascend_conformance.finding import FileReport, Finding
from ascend_conformance.options import Options
from ascend_conformance.ruleset import Selection
from ascend_simulator import write_run
from ascend_simulator.scenario import override, preset

OF_A_RANK = ("trace_view.json",)
FURTHER = (
    "step_trace_time.csv",
    "kernel_details.csv",
    "api_statistic.csv",
    "communication.json",
    "communication_matrix.json",
    "op_statistic.csv",
    "operator_details.csv",
    "task_time.csv",
)
"""Files of which those of two ranks differ in more than in the device."""
HOUR_US = 3_600_000_000

Event: TypeAlias = dict[str, Any]


@pytest.fixture(scope="module")
def ranks(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The text output of two ranks."""
    scenario = override(preset("dense-8"), steps=2, ranks=2)
    run = write_run(
        scenario,
        0,
        tmp_path_factory.mktemp("ranks") / "run",
        ("pytorch-text",),
    )
    first, second = sorted(run.folder.rglob(OUTPUT))
    return first.parent, second.parent


def violations(report: FileReport) -> list[Finding]:
    return [one for one in report.findings if one.verdict == "violation" and one.cause is None]


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "name",
    [*OF_A_RANK, *(pytest.param(name, marks=pytest.mark.campaign) for name in FURTHER)],
)
def test_a_file_of_another_rank_is_the_only_violation(
    name: str, ranks: tuple[Path, Path], tmp_path: Path
) -> None:
    own, other = ranks
    mixed = tmp_path / own.name
    shutil.copytree(own, mixed)
    shutil.copy(other / OUTPUT / name, mixed / OUTPUT / name)
    (report,) = judged(mixed)
    (cause,) = violations(report)
    assert (cause.rule, cause.table) == ("XLR901", name)
    assert {one.cause for one in report.findings if one is not cause} == {"XLR901"}


def scaled(factor: Decimal, *names: str) -> Callable[[Table], None]:
    return recomputed(lambda value: value * factor, *names)


def recomputed(change: Callable[[Decimal], Decimal], *names: str) -> Callable[[Table], None]:
    """Changes the numbers of some columns, and keeps the tab behind them."""

    def changing(table: Table) -> None:
        for place in map(table[0].index, names):
            for row in table[1:]:
                number = row[place].strip()
                if number not in ("", "N/A"):
                    row[place] = row[place].replace(number, f"{change(Decimal(number)):f}")

    return changing


MISTAKES = [
    (
        "kernel_details.csv",
        recomputed(lambda time: time + 8 * HOUR_US, "Start Time(us)"),
        "XLR903",
        "8 h 0 min against communication.json and trace_view.json",
    ),
    (
        "kernel_details.csv",
        recomputed(lambda time: time + 2500, "Start Time(us)"),
        "XLR903",
        "2.500 ms against communication.json and trace_view.json",
    ),
    (
        "kernel_details.csv",
        scaled(Decimal(1000), "Duration(us)"),
        "XLR902",
        "a factor of 1,000 against communication.json, op_statistic.csv and trace_view.json",
    ),
    (
        "kernel_details.csv",
        recomputed(lambda time: (time / 1000).quantize(Decimal("0.001")), "Duration(us)"),
        "XLR902",
        "a factor of 1,000 against communication.json, op_statistic.csv and trace_view.json",
    ),
    (
        "operator_memory.csv",
        scaled(
            Decimal("1.048576"), "Allocation Total Allocated(MB)", "Allocation Total Reserved(MB)"
        ),
        "XLR902",
        "a factor of 1.049 against memory_record.csv",
    ),
    (
        "op_statistic.csv",
        scaled(Decimal("0.001"), "Total Time(us)", "Min Time(us)", "Avg Time(us)", "Max Time(us)"),
        "XLR902",
        "a factor of 1,000 against kernel_details.csv",
    ),
    (
        "memory_record.csv",
        recomputed(lambda time: time + 8 * HOUR_US, "Timestamp(us)"),
        "XLR903",
        "8 h 0 min against operator_memory.csv and trace_view.json",
    ),
]
"""A file, what is done to it, the rule that finds it, and its words."""


@pytest.mark.campaign
@pytest.mark.parametrize(("name", "change", "rule", "words"), some(MISTAKES, every=10))
def test_another_unit_or_clock_of_a_real_file_is_named(
    name: str, change: Callable[[Table], None], rule: str, words: str, tmp_path: Path
) -> None:
    needs_data()
    shutil.copytree(RANK, tmp_path / "real")
    rewritten(tmp_path / "real" / OUTPUT / name, change)
    (report,) = judged(tmp_path / "real")
    (cause,) = [one for one in violations(report) if one.rule.startswith("XLR90")]
    assert (cause.rule, cause.table) == (rule, name)
    assert cause.message.endswith(words)
    assert sum(one.cause == rule for one in report.findings) >= 3


def replaced(name: str, texts: dict[str, str]) -> Callable[[Table], None]:
    """Writes a column in other words."""

    def changing(table: Table) -> None:
        place = table[0].index(name)
        for row in table[1:]:
            row[place] = texts.get(row[place], row[place])

    return changing


IN_ONE_COLUMN = [
    ("api_statistic.csv", scaled(Decimal("1.02"), "Variance")),
    ("op_statistic.csv", scaled(Decimal("1.3"), "Ratio(%)")),
    (
        "kernel_details.csv",
        replaced(
            "Accelerator Core", {"AI_CORE": "KERNEL_AICORE", "AI_VECTOR_CORE": "KERNEL_AIVEC"}
        ),
    ),
    ("operator_memory.csv", scaled(Decimal("1.1"), "Allocation Total Allocated(MB)")),
]
"""A file, and one column of it that is written wrongly in all rows."""


@pytest.mark.campaign
@pytest.mark.parametrize(("name", "change"), some(IN_ONE_COLUMN, every=4))
def test_one_wrong_column_makes_no_file_of_another_capture(
    name: str, change: Callable[[Table], None], tmp_path: Path
) -> None:
    needs_data()
    shutil.copytree(RANK, tmp_path / "real")
    rewritten(tmp_path / "real" / OUTPUT / name, change)
    (report,) = judged(tmp_path / "real")
    assert violations(report)
    assert not [one.message for one in report.findings if one.rule == "XLR901"]


def is_step(event: Event, host: frozenset[object]) -> bool:
    return str(event.get("name")).startswith("ProfilerStep#")


def is_of_the_host(event: Event, host: frozenset[object]) -> bool:
    ends = event["ph"] in "stf" and event.get("cat") in ("async_npu", "async_task_queue", "fwdbwd")
    return ends or event.get("pid") in host


OF_910A = RANK.parents[1] / "generations" / "text_910a_2024_level1_rank0"


@pytest.mark.campaign
@pytest.mark.parametrize(
    ("folder", "is_lost"),
    some(
        [(folder, lost) for folder in (RANK, OF_910A) for lost in (is_step, is_of_the_host)],
        every=4,
    ),
)
def test_a_timeline_that_lost_a_part_is_none_of_another_capture(
    folder: Path, is_lost: Callable[[Event, frozenset[object]], bool], tmp_path: Path
) -> None:
    shutil.copytree(needs_data(folder), tmp_path / "real")
    (timeline,) = (tmp_path / "real").rglob("trace_view.json")
    events = json.loads(timeline.read_bytes())
    host = frozenset(
        event["pid"]
        for event in events
        if event["name"] == "process_name" and event["args"]["name"] == "Python"
    )
    timeline.write_text(json.dumps([event for event in events if not is_lost(event, host)]))
    (report,) = judged(tmp_path / "real")
    assert any("likely cause" in one.message for one in report.findings)
    assert "XLR901" not in {one.rule for one in report.findings}


@pytest.mark.campaign
def test_rounded_times_make_no_file_of_another_capture(
    ranks: tuple[Path, Path], tmp_path: Path
) -> None:
    own, _ = ranks
    shutil.copytree(own, tmp_path / own.name)
    rounded = recomputed(lambda time: time.quantize(Decimal("0.1")), "Start Time(us)")
    rewritten(tmp_path / own.name / OUTPUT / "kernel_details.csv", rounded)
    (report,) = judged(tmp_path / own.name)
    assert "XLR105" in {one.rule for one in violations(report)}
    assert "XLR901" not in {one.rule for one in report.findings}


@pytest.mark.campaign
def test_a_fault_of_some_rows_has_no_outsider(tmp_path: Path) -> None:
    needs_data()
    shutil.copytree(RANK, tmp_path / "real")

    def some(table: Table) -> None:
        place = table[0].index("Duration(us)")
        for row in table[1:20]:
            row[place] = row[place].replace(row[place].strip(), "1.234")

    rewritten(tmp_path / "real" / OUTPUT / "kernel_details.csv", some)
    (report,) = judged(tmp_path / "real")
    assert len(violations(report)) > 1
    assert all(one.cause is None for one in report.findings)


@pytest.mark.exhaustive
def test_the_cause_is_not_looked_for_where_it_was_not_asked_for(
    ranks: tuple[Path, Path], tmp_path: Path
) -> None:
    own, other = ranks
    shutil.copytree(own, tmp_path / own.name)
    shutil.copy(other / OUTPUT / "op_statistic.csv", tmp_path / own.name / OUTPUT)
    options = Options(selection=Selection(ignore=("XLR901",)))
    (report,) = judged(tmp_path / own.name, options)
    assert {one.rule for one in violations(report)} == {"XLR201", "XLR912"}
