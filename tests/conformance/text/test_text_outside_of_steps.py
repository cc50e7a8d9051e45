"""Folders whose operators of communication run outside of the steps, as torch_npu writes them.

``_communication_parser.py`` sorts operators into steps by their start. One step takes all of them,
and of several none takes those outside.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from slices import some
from text_folders import Table, copied, judged, rewritten

from ascend_conformance.options import Options
from ascend_conformance.ruleset import Selection
from ascend_simulator import write_run
from ascend_simulator.scenario import override, preset

DOCUMENTS = ("communication.json", "communication_matrix.json")
RULES = tuple(f"XLR{number}" for number in (405, 406, 407, 408, 409, 415, 416))


def profile(target: Path, steps: int, *formats: str) -> Path:
    scenario = override(preset("cnn-910b"), steps=steps)
    scenario = replace(scenario, parallelism=replace(scenario.parallelism, ranks=2))
    write_run(scenario, 0, target, formats)
    return min(target.rglob("trace_view.json")).parent


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return profile(tmp_path_factory.mktemp("steps") / "run", 3, "pytorch-text")


@pytest.fixture(scope="module")
def analysed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("analysed") / "run"
    return profile(target, 1, "pytorch-db", "pytorch-text")


@pytest.fixture
def output(simulated: Path, tmp_path: Path) -> Path:
    target = tmp_path / "output"
    target.mkdir()
    for name in ("trace_view.json", *DOCUMENTS):
        shutil.copyfile(simulated / name, target / name)
    return target


def found(output: Path, rules: Sequence[str] = RULES) -> set[str]:
    reports = judged(output, Options(selection=Selection(select=tuple(rules)), workers=1))
    return {one.rule for report in reports for one in report.findings}


def leave_out(output: Path, *steps: str) -> None:
    """The documents without some steps."""
    for name in DOCUMENTS:
        document = json.loads((output / name).read_bytes())
        kept = {step: one for step, one in document.items() if step not in steps}
        (output / name).write_text(json.dumps(kept))


@pytest.mark.exhaustive
def test_operators_outside_of_several_steps_stand_in_no_document(output: Path) -> None:
    leave_out(output, "step3")
    assert found(output) == {"XLR405", "XLR406", "XLR407", "XLR408", "XLR409"}
    events: list[Any] = json.loads((output / "trace_view.json").read_bytes())
    inside = [one for one in events if one["name"] != "ProfilerStep#3"]
    (output / "trace_view.json").write_text(json.dumps(inside))
    assert found(output) == set()


def test_the_matrix_holds_all_where_no_step_has_any(output: Path) -> None:
    (output / "trace_view.json").unlink()
    operators, matrix = (json.loads((output / name).read_bytes()) for name in DOCUMENTS)
    lost = {"step": matrix["step1"]}
    (output / DOCUMENTS[1]).write_text(json.dumps(lost))
    assert found(output, ["XLR416"]) == {"XLR416"}
    empty = {step: {"p2p": {}, "collective": {}} for step in operators}
    (output / DOCUMENTS[0]).write_text(json.dumps(empty))
    assert found(output, ["XLR416"]) == set()


@pytest.mark.parametrize(("step", "rules"), [("", set()), ("51", {"XLR415"})])
def test_the_only_step_takes_operators_outside(step: str, rules: set[str], tmp_path: Path) -> None:
    """In kernel_details.csv of ``_kernel_view_parser.py`` they are in none."""

    def moved(table: Table) -> None:
        name, place = (table[0].index(column) for column in ("Name", "Step Id"))
        next(row for row in table if row[name].startswith("hcom_"))[place] = step

    output = copied(tmp_path, "kernel_details.csv", "communication.json")
    rewritten(output / "kernel_details.csv", moved)
    assert found(output, ["XLR415"]) == rules


@pytest.mark.exhaustive
@pytest.mark.parametrize(("steps", "rules"), [(1, set()), (2, {"XLR401", "XLR403"})])
def test_the_database_leaves_operators_outside_of_the_only_step_out(
    steps: int, rules: set[str], tmp_path: Path
) -> None:
    """``_communication_db_parser.py`` does."""
    output = profile(tmp_path / "run", steps, "pytorch-db", "pytorch-text")
    path = output / "analysis.db"
    with closing(sqlite3.connect(path)) as rows:
        ((name,),) = rows.execute("SELECT min(hccl_op_name) FROM CommAnalyzerTime")
        for table in ("Time", "Bandwidth"):
            rows.execute(f"DELETE FROM CommAnalyzer{table} WHERE hccl_op_name = ?", (name,))
        rows.execute("DELETE FROM CommAnalyzerMatrix WHERE hccl_op_name GLOB '*-bottom3'")
        rows.execute("UPDATE CommAnalyzerMatrix SET op_name = '' WHERE op_name = ?", (name,))
        rows.commit()
    found_here = found(output, ["XLR401", "XLR403", "XLR404"])
    assert found_here == (rules | {"XLR404"} if rules else set())


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("table", "rules"),
    some(
        [
            ("Time", {"XLR401", "XLR404"}),
            ("Bandwidth", {"XLR401", "XLR402", "XLR403"}),
            ("Matrix", {"XLR404"}),
        ],
        every=2,
    ),
)
def test_what_conditions_look_into_is_stated_where_it_is_absent(
    analysed: Path, table: str, rules: set[str], tmp_path: Path
) -> None:
    output = tmp_path / "output"
    shutil.copytree(analysed, output)
    with closing(sqlite3.connect(output / "analysis.db")) as rows:
        rows.execute(f"DROP TABLE CommAnalyzer{table}")
        rows.commit()
    asked = ("XLR401", "XLR402", "XLR403", "XLR404")
    reports = judged(output, Options(selection=Selection(select=asked), workers=1))
    reasons = {one.rule: one.reason for report in reports for one in report.skipped}
    assert reasons == dict.fromkeys(rules, f"nothing here shows db.CommAnalyzer{table}")
    assert not any(report.findings for report in reports)
