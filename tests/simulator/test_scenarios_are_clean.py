"""Any scenario that can be drawn, written and judged: the referee has nothing to say."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ascend_conformance.check import check
from ascend_simulator.run import write_run
from ascend_simulator.scenario.model import Scenario
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
        f"{file.path}: {finding.rule} {finding.place}"
        for file in report.files
        for finding in file.findings
        if finding.rule not in allowed
    ]
    assert found == []
    assert not any(file.unreadable for file in report.files)
