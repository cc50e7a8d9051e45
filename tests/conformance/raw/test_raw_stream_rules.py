"""Rules on raw record streams: what they name exists, and each wakes for its own break alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from slices import few, marked

from ascend_conformance.check import judge_file
from ascend_conformance.discover import discover
from ascend_conformance.engine.file_rules import query_of
from ascend_conformance.media import load_rules
from ascend_conformance.media.raw.facts import fact_tables, open_facts
from ascend_conformance.media.raw.judge import judge_raw
from ascend_conformance.media.raw.rules import TEXT, RawRule, load_raw_rules
from ascend_conformance.media.raw.selftest import run_specimen, run_specimens
from ascend_conformance.options import Options
from ascend_conformance.pages import rule_page
from ascend_simulator.run import write_run
from ascend_simulator.scenario import override, preset
from ascend_spec import catalog

RULES = list(load_raw_rules().values())
each_rule = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
CLEAN = ("single-op", "text-museum", "950-dense")
MORE = (
    *("edge-310b", "data-bound", "observed-everything", "inference-310p", "recommendation"),
    *("llm-inference", "cnn-910a", "cnn-910b", "host-bound", "ai-cpu-bound"),
)


def test_names_are_those_of_no_other_rule() -> None:
    names = [one.name for one in load_rules().values()]
    assert len(set(names)) == len(names)
    assert load_raw_rules().items() <= load_rules().items()


@each_rule
def test_what_a_rule_names_exists(rule: RawRule) -> None:
    assert {rule.search.table, *rule.search.needs} <= fact_tables().keys()
    assert {one.split(" ", 1)[0] for one in rule.source} <= catalog().documents.sources.keys()
    assert rule.also.keys() <= load_raw_rules().keys()
    with open_facts() as facts:
        assert facts.rows(f"SELECT row FROM ({query_of(facts, rule)}) WHERE row IS NOT NULL") == []
        if rule.search.victim:
            facts.rows(rule.search.victim)


@each_rule
def test_a_rule_has_a_break_a_nearest_legal_case_and_a_page(rule: RawRule) -> None:
    assert rule.breaks
    assert rule.keeps
    text = rule_page(rule)
    for part in (rule.id, rule.name, "## Why", "## Fix", "## How the self-test breaks it"):
        assert part in text


@pytest.mark.exhaustive
def test_g146_g150_each_rule_meets_its_own_break_and_no_other() -> None:
    """Some of the rules; all of them below."""
    some = [one.id for one in RULES if one.theme != TEXT][::4]
    trials = run_specimen("graphs", some)
    assert trials.unclean == []
    assert [(one.words, one.fired, one.wrong) for one in trials.missed] == []
    assert [(one.words, one.fired) for one in trials.false_alarms] == []
    assert {one.rule for one in trials.mutations} == set(some)


@pytest.mark.campaign
def test_every_rule_meets_its_own_break_in_every_specimen() -> None:
    trials = run_specimens()
    assert trials.passed
    assert {one.rule for one in trials.mutations} == {one.id for one in RULES}


def raw_folders(name: str, seed: int, folder: Path, level: int | None = None) -> list[Path]:
    """The captures of a small simulated run."""
    found = preset(name)
    changes = {} if level is None else {"level": level}
    scenario = override(found, ranks=min(found.parallelism.ranks, 2), steps=2, **changes)
    run = write_run(scenario, seed, folder / "run", ("raw",)).folder
    return sorted(run.rglob("PROF_*"))


@pytest.mark.parametrize("name", few(CLEAN, every=3))
def test_simulated_captures_break_no_rule(name: str, tmp_path: Path) -> None:
    for path in raw_folders(name, 5, tmp_path):
        report = judge_raw(path)
        assert [one.rule for one in report.findings] == []
        assert report.rules_run >= 29
        assert report.unreadable is None


@pytest.mark.campaign
@pytest.mark.parametrize("seed", [0, *(marked(one, pytest.mark.campaign) for one in (1, 2, 3))])
@pytest.mark.parametrize("level", [1, *(marked(one, pytest.mark.campaign) for one in (0, 2))])
@pytest.mark.parametrize("name", [*CLEAN, *MORE])
def test_many_simulated_captures_break_no_rule(
    name: str, level: int, seed: int, tmp_path: Path
) -> None:
    for path in raw_folders(name, seed, tmp_path, level):
        assert [one.rule for one in judge_raw(path).findings] == []


def test_what_has_no_records_is_skipped_with_its_reason(tmp_path: Path) -> None:
    (path,) = raw_folders("single-op", 1, tmp_path)
    reasons = {one.rule: one.reason for one in judge_raw(path).skipped}
    assert reasons["RAW701"] == "nothing to judge: no row of step"
    assert "RAW301" not in reasons


def test_a_folder_of_raw_files_is_judged_by_this_medium(tmp_path: Path) -> None:
    (path,) = raw_folders("single-op", 1, tmp_path)
    found = {one.medium: one for one in discover(tmp_path)}
    assert found["raw"].path == path
    report, _ = judge_file(Options(), found["raw"])
    assert report.findings == ()
