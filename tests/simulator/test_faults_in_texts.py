"""Every kind of fault in every form of a profile: the referee finds what it is, and no more."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest
from faults_by_hand import scenario_of

from ascend_conformance.check import check
from ascend_simulator.choices import LOSSES, FaultChoice, FaultKind, Schedule
from ascend_simulator.run import write_run

FORMATS = ("pytorch-db", "pytorch-text", "csv", "timeline")
STATED = {"slow-link": FaultChoice("slow-link", link=(0, 1))}
"""Faults with values of their own: a link has two ends."""
NO_END = {"DB410", "DOC002"}
"""A session without an end is what this fault is."""
LOST_SAMPLES = {"REL705"}
"""A sampler that stops for a while loses samples, and the referee says so."""
DURING = tuple(
    STATED.get(kind, FaultChoice(kind))
    for kind in get_args(FaultKind)
    if kind not in ("abnormal-end", *LOSSES)
)


@pytest.mark.parametrize(
    ("ranks", "faults", "allowed"),
    [
        pytest.param(2, DURING, LOST_SAMPLES, marks=pytest.mark.campaign),
        pytest.param(1, (FaultChoice("abnormal-end"),), NO_END, marks=pytest.mark.exhaustive),
    ],
    ids=["during the run", "at its end"],
)
def test_no_fault_contradicts_itself(
    ranks: int, faults: tuple[FaultChoice, ...], allowed: set[str], tmp_path: Path
) -> None:
    scenario = replace(scenario_of(ranks, 1), schedule=Schedule(active=2), faults=faults)
    run = write_run(scenario, 0, tmp_path / "run", FORMATS)
    report = check([run.folder])
    assert {one.rule for one in report.findings} == allowed
    assert not any(file.unreadable for file in report.files)
    kinds = {file.seen.carrier for file in report.files if file.seen}
    assert kinds == {"pytorch", "analysis", "text deliverables"}
