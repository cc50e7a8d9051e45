"""Every statement of seed-003 has a test or an erratum; those about the whole are tested here."""

from __future__ import annotations

import csv
import sys
from collections.abc import Mapping
from pathlib import Path

from ascend_simulator import write_run
from ascend_simulator.scenario import override, preset
from ascend_spec import ge_catalog

sys.path.append(str(Path(__file__).parents[2] / "docs"))
from statements import numbered_tests, statements, statements_page


def test_the_checklist_has_168_statements_and_tests_name_no_other() -> None:
    numbers = [one.number for one in statements("003")]
    assert numbers == [f"G{number}" for number in range(1, 169)]
    assert {one for one in numbered_tests() if one[0] == "G"} <= set(numbers)


def test_every_statement_has_a_test_or_an_erratum_or_a_note() -> None:
    tests = numbered_tests()
    open_ones = [
        one.number
        for one in statements("003")
        if one.number not in tests and not one.errata and not one.note
    ]
    assert open_ones == []


def test_errata_of_statements_are_there() -> None:
    cited = {erratum for one in statements("003") for erratum in one.errata}
    assert cited <= ge_catalog().errata.keys()


def test_the_page_has_each_statement_with_its_tests() -> None:
    page = statements_page("003", "Statements")
    lines = {line.split(" | ")[0].removeprefix("| "): line for line in page.splitlines()}
    for one in statements("003"):
        assert one.text in lines[one.number]
        for _, name in numbered_tests().get(one.number, ()):
            assert f"`{name}`" in lines[one.number]


def test_a_range_in_the_name_of_a_test_stands_for_its_numbers() -> None:
    (path, name) = next(one for one in numbered_tests()["G60"] if "g52_to_g73" in one[1])
    assert path.parts[:2] == ("tests", "ge")
    assert all((path, name) in numbered_tests()[f"G{number}"] for number in range(52, 74))
    assert (path, name) not in numbered_tests().get("G51", ())


def test_g168_a_run_answers_the_scenarios_of_the_first_chapter(tmp_path: Path) -> None:
    """Training: both passes, sums of gradients, idle time. Inference: times of operators. Memory:
    how long it is held. Calls: how long they take.
    """
    run = override(preset("text-museum"), ranks=1, steps=None, level=None)
    files = {
        path.name.rpartition("_")[0]: list(csv.DictReader(path.read_text("utf-8").splitlines()))
        for profile in write_run(run, 0, tmp_path / "run", ("csv",)).profiles
        for path in profile.rglob("*.csv")
    }
    first, second = files["step_trace"][:2]
    parts = ("FP to BP Time(us)", "Iteration Refresh(us)")
    assert all(_number(first, part) > 0 for part in parts)
    assert first["Data Aug Bound(us)"] == "N/A"
    assert _number(second, "Data Aug Bound(us)") > 0
    assert all(_number(row, "Task Duration(us)") > 0 for row in files["op_summary"])
    held = files["static_op_mem"]
    assert all(_number(row, "Node Index End") >= _number(row, "Node Index Start") for row in held)
    calls = {row["API Name"]: _number(row, "Avg(us)") for row in files["api_statistic"]}
    assert calls["ModelExecute"] > 0


def _number(row: Mapping[str, str], column: str) -> float:
    return float(row[column])
