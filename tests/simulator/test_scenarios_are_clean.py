"""Any scenario that can be drawn, written and judged: the referee names its faults alone."""

from __future__ import annotations

import sqlite3
import tempfile
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ascend_conformance.check import check
from ascend_simulator.choices import FaultChoice, Scenario
from ascend_simulator.run import write_run
from ascend_simulator.scenario import override, parse, preset
from ascend_simulator.strategies import scenarios
from ascend_spec import catalog

REVISIONS = [revision.id for revision in catalog().revisions]
FOUND = {
    "abnormal-end": {"DB410"},
    "lost-samples": {"REL705", "LOS104", "LOS105", "LOS106"},
}
"""What these faults do is what the referee finds."""

ANY = (scenarios(), st.integers(0, 1 << 32), st.sampled_from(REVISIONS))
PATIENT = settings(deadline=None, suppress_health_check=list(HealthCheck))


@pytest.mark.exhaustive
@settings(PATIENT, max_examples=3)
@given(*ANY)
def test_the_referee_names_nothing_but_faults(scenario: Scenario, seed: int, revision: str) -> None:
    judge(scenario, seed, revision)


@pytest.mark.campaign
@settings(PATIENT, max_examples=25)
@given(*ANY)
def test_nor_about_many_more(scenario: Scenario, seed: int, revision: str) -> None:
    judge(scenario, seed, revision)


def judge(scenario: Scenario, seed: int, revision: str) -> None:
    formats = ["pytorch-db"] + ["msprof-db"] * scenario.capture.npu
    with tempfile.TemporaryDirectory() as folder:
        run = write_run(scenario, seed, Path(folder) / "run", formats, revision)
        report = check([run.folder])
    allowed = {rule for fault in scenario.faults for rule in FOUND.get(fault.kind, ())}
    found = [
        f"{file.file}: {finding.rule} {finding.message}"
        for file in report.files
        for finding in file.findings
        if finding.rule not in allowed
    ]
    assert found == []
    assert not any(file.unreadable for file in report.files)


UNEVEN = """
model: {layers: 3, hidden: 64, heads: 2, sequence: 64, vocabulary: 128, microbatches: 2}
parallelism: {ranks: 2, pipeline: 2}
schedule: {warmup: 0, active: 1}
"""


def test_the_first_stages_have_the_layers_that_are_left_over(tmp_path: Path) -> None:
    """3 layers in 2 stages: rank 0 runs two layers, rank 1 one, each once per micro-batch."""
    run = write_run(parse(UNEVEN), 0, tmp_path / "run")
    assert check([run.folder]).findings == ()
    calls = "SELECT count(*) FROM PYTORCH_API JOIN STRING_IDS ON PYTORCH_API.name = STRING_IDS.id "
    found = []
    for database in sorted(run.folder.rglob("ascend_pytorch_profiler_?.db")):
        with closing(sqlite3.connect(database)) as connection:
            query = f"{calls} WHERE value = 'npu::npu_fusion_attention'"
            found.append((database.name[-4], *connection.execute(query).fetchone()))
    assert found == [("0", 4), ("1", 2)]


def test_long_tasks_of_the_ai_cpu_say_nothing_of_the_counters(tmp_path: Path) -> None:
    """They have none: the counters' times are those of the other tasks (DB545)."""
    fault = FaultChoice("ai-cpu-straggler", factor=1_000_000)
    scenario = replace(override(preset("recommendation"), ranks=2, steps=1), faults=(fault,))
    run = write_run(scenario, 0, tmp_path / "run")
    assert check([run.folder]).findings == ()
