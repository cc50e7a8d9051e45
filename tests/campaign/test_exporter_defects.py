"""Some defects of exporters in each medium; ``make campaign`` tries them all."""

from __future__ import annotations

import pytest
from run_defects import Case, cases, misses, run, untouched
from slices import some

SOME = (
    Case("task-in-local-time", "db-simulated"),
    Case("connection-ids-off-by-one", "db-simulated"),
    Case("kernel-names-off-by-one", "db-simulated"),
    Case("clock-in-hertz", "db-simulated"),
    Case("kernel-lengths-in-ms", "csv-simulated"),
    Case("collective-wait-and-transit-exchanged", "csv-simulated"),
    Case("hardware-lengths-in-ns", "timeline-simulated"),
)


# Of Ascend910 no task states its cores.
@pytest.mark.campaign
@pytest.mark.parametrize(
    "base", some(sorted({case.base for case in SOME} | {"timeline-910a"}, reverse=True), every=4)
)
def test_untouched_base_has_no_violation(base: str):
    found = untouched(base)
    if found is None:
        pytest.skip("the real files are not there")
    assert found["violation"] == set()


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "case",
    [
        pytest.param(one, marks=pytest.mark.campaign if at % 4 else (), id=str(one))
        for at, one in enumerate(SOME)
    ],
)
def test_defect_is_a_violation(case: Case):
    result = run(case)
    assert result.outcome == "violation", result.rules


def test_misses_name_defects_and_bases():
    """A miss of a defect that was renamed would excuse nothing."""
    known = set(cases())
    assert [case for case in misses() if case not in known] == []
