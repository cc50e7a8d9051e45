"""Runs with one cause of slowness: proposers name it on the simulated capture, and no other."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from mindspore_jobs import TRAINING, jobs, with_faults
from slices import some

from ascend_ref.cli import main
from ascend_ref.mindspore.analyse.files import Folder
from ascend_ref.mindspore.propose.compose import Composed, compose
from ascend_ref.mindspore.propose.proposers import OWN, PROPOSERS
from ascend_simulator.choices import FaultChoice, Scenario
from ascend_simulator.scenario import preset
from ascend_spec import mindspore_catalog

EVERY = (*PROPOSERS, *OWN)

DATA = {"long_interval", "empty_queue", "slow_operators"}
"""What the viewer says where the data come too late, besides the operator that is slow."""

CAUSES = {
    "data-bound": {*DATA, "slow_maps"},
    "reduction-bound": {"late_reductions"},
    "ai-cpu-bound": {"slow_ai_cpus"},
    "host-bound": {"slow_launches"},
}


def composed(folder: Path, scenario: Scenario, day: str) -> Composed:
    job, *_ = jobs(folder, scenario, day)
    return compose(Folder(job.folder, job.device), EVERY)


def advice(found: Composed) -> set[str]:
    return {one.rule.proposal for one in found.advice}


@pytest.mark.parametrize("day", some(["G1", "G2", "G3"], every=3))
@pytest.mark.parametrize("name", CAUSES)
def test_m83_the_cause_of_a_run_is_named_and_no_other(name: str, day: str, tmp_path: Path) -> None:
    found = composed(tmp_path, preset(name), day)
    assert advice(found) == CAUSES[name]
    assert not [key for key in found.as_viewed() if key.startswith(("own-", *OWN))]


@pytest.mark.parametrize("name", ["data-bound", "reduction-bound", "ai-cpu-bound"])
def test_m84_the_same_runs_without_their_fault_give_no_advice(name: str, tmp_path: Path) -> None:
    assert advice(composed(tmp_path, replace(preset(name), faults=()), "G3")) == set()


def test_m84_what_serves_at_full_speed_gives_no_advice(tmp_path: Path) -> None:
    found = composed(tmp_path, replace(preset("inference-310p")), "G3")
    assert advice(found) == set()
    assert {"long_interval", "slow_operators"}.isdisjoint(found.hidden)


STALL = FaultChoice("data-loading-stall", milliseconds=30)
SLOW_HOST = FaultChoice("host-bound-launch", factor=4000)
HOLDS: dict[str, tuple[Scenario, Scenario]] = {
    **{
        rule: (
            with_faults(TRAINING, replace(STALL, loader=loader)),  # type: ignore[arg-type]
            with_faults(TRAINING, replace(STALL, loader=other)),  # type: ignore[arg-type]
        )
        for rule, loader, other in (
            ("slow_sources", "source", "map"),
            ("slow_generators", "generator", "batch"),
            ("slow_maps", "map", "generator"),
            ("slow_batches", "batch", "source"),
        )
    },
    "slow_operators": (with_faults(TRAINING, STALL), TRAINING),
    "empty_queue": (with_faults(TRAINING, STALL), TRAINING),
    "busy_cpus": (with_faults(TRAINING, STALL, SLOW_HOST), with_faults(TRAINING, STALL)),
    "long_interval": (with_faults(TRAINING, STALL), preset("inference-310p")),
    "late_reductions": (
        preset("reduction-bound"),
        replace(preset("reduction-bound"), faults=()),
    ),
    "slow_ai_cpus": (preset("ai-cpu-bound"), replace(preset("ai-cpu-bound"), faults=())),
    "slow_launches": (preset("host-bound"), preset("ai-cpu-bound")),
}
"""By rule a run in which it holds, and one in which it does not."""


@pytest.mark.parametrize("rule", some(HOLDS, every=12))
def test_m83_each_rule_holds_in_one_simulated_run_and_not_in_another(
    rule: str, tmp_path: Path
) -> None:
    holding, other = HOLDS[rule]
    assert rule in advice(composed(tmp_path / "holding", holding, "G3"))
    found = composed(tmp_path / "other", other, "G3")
    assert rule not in {*advice(found), *found.hidden}


def test_m83_every_rule_has_its_runs() -> None:
    rules = mindspore_catalog().proposals.values()
    # Those of several ranks have theirs in test_mindspore_job_ranks; msadvisor has its own.
    others = ("parallel", "msadvisor")
    own = {one.proposal for one in rules if one.kind == "advice" and one.proposer not in others}
    assert set(HOLDS) == own


def test_own_rules_are_asked_by_name_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    job, *_ = jobs(tmp_path, preset("ai-cpu-bound"), "G3")
    assert main(["mindspore", "propose", str(job.folder)]) == 0
    assert "slow_ai_cpus" not in capsys.readouterr().out
    assert main(["mindspore", "propose", str(job.folder), "--types", "aicpu,launch"]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("slow_ai_cpus: Kernels of AI CPUs take ")
    assert main(["mindspore", "propose", str(job.folder), "--types", "aicpus"]) == 2
    assert "unknown proposer 'aicpus'; did you mean aicpu" in capsys.readouterr().err
    assert all(one.own == (one.proposer in OWN) for one in mindspore_catalog().proposals.values())
