"""Verdicts on the raw files of real runs, and on what parsers of their time made of them."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest
from mindspore_files import REAL, counts, judged

from ascend_conformance.check import check

pytestmark = pytest.mark.skipif(not REAL.is_dir(), reason="needs ../shared/data/mindspore")

FOUND: Mapping[str, Mapping[str, int]] = {
    "mindinsight/JOB1": {"MSP305": 40},
    "mindinsight/JOB2": {},
    "mindinsight/JOB3": {"MSP204": 1, "MSP205": 5},
    "mindinsight/JOB4": {},
    "mindinsight/JOB_AICPU": {},
    "mindinsight/JOB_AICPU/expect": {},
    "mindinsight/profiler": {},
    "mindinsight/run_1/normal_run/profiler": {},
    "mindspore/JOB_AICPU": {},
    "mindspore/JOB_AICPU/expect": {},
}
"""By folder what is found (mindspore-profiler 7): the oddities of real captures, no violation."""

GENERATIONS = {"mindspore/JOB_AICPU": "G3", "mindspore/JOB_AICPU/expect": "G2"}
"""Of the others it is G1."""


def test_every_real_folder_has_the_verdict_of_the_notes() -> None:
    reports = check([REAL]).files
    base = f"{REAL}/"
    assert {one.file.removeprefix(base): counts(one) for one in reports} == FOUND
    verdicts = {one.verdict for report in reports for one in report.findings}
    assert verdicts == {"advice", "note"}
    for one in reports:
        assert one.seen is not None
        assert one.seen.revision == GENERATIONS.get(one.file.removeprefix(base), "G1")
        assert one.unreadable is None


def test_golden_files_are_what_is_made_of_the_raw_ones(tmp_path: Path) -> None:
    """All files of JOB3 on the day that explains them, which none of the raw files shows."""
    job = tmp_path / "JOB3"
    shutil.copytree(REAL / "mindinsight/JOB3", job)
    shutil.copytree(REAL / "mindinsight/run_1/normal_run/profiler", job / "profiler")
    reports = {Path(one.file).name: one for one in check([job]).files}
    report = reports["profiler"]
    assert report.findings == ()
    assert report.seen is not None
    assert any("intermediate files are what" in one for one in report.seen.reasons)
    skipped = {one.place for one in report.skipped if "raw" in one.reason}
    assert "output_op_compute_time_1.txt" not in skipped


def test_a_golden_file_that_was_changed_is_stated_with_both_values(tmp_path: Path) -> None:
    job = tmp_path / "JOB2"
    shutil.copytree(REAL / "mindinsight/JOB2", job)
    text = (REAL / "mindinsight/profiler/minddata_pipeline_raw_0.csv").read_bytes()
    (job / "minddata_pipeline_raw_0.csv").write_bytes(text)
    assert judged(job).findings == ()
    lines = text.split(b"\n")
    lines[2] = lines[2].replace(b"0.", b"0.9", 1)
    (job / "minddata_pipeline_raw_0.csv").write_bytes(b"\n".join(lines))
    (found,) = (one for one in judged(job).findings if one.rule == "MSP901")
    assert (found.line, found.verdict) == (3, "violation")
    assert found.examples[0]["found"] != found.examples[0]["wanted"]
