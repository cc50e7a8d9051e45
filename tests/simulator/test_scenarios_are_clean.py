"""Any scenario that can be drawn, written and judged: the referee has nothing to say."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ascend_conformance.check import check
from ascend_simulator.choices import FaultChoice, Scenario
from ascend_simulator.run import write_run
from ascend_simulator.scenario import override, preset
from ascend_simulator.strategies import scenarios
from ascend_spec import catalog

REVISIONS = [revision.id for revision in catalog().revisions]
NO_END = "DB410"
"""A session without an end is what the fault is."""


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(scenarios(), st.integers(0, 1 << 32), st.sampled_from(REVISIONS))
def test_the_referee_has_nothing_to_say(scenario: Scenario, seed: int, revision: str) -> None:
    formats = ["pytorch-db"] + ["msprof-db"] * scenario.capture.npu
    with tempfile.TemporaryDirectory() as folder:
        run = write_run(scenario, seed, Path(folder) / "run", formats, revision)
        report = check([run.folder])
    allowed = {NO_END} if any(one.kind == "abnormal-end" for one in scenario.faults) else set()
    found = [
        f"{file.file}: {finding.rule} {finding.message}"
        for file in report.files
        for finding in file.findings
        if finding.rule not in allowed
    ]
    assert found == []
    assert not any(file.unreadable for file in report.files)


def test_long_tasks_of_the_ai_cpu_say_nothing_of_the_counters(tmp_path: Path) -> None:
    """They have none: the counters' times are those of the other tasks (DB545)."""
    fault = FaultChoice("ai-cpu-straggler", factor=1_000_000)
    scenario = replace(override(preset("recommendation"), ranks=2, steps=1), faults=(fault,))
    run = write_run(scenario, 0, tmp_path / "run")
    assert check([run.folder]).findings == ()
