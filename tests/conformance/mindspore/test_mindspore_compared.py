"""Intermediate files and the raw files near them."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest
from mindspore_files import counts, judged

from ascend_conformance.check import check
from ascend_conformance.damage import damage
from ascend_conformance.media import load_rules
from ascend_conformance.media.mindspore.specimens import Side, write_specimen
from ascend_simulator.run import write_run
from ascend_simulator.scenario import override, preset

Sides = Mapping[Side, Path]


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory) -> Sides:
    """A job of G2."""
    return write_specimen("G2", tmp_path_factory.mktemp("job"))


def test_a_folder_states_its_generation_and_day(sides: Sides) -> None:
    for side in sides.values():
        report = judged(side)
        assert report.findings == ()
        assert report.seen is not None
        assert report.seen.revision == "G2"


def test_files_next_to_a_job_are_compared_with_it(sides: Sides, tmp_path: Path) -> None:
    """They may be of another one, so that a difference is advice."""
    shutil.copytree(sides["raw files"], tmp_path / "JOB1")
    made = shutil.copytree(sides["intermediate files"], tmp_path / "profiler")
    assert judged(made).findings == ()
    path = made / "minddata_pipeline_raw_0.csv"
    path.write_bytes(path.read_bytes().replace(b"BatchOp", b"BatchOq"))
    (found,) = judged(made).findings
    assert (found.rule, found.verdict, found.line) == ("MSP902", "advice", 3)
    assert found.examples[0]["found"] == "BatchOq"


def test_a_second_job_that_explains_them_is_found(sides: Sides, tmp_path: Path) -> None:
    shutil.copytree(sides["raw files"], tmp_path / "JOB2")
    other = shutil.copytree(sides["raw files"], tmp_path / "JOB1")
    pipeline = other / "pipeline_profiling_0.json"
    pipeline.write_bytes(pipeline.read_bytes().replace(b"BatchOp", b"BatchOq"))
    made = shutil.copytree(sides["intermediate files"], tmp_path / "profiler")
    assert judged(made).findings == ()


def test_a_file_by_itself_is_judged(sides: Sides) -> None:
    for name in ("framework_raw_0.csv", "step_trace_raw_0_detail_time.csv"):
        report = judged(sides["intermediate files"] / name)
        assert report.findings == ()
        assert report.rules_run
    (log,) = sides["raw files"].glob("hwts.data.0.slice_0")
    assert counts(judged(log)) == {}


def test_the_folder_data_of_a_job_is_the_job(sides: Sides, tmp_path: Path) -> None:
    data = shutil.copytree(
        sides["raw files"], tmp_path / "JOB1/data", ignore=shutil.ignore_patterns("hccl_info")
    )
    (report,) = check([data]).files
    assert report.seen is not None
    assert report.seen.rows["hwts"] == 1
    assert [one.file for one in check([data.parent]).files] == [str(data.parent)]


def test_what_looks_at_nothing_is_skipped_with_the_reason(sides: Sides) -> None:
    report = judged(sides["raw files"])
    reasons = {one.rule: one.reason for one in report.skipped}
    assert reasons["MSP812"] == "nothing to judge: no row of aicore_intermediate_type"
    assert "MSP201" not in reasons


@pytest.mark.parametrize("rule", ["MSP201", "MSP801", "MSP109"])
def test_a_copy_is_damaged(rule: str, sides: Sides, tmp_path: Path) -> None:
    side: Side = "intermediate files" if rule == "MSP801" else "raw files"
    done = damage(sides[side], load_rules()[rule], tmp_path / "out")
    assert done.changes
    assert {one.rule for one in done.findings} == {rule}


@pytest.mark.parametrize("day", ["2021-03-01", "2021-12-20"])
def test_a_day_that_no_name_shows_is_found_by_what_can_be_read(day: str, tmp_path: Path) -> None:
    """Texts in records have another kind before 2022-05-07; nothing else of the files shows it."""
    scenario = override(preset("recommendation"), ranks=1, steps=1)
    run = write_run(scenario, 0, tmp_path / "run", ("mindspore-raw",), generation=day).folder
    rules = {rule for report in check([run]).files for rule in counts(report)}
    assert rules <= {"LOS401"}
