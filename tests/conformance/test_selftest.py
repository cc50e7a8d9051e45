"""Every rule meets its own defect, and only its own, at some of the places where it applies.

``make selftest``, which CI runs as well, tries all places.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import replace

import pytest
from slices import some

from ascend_conformance.engine.trials import Trial, Trials
from ascend_conformance.media import SelfTest, load_rules, media
from ascend_conformance.media.bin.selftest import PRESETS
from ascend_conformance.media.db import plan
from ascend_conformance.media.db import selftest as db_selftest
from ascend_conformance.media.db.plan import all_instances, schema_key
from ascend_conformance.media.db.selftest import (
    Batch,
    batches,
    make_specimen,
    open_specimen,
    run_batch,
    try_instance,
)
from ascend_conformance.media.text import selftest as text_selftest
from ascend_conformance.media.text.rules import load_text_rules
from ascend_conformance.media.text.specimens import SUBJECTS, WHOLE
from ascend_ref.cli import main
from ascend_spec import catalog
from ascend_spec.db.model import CARRIERS, Carrier

WORK = batches(CARRIERS)


def with_some_places(work: list[Batch]) -> list[Batch]:
    """Of every tenth rule the last place among all carriers."""
    keys: dict[str, list[tuple[Carrier, str]]] = defaultdict(list)
    for batch in work:
        for key in batch.keys:
            keys[key.partition("@")[0]].append((batch.carrier, key))
    kept = {places[-1] for places in list(keys.values())[::10]}
    return [
        replace(batch, keys=tuple(key for key in batch.keys if (batch.carrier, key) in kept))
        for batch in work
    ]


SOME = with_some_places(WORK)


@pytest.mark.parametrize("carrier", CARRIERS)
def test_only_what_looks_at_changed_tables_is_asked_and_nothing_is_missed(
    carrier: Carrier, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_carrier = [key for batch in WORK if batch.carrier == carrier for key in batch.keys]
    some = Batch(carrier, catalog().revisions[-1].id, tuple(of_carrier[:: len(of_carrier) // 8]))
    asked = run_batch(some)
    assert len(asked.mutations) > 4
    monkeypatch.setattr(db_selftest, "changed_tables", lambda *_: None)
    assert run_batch(some) == asked


@pytest.mark.parametrize(
    "batch",
    some(SOME, every=2),
    ids=[f"{one.carrier}-{one.revision}-{at}" for at, one in enumerate(SOME)],
)
def test_each_mutation_wakes_exactly_its_rule(batch: Batch):
    result = run_batch(batch)
    assert result.unclean == []
    assert [f"{one.words} fired {one.fired}, {one.wrong}" for one in result.missed] == []
    assert [f"{one.words}: {one.false_alarms}" for one in result.false_alarms] == []


def test_every_revision_of_every_carrier_is_in_the_work():
    seen = {(batch.carrier, batch.revision) for batch in WORK}
    assert seen == {
        (carrier, revision.id) for carrier in CARRIERS for revision in catalog().revisions
    }


def test_every_rule_is_in_the_work():
    tried = {key.partition("@")[0] for batch in WORK for key in batch.keys}
    judged = {
        rule.id
        for rule in load_rules().values()
        if rule.medium == "db" and rule.theme != "files" and not rule.search.compares_ranks
    }
    assert judged <= tried


# --- the self-test itself ---

SUBJECT = make_specimen("pytorch", catalog().revisions[-1].id)


def tried(key: str, **changes: object) -> list[Trial]:
    """The trials of one rule at one place, some of its fields being others."""
    clean = open_specimen(SUBJECT)
    instances = all_instances(schema_key(clean.schema))
    (instance,) = [one for one in instances if one.key == key]
    rule = replace(instance.rule, **changes)
    searched = {name: changes[name] for name in ("row", "select") if name in changes}
    return list(try_instance(SUBJECT, clean, replace(instance, rule=rule, **searched)))


def test_the_rows_that_a_break_changes_are_those_that_are_found():
    (trial,) = tried("DB501@TASK.globalTaskId")
    assert trial.wrong is None
    assert trial.caught
    (trial,) = tried("DB501@TASK.globalTaskId", found=2)
    assert trial.wrong == "found 1, first 143 instead of 2"
    assert not trial.caught
    (trial,) = tried("DB501@TASK.globalTaskId", found="SELECT 3 AS row")
    assert trial.wrong == "found 1, first 143 instead of 1, first 3"


def test_a_rule_that_finds_further_rows_is_noticed(monkeypatch: pytest.MonkeyPatch):
    """The boundary HAVING count(*) > 1, one off: every row is a finding, where one is meant."""
    clean = open_specimen(SUBJECT)
    key = schema_key(clean.schema)
    (plain,) = [one for one in all_instances(key) if one.key == "DB501@TASK.globalTaskId"]
    assert plain.select is not None
    wide = replace(plain, select=plain.select.replace("> 1", ">= 1"))
    assert wide != plain
    others = [wide if one is plain else one for one in all_instances(key)]
    monkeypatch.setattr(plan, "all_instances", lambda _: tuple(others))
    # What was selected before would hide the other instances.
    uncached = plan.selected_instances.__wrapped__  # type: ignore[attr-defined]
    monkeypatch.setattr(plan, "selected_instances", uncached)
    (trial,) = try_instance(SUBJECT, clean, wide)
    assert trial.wrong == "found 143, first 1 instead of 1, first 143"


def test_a_legal_case_wakes_nothing_and_changes_something():
    none, found, absent = tried(
        "DB401@TASK.endNs",
        breaks=("UPDATE TASK SET endNs = startNs - 1 WHERE rowid = 3",),
        keeps={
            "as short as a task may be": ("UPDATE TASK SET endNs = startNs WHERE rowid = 3",),
            "of no row": ("UPDATE TASK SET endNs = startNs WHERE rowid = -3",),
        },
    )
    assert (none.legal, none.fired) == ("", ("DB401@TASK.endNs",))
    assert (found.legal, found.not_broken) == ("as short as a task may be", None)
    assert absent.not_broken == "it changes nothing here"
    result = Trials([none, found, absent])
    assert result.never_legal == ["DB401: of no row"]
    assert not result.passed
    (_, broken) = tried(
        "DB401@TASK.endNs", keeps={"too short": ("UPDATE TASK SET endNs = startNs - 1",)}
    )
    assert "DB401@TASK.endNs" in broken.false_alarms


# --- of rules that are named ---

NEWEST = catalog().revisions[-1].id


@pytest.mark.campaign
def test_rules_that_are_named_are_tried_alone(capsys: pytest.CaptureFixture[str]):
    words = ["db401,BIN001", "--self-test", "--revision", NEWEST, "--json"]
    assert main(["rules", *words]) == 0
    found = json.loads(capsys.readouterr().out)
    places = {
        (carrier, instance.key)
        for carrier in CARRIERS
        for instance in all_instances(schema_key(catalog().at(NEWEST, carrier)))
        if instance.rule.id == "DB401"
    }
    assert found["rules"] == 2
    assert found["instances"] == len(places) + len(PRESETS)
    assert found["mutations"] == found["caught"] > 0
    assert found["rules_never_broken"] == 0


def test_a_relation_that_is_named_is_tried_alone():
    result = media()["relation"].self_test(SelfTest(("msprof",), rules=("REL303",)))
    assert result.passed
    assert [(one.rule, one.caught) for one in result.mutations] == [("REL303", True)]
    assert {one.rule for one in result.trials} == {"REL303"}


def test_rules_of_texts_are_tried_on_the_folders_that_they_are_for(
    monkeypatch: pytest.MonkeyPatch,
):
    tried = []

    def run_subject(subject: str, only: Sequence[str], _: Collection[object]) -> Trials:
        tried.append((subject, only))
        return Trials()

    monkeypatch.setattr(text_selftest, "run_subject", run_subject)
    media()["text"].self_test(SelfTest(("text",), rules=("DOC001",)))
    assert tried == [(subject, ["DOC001"]) for subject in WHOLE]


def test_a_rule_is_tried_on_the_folders_of_a_writer_until_it_is_broken(
    monkeypatch: pytest.MonkeyPatch,
):
    tried = []
    broken, whole = list(load_text_rules())[:2]

    def run_subject(subject: str, only: Sequence[str], _: Collection[object]) -> Trials:
        tried.append((subject, only))
        reason = {broken: None, whole: "the folder has not its files"}
        return Trials([Trial(subject, one, not_broken=reason[one]) for one in only])

    monkeypatch.setattr(text_selftest, "run_subject", run_subject)
    monkeypatch.setattr(text_selftest, "_tried_on", lambda _: [broken, whole])
    text_selftest.run_specimens()
    both = {subject for subject, only in tried if only == [broken, whole]}
    assert both == {"python", "cpp", "adapter", "mindspore"}
    assert {tuple(only) for subject, only in tried if subject not in both} == {(whole,)}
    assert {subject for subject, _ in tried} == set(SUBJECTS)


def test_a_query_is_tried_until_it_is_broken_whoever_wrote_the_folder(
    monkeypatch: pytest.MonkeyPatch,
):
    tried = []
    query = next(one.id for one in load_text_rules().values() if one.select)

    def run_subject(subject: str, only: Sequence[str], _: Collection[object]) -> Trials:
        tried.append(subject)
        reason = "the folder has not its files" if subject == "python" else None
        return Trials([Trial(subject, one, not_broken=reason) for one in only])

    monkeypatch.setattr(text_selftest, "run_subject", run_subject)
    monkeypatch.setattr(text_selftest, "_tried_on", lambda _: [query])
    text_selftest.run_specimens()
    assert tried == list(SUBJECTS)[:2]


def test_a_structural_rule_is_tried_at_a_place_of_several_carriers_once():
    key = "DB203@TASK.taskType"
    assert [one.carrier for one in batches(CARRIERS) if key in one.keys] == ["msprof"]
    named = [one.carrier for one in batches(CARRIERS, rules=["DB203"]) if key in one.keys]
    assert named == ["msprof", "pytorch"]
    key = "DB401@TASK.endNs"
    assert [one.carrier for one in batches(CARRIERS) if key in one.keys] == ["msprof", "pytorch"]


def test_a_rule_that_is_named_and_never_broken_is_no_success(
    capsys: pytest.CaptureFixture[str],
):
    """It is the folder next to a database that DB001 is about, and an analysis.db has none here."""
    assert main(["rules", "DB001", "--self-test", "--carrier", "analysis"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[-2:] == ["never broken: DB001: broken on files, not by SQL", "FAILED"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["API018"], "--self-test does not try API018; expected rules for databases"),
        (["DB401", "--carrier", "text"], "--verdict and --carrier leave none of these rules"),
        (["DB4O1"], "unknown rule 'DB4O1'; did you mean "),
    ],
)
def test_what_cannot_be_tried_is_refused(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
):
    assert main(["rules", *words, "--self-test"]) == 2
    assert message in capsys.readouterr().err
