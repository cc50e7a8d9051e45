"""What is simulated, and what parsers make of it, passes the check, on any day."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ascend_conformance.check import check
from ascend_ref.mindspore.parse.parse import parse
from ascend_simulator.run import write_run
from ascend_simulator.scenario import override, preset

PRESETS = [
    *("cnn-910a", "inference-310p", "edge-310b", "data-bound", "single-op", "dense-8"),
    *("reduction-bound", "950-dense", "moe-8"),
]
DAYS = [
    *("2020-07-01", "2020-11-11", "2021-03-01", "2021-06-20", "2021-12-16", "2021-12-20"),
    *("2022-03-01", "2022-07-10", "2022-10-15", "2023-03-05", "2023-07-02"),
    *("2023-08-01", "2023-10-15", "2023-12-20", "2024-03-01", "2025-06-02"),
]


jobs = given(
    name=st.sampled_from(PRESETS),
    day=st.sampled_from(DAYS),
    seed=st.integers(0, 1000),
    steps=st.integers(1, 3),
    form=st.sampled_from(["mindspore-raw", "mindspore-raw", "mindspore-gpu"]),
)


@pytest.mark.exhaustive
@settings(max_examples=2)
@jobs
def test_m50_a_simulated_job_and_its_intermediate_files_are_clean(
    tmp_path_factory: pytest.TempPathFactory,
    name: str,
    day: str,
    seed: int,
    steps: int,
    form: str,
) -> None:
    require_clean(tmp_path_factory.mktemp("job"), name, day, seed, steps, form)


@pytest.mark.campaign
@settings(max_examples=3)
@jobs
def test_m50_many_simulated_jobs_and_their_intermediate_files_are_clean(
    tmp_path_factory: pytest.TempPathFactory,
    name: str,
    day: str,
    seed: int,
    steps: int,
    form: str,
) -> None:
    require_clean(tmp_path_factory.mktemp("job"), name, day, seed, steps, form)


def require_clean(folder: Path, name: str, day: str, seed: int, steps: int, form: str) -> None:
    if form == "mindspore-gpu":
        day = max(day, "2020-11-11")
    scenario = override(preset(name), ranks=None, steps=steps, level=None)
    write_run(scenario, seed, folder / "raw", [form], generation=day)
    parse(folder / "raw", folder / "parsed", day)
    report = check([folder / "raw", folder / "parsed"])
    # Work of parallel planes overlaps on the one thread of a stream.
    assert {one.rule for one in report.findings if one.erratum != "T100"} == set()
    assert [one.file for one in report.files if one.unreadable] == []
