"""Timelines that a tool has written anew, and lengths that no arithmetic was made for."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from slices import some
from text_folders import DATA, judged, needs_data

from ascend_conformance.finding import FileReport
from ascend_simulator import write_run
from ascend_simulator.scenario import override, preset


@pytest.fixture(scope="module")
def timeline(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A timeline of the newest writer, without spaces behind colons, with communication."""
    out = tmp_path_factory.mktemp("timeline") / "run"
    scenario = override(preset("dense-8"), steps=1, ranks=2)
    write_run(scenario, 0, out, formats=("timeline",))
    return sorted(out.rglob("msprof_*.json"))[0]


def rewritten(path: Path, folder: Path, events: object, **form: Any) -> FileReport:
    """The report on these events under the name of the file."""
    copy = folder / path.name
    copy.write_text(json.dumps(events, ensure_ascii=False, **form))
    (report,) = judged(copy)
    return report


def facts(report: FileReport) -> tuple[object, Sequence[tuple[object, ...]]]:
    """Who wrote a file, and what is found where, but for lines and bytes."""
    found = [(one.rule, one.place, one.count) for one in report.findings]
    return report.seen and report.seen.revision, sorted(found, key=repr)


FORMS = [{}, {"indent": 1}, {"separators": (",", ":")}]


@pytest.mark.exhaustive
@pytest.mark.parametrize("form", some(FORMS, every=3), ids=["spaces", "lines", "compact"])
def test_a_timeline_written_anew_is_the_same_timeline(
    timeline: Path, tmp_path: Path, form: dict[str, Any]
) -> None:
    """The form alone once chose an older writer: 266 tasks outside of their operators."""
    (report,) = judged(timeline)
    assert not report.findings
    anew = rewritten(timeline, tmp_path, json.loads(timeline.read_bytes()), **form)
    assert facts(anew) == facts(report)


@pytest.mark.campaign
def test_so_are_real_ones(tmp_path: Path) -> None:
    needs_data()
    paths = [*DATA.rglob("trace_view.json"), *DATA.parent.rglob("msprof_*.json")]
    assert paths
    for path in paths:
        (report,) = judged(path)
        anew = rewritten(path, tmp_path, json.loads(path.read_bytes()))
        assert facts(anew) == facts(report), path


@pytest.mark.exhaustive
def test_a_length_that_no_integer_holds_leaves_other_relations_judged(
    timeline: Path, tmp_path: Path
) -> None:
    """Fourteen relations on one scan were skipped for the one that reads the end."""
    events = json.loads(timeline.read_bytes())
    next(one for one in events if "src rank" in one.get("args", {}))["dur"] = 1e300
    report = rewritten(timeline, tmp_path, events)
    skipped = {one.rule for one in report.skipped if one.reason.startswith("cannot be computed")}
    assert skipped == {"REL502", "REL509", "REL525"}
    assert {"TRC302", "XLR111"} == {one.rule for one in report.findings}


HEADER = (
    "op_name,block_dim,op_type,task_type,task_start_time,task_duration,device_id,stream_id,"
    "task_id,task_wait_time"
)
"""As tools name columns that export kernel_details.csv from a database."""
STARTS, LENGTHS = (1767258000150946.8, 1767258000151629.2, 1767258000152506.5), (37.5, 80.0, 25.6)


def kernel_details(folder: Path, header: str, waits: Sequence[float]) -> Path:
    """A file of another tool; times as it prints doubles."""
    rows = [
        f"aclnnAdd_Add,48,Add,AI_VECTOR_CORE,{start},{length},0,2,{number},{wait}"
        for number, (start, length, wait) in enumerate(zip(STARTS, LENGTHS, waits, strict=True))
    ]
    path = folder / "ASCEND_PROFILER_OUTPUT" / "kernel_details.csv"
    path.parent.mkdir(parents=True)
    path.write_text("\n".join([header, *rows, ""]), encoding="utf-8")
    return path.parent


def waits_found(folder: Path) -> Sequence[int]:
    """How many wait times are said to be wrong."""
    found = (one for report in judged(folder) for one in report.findings)
    return [one.count for one in found if one.rule == "XLR114"]


@pytest.mark.exhaustive
def test_wrong_wait_times_are_found_under_names_of_another_tool(tmp_path: Path) -> None:
    """They are taken from the start, not from the end, of the row before."""
    wrong = (0.0, STARTS[1] + LENGTHS[1] - STARTS[0], STARTS[2] + LENGTHS[2] - STARTS[1])
    folder = kernel_details(tmp_path, HEADER, wrong)
    assert waits_found(folder) == [2]
    (report,) = judged(folder)
    (renamed,) = (one for one in report.findings if "other names" in one.message)
    assert renamed.rule == "CSV011"


def test_right_wait_times_are_right_under_names_of_another_tool(tmp_path: Path) -> None:
    right = (0.0, STARTS[1] - STARTS[0] - LENGTHS[0], STARTS[2] - STARTS[1] - LENGTHS[1])
    assert waits_found(kernel_details(tmp_path, HEADER, right)) == []


def test_a_column_in_another_unit_is_another_column(tmp_path: Path) -> None:
    header = HEADER.replace("task_wait_time", "Task Wait Time(ns)")
    folder = kernel_details(tmp_path, header, (0, 599700, 600))
    assert waits_found(folder) == []
    (report,) = judged(folder)
    lacking = {one.column for one in report.findings if one.rule == "CSV011"}
    assert "Wait Time(us)" in lacking
