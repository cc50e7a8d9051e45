"""Steps as generations of torch_npu divide them: real folders changed as each writes them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from text_folders import Table, changed, copied, judged, rewritten

from ascend_conformance.media.text.rules import load_text_rules
from ascend_conformance.options import Options
from ascend_conformance.ruleset import Selection
from ascend_ref.derive.adapter_steps import GENERATIONS
from ascend_simulator.run import write_run
from ascend_simulator.scenario import override, preset

Event: TypeAlias = dict[str, Any]
TO_THE_END = 138083.25
"""us from the first slice to the end of the step on the host."""
DOCUMENTS = ("communication.json", "communication_matrix.json")
EXPOSED = "Communication(Not Overlapped and Exclude Receive)"


def found(path: Path, *rules: str) -> set[str]:
    reports = judged(path, Options(selection=Selection(select=rules), workers=1))
    return {one.rule for report in reports for one in report.findings}


def cells(**values: object) -> Callable[[Table], None]:
    """Replaces cells of the only row; underlines of the names stand for blanks."""

    def change(table: Table) -> None:
        row = dict(zip(table[0], table[1], strict=True))
        row |= {name.replace("_", " "): str(value) for name, value in values.items()}
        table[1] = list(row.values())

    return change


def add_events(output: Path, make: Callable[[list[Event]], list[Event]]) -> None:
    path = output / "trace_view.json"
    events = json.loads(path.read_bytes())
    path.write_text(json.dumps(events + make(events)))


def after_the_step(events: list[Event]) -> tuple[Event, str]:
    """The step and the moment of its end, which lies behind its last kernel."""
    (step,) = (one for one in events if one["name"].startswith("ProfilerStep#"))
    return step, str(Decimal(step["ts"]) + Decimal(str(step["dur"])))


def test_every_generation_is_a_reading() -> None:
    agreement = load_text_rules()["XLR304"].search.agreement
    assert agreement is not None
    assert sorted(agreement.readings) == sorted(one.since for one in GENERATIONS)


@pytest.mark.parametrize(
    ("shown", "broken"), [("-500.0", set()), ("0", set()), ("-400.0", {"CSV323"})]
)
def test_receives_behind_computing(tmp_path: Path, shown: str, broken: set[str]) -> None:
    """TraceStepTimeParser takes them from the exposed time, until 2026-03-27 below 0."""
    receives = cells(
        **{"Communication(Not Overlapped)": "100.0", "Overlapped": "600.0"},
        **{"Communication": "700.0", "Bubble": "600.0", EXPOSED: shown},
    )
    path = changed(tmp_path, "step_trace_time.csv", receives)
    assert found(path.parent, "CSV02", "CSV323") == broken


def test_step_without_work_of_the_device(tmp_path: Path) -> None:
    """Nothing of it began, so that its preparing ends at -1."""
    names = ("Computing", "Communication(Not Overlapped)", "Overlapped", "Communication")
    nothing = dict.fromkeys((*names, "Free", "Stage", EXPOSED), 0)
    path = changed(
        tmp_path, "step_trace_time.csv", cells(**nothing, Preparing="-1736408883686741.75")
    )
    assert found(path.parent, "CSV326") == set()
    rewritten(path, cells(Computing="5.0"))
    assert found(path.parent, "CSV326") == {"CSV326"}


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("waited", "broken"),
    [(0, set()), (400, set()), (200, {"XLR304"})],
    ids=["now", "2024", "never"],
)
def test_slice_that_starts_as_the_step_ends(tmp_path: Path, waited: int, broken: set[str]) -> None:
    """TraceStepTimeParser.count_time took it into the step from 2023-12-27 to 2024-10-24."""
    output = copied(tmp_path, "trace_view.json", "step_trace_time.csv")

    def make(events: list[Event]) -> list[Event]:
        free = next(one for one in events if one["name"] == "Free" and one["ph"] == "X")
        return [{**free, "ts": after_the_step(events)[1], "dur": 400.0}]

    add_events(output, make)

    def change(table: Table) -> None:
        row = dict(zip(table[0], table[1], strict=True))
        free = float(row["Free"]) + waited
        stage = TO_THE_END + waited if waited else row["Stage"]
        cells(Free=free, Stage=stage)(table)

    rewritten(output / "step_trace_time.csv", change)
    assert found(output, "XLR304") == broken


@pytest.mark.exhaustive
def test_step_that_launched_nothing(tmp_path: Path) -> None:
    """Until 2025-06-20 FwkCANNRelationParser.get_step_range knew no step then."""
    names = ("trace_view.json", "step_trace_time.csv", "kernel_details.csv", *DOCUMENTS)
    output = copied(tmp_path, *names)
    rules = ("XLR304", "XLR307", "XLR405", "XLR409")

    def make(events: list[Event]) -> list[Event]:
        step, end = after_the_step(events)
        return [{**step, "name": "ProfilerStep#51", "ts": end, "dur": 5.0}]

    add_events(output, make)
    # So it is since: the other step stays.
    assert found(output, *rules) == set()

    def no_step(table: Table) -> None:
        place = table[0].index("Step Id")
        for row in table:
            del row[place]

    rewritten(output / "kernel_details.csv", no_step)
    rewritten(output / "step_trace_time.csv", cells(Step=""))
    for name in DOCUMENTS:
        (step,) = json.loads((output / name).read_bytes()).values()
        (output / name).write_text(json.dumps({"step": step}))
    assert found(output, *rules) == set()
    rewritten(output / "step_trace_time.csv", cells(Computing="8837.756"))
    assert found(output, "XLR304") == {"XLR304"}


BORDER = Decimal("1736408883738105")
"""Here 47 entries of the task queue wait, and no operator runs but the step."""


def end_of(event: Event) -> Decimal:
    return Decimal(event["ts"]) + Decimal(str(event["dur"]))


def launched_work(events: list[Event]) -> list[tuple[Decimal, Decimal, Decimal]]:
    """When work was put into the task queue, began and ended."""
    drawn = {(one["pid"], one["tid"], one["ts"]): one for one in events if one["ph"] == "X"}
    given = {
        one["args"]["correlation_id"]: Decimal(one["ts"])
        for one in events
        if one.get("cat") == "enqueue"
    }
    arrows = [one for one in events if one.get("cat") == "HostToDevice"]
    called = {one["id"]: Decimal(one["ts"]) for one in arrows if one["ph"] == "s"}
    takes = [one for one in events if one.get("cat") == "dequeue"]
    found = []
    for arrow in arrows:
        work = drawn.get((arrow["pid"], arrow["tid"], arrow["ts"]))
        if arrow["ph"] == "f" and work is not None:
            moment = called[arrow["id"]]
            for take in takes:
                if Decimal(take["ts"]) <= moment <= end_of(take):
                    number = take["args"]["correlation_id"]
                    found.append((given[number], Decimal(work["ts"]), end_of(work)))
                    break
    return sorted(found)


def test_queue_that_lags_behind_the_steps(tmp_path: Path) -> None:
    """FwkCANNRelationParser.get_step_range: work is of the step that put it into the queue."""
    output = copied(tmp_path, "trace_view.json", "kernel_details.csv")
    path = output / "trace_view.json"
    events = json.loads(path.read_bytes())
    step, end = after_the_step(events)
    step["dur"] = float(BORDER - Decimal(step["ts"]))
    rest = float(Decimal(end) - BORDER)
    events.append({**step, "name": "ProfilerStep#51", "ts": str(BORDER), "dur": rest})
    path.write_text(json.dumps(events))
    work = launched_work(events)
    first = [one for one in work if one[0] <= BORDER]
    second = work[len(first) :]
    assert second
    bounds = (
        ("50", first[0][1], max(first[-1][2], BORDER)),
        ("51", second[0][1], max(second[-1][2], Decimal(end))),
    )

    def with_steps(table: Table) -> None:
        names = table[0]
        place, start = names.index("Step Id"), names.index("Start Time(us)")
        for row in table[1:]:
            begun = Decimal(row[start].strip())
            row[place] = next((one for one, low, high in bounds if low <= begun <= high), "")

    rewritten(output / "kernel_details.csv", with_steps)
    assert found(output, "XLR307") == set()

    def with_a_wrong_step(table: Table) -> None:
        place = table[0].index("Step Id")
        row = next(row for row in table if row[place] == "51")
        row[place] = "50"

    rewritten(output / "kernel_details.csv", with_a_wrong_step)
    assert found(output, "XLR307") == {"XLR307"}


def test_step_that_only_communicates(tmp_path: Path) -> None:
    """TraceStepTimeDbParser takes the first task to be at 0 without compute tasks, the file not."""
    run = write_run(preset("single-op"), 0, tmp_path / "run", ("pytorch-db", "pytorch-text"))
    (database,) = run.folder.rglob("analysis.db")
    (path,) = run.folder.rglob("step_trace_time.csv")
    for other in path.parent.iterdir():
        if other.suffix != ".db" and other != path:
            other.unlink()
    rewritten(path, cells(Computing="0"))
    wanted: tuple[tuple[int, set[str]], ...] = ((0, set()), (1, {"XLR305"}))
    for preparing, broken in wanted:
        with closing(sqlite3.connect(database)) as analysis:
            analysis.execute("UPDATE StepTraceTime SET computing = 0, preparing = ?", (preparing,))
            analysis.commit()
        assert found(database.parent, "XLR305") == broken


@pytest.mark.exhaustive
def test_queue_that_lags_divides_file_and_database_differently(tmp_path: Path) -> None:
    """TraceStepTimeDbParser goes by the launch, TraceStepTimeParser by the entry of the queue."""
    scenario = override(preset("single-op"), steps=2)
    run = write_run(scenario, 0, tmp_path / "run", ("pytorch-db", "pytorch-text"))
    (database,) = run.folder.rglob("analysis.db")
    with closing(sqlite3.connect(database)) as analysis:
        analysis.execute("UPDATE StepTraceTime SET computing = computing + 5 WHERE rowid = 1")
        analysis.commit()
    assert found(database.parent, "XLR305") == {"XLR305"}
    path = database.with_name("trace_view.json")
    events = json.loads(path.read_bytes())
    step = min(
        (one for one in events if one["name"].startswith("ProfilerStep#")),
        key=lambda one: Decimal(one["ts"]),
    )
    queue = [one for one in events if one.get("cat") == "async_task_queue"]
    taken = {one["id"]: Decimal(one["ts"]) for one in queue if one["ph"] == "f"}
    entry = next(one for one in queue if one["ph"] == "s" and taken[one["id"]] > Decimal(one["ts"]))
    border = (Decimal(entry["ts"]) + taken[entry["id"]]) / 2
    step["dur"] = float(border - Decimal(step["ts"]))
    path.write_text(json.dumps(events))
    assert found(database.parent, "XLR305") == set()
