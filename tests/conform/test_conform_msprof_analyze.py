"""What the harness finds of msprof-analyze by itself."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_conform import STAGE

from ascend_conformance.harness.conform import conform
from ascend_conformance.harness.drawing import draw_cases
from ascend_conformance.harness.expected import read_expected
from ascend_conformance.harness.limits import Limits
from ascend_conformance.harness.named import exporter_of
from ascend_conformance.harness.trial import Asked

EXPECTED = Path(__file__).parents[2] / "examples" / "msprof-analyze.expected.yaml"
WAIT = ("kernel_details", "CFM206", "kernel_details.csv: Wait Time(us)")


@pytest.mark.campaign
def test_wait_time_of_export_summary_is_found_and_shrunk() -> None:
    exporter = exporter_of("msprof-analyze", STAGE.name, Limits(), STAGE.reference)
    asked = Asked(frozenset(("kernel_details",)))
    drawn = draw_cases(STAGE, 25, 0)
    # At level 0 profiles have no kernel_details.
    cases = [one for one in drawn if one.output == "pytorch" and one.scenario.capture.level]
    outcome = conform(exporter, STAGE, cases, asked)
    found = {one.failure.signature: one for one in outcome.shown}
    assert found[WAIT].tried.operators <= 2
    listed = read_expected(EXPECTED)
    assert any(one.names(exporter.name, STAGE.name, found[WAIT].failure) for one in listed)
