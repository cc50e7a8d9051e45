"""Every rule meets its own damage, and only its own, on clean files of every kind."""

from __future__ import annotations

from functools import cache

import handmade
import pytest
from slices import few, some

from ascend_conformance.engine.trials import NotBreakable, Trials
from ascend_conformance.media.bin.edits import apply_edits
from ascend_conformance.media.bin.judge import judge_content
from ascend_conformance.media.bin.older import EPOCH, OLDER
from ascend_conformance.media.bin.rules import in_force, load_bin_rules
from ascend_conformance.media.bin.selftest import PRESETS, clean_file, run_bin, run_specimen
from ascend_ref.bin import read_blocks

KIND_MATTERS = {"basic", "loads", "memory", "cores", "between"}
"""Themes whose rules look at different values in vector, cube and mix operators."""


@cache
def some_rules() -> Trials:
    """A tenth of the rules; ``make selftest`` breaks all."""
    return run_bin({"mix": handmade.device_file("mix")}, list(load_bin_rules())[::10])


@cache
def mix_and_simulator() -> Trials:
    files = {"mix": handmade.device_file("mix"), "simulator": handmade.simulator_file()}
    return run_bin(files)


@cache
def other_operators() -> Trials:
    rules = [rule.id for rule in load_bin_rules().values() if rule.theme in KIND_MATTERS]
    files = {kind: handmade.device_file(kind) for kind in ("vector", "cube")}
    return run_bin(files | {name: clean_file(name) for name in ("310P", OLDER)}, rules)


RUNS = (some_rules, mix_and_simulator, other_operators)
each_run = pytest.mark.parametrize("run", some(RUNS, every=len(RUNS)))


@pytest.mark.campaign
@each_run
def test_clean_files_have_no_finding(run):
    assert run().unclean == []


@pytest.mark.campaign
@each_run
def test_each_damage_is_caught_by_its_rule(run):
    assert [f"{trial.subject} {trial.rule}: {trial.fired}" for trial in run().missed] == []


@each_run
def test_no_damage_wakes_another_rule(run):
    false = [f"{one.subject} {one.rule}: {one.false_alarms}" for one in run().false_alarms]
    assert false == []


@pytest.mark.exhaustive
def test_every_rule_in_force_is_broken_by_some_file():
    tried = {one.rule for run in (mix_and_simulator, other_operators) for one in run().mutations}
    broken = {rule.id for rule in load_bin_rules().values() if rule.breaks and in_force(rule, "E3")}
    assert broken <= tried


@pytest.mark.exhaustive
def test_reasons_for_further_rules_are_used():
    """A rule that names others which its damage wakes must really wake them somewhere."""
    fired: dict[str, set[str]] = {}
    for run in (mix_and_simulator, other_operators):
        for trial in (*run().mutations, *run().legal_cases):
            fired.setdefault(trial.rule, set()).update(trial.fired)
    unused = {
        rule.id: set(rule.also) - fired.get(rule.id, set())
        for rule in load_bin_rules().values()
        if in_force(rule, "E3")
    }
    assert {rule: others for rule, others in unused.items() if others} == {}


@pytest.mark.parametrize("subject", few(PRESETS, every=3))
def test_simulated_files_of_every_kind_are_clean(subject):
    report = judge_content(clean_file(subject), subject)
    assert report.findings == ()
    assert report.skipped == ()


def test_the_older_file_departs_from_the_newest_epoch_alone():
    report = judge_content(clean_file(OLDER), OLDER)
    assert report.seen is not None
    assert report.seen.revision == EPOCH
    assert {one.rule for one in report.findings} == {"BIN128"}
    assert report.skipped == ()


def test_the_self_test_passes_on_the_older_file():
    result = run_specimen(OLDER)
    assert len(result.mutations) > 30
    assert result.missed == result.false_alarms == result.unclean == []


def test_no_name_of_a_pointer_but_its_last_may_be_new():
    file = read_blocks(handmade.device_file("vector"), "file")
    apply_edits(file, [{"block": 0x08, "set": "/core_memory_map/0/Cube", "to": 1}])
    with pytest.raises(NotBreakable, match="nothing at"):
        apply_edits(file, [{"block": 0x08, "set": "/core_memory_map/0/Cube/cycle", "to": 1}])


@pytest.mark.campaign
def test_the_self_test_passes_on_a_simulated_vector_operator():
    result = run_specimen("vector")
    assert len(result.mutations) > 90
    assert result.missed == result.false_alarms == result.unclean == []


def test_clean_files_are_seen_as_what_they_are():
    seen = judge_content(handmade.device_file("mix"), "mix").seen
    assert seen is not None
    assert (seen.revision, seen.product) == ("E3", "Ascend910B4")
    assert seen.rows["0x08 memory heat map"] == 1
    assert seen.coverage.missing_tables == ("0x02 timeline",)
