"""Relations on texts by number are judged as on the texts, whatever is known of the numbers."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import apsw
import pytest
from relation_trials import Trial, database_of, opened, simulate
from slices import some

from ascend_conformance.check import check
from ascend_conformance.engine.relations import judge as relations
from ascend_conformance.engine.relations.binding import Unjudged, bind
from ascend_conformance.engine.relations.judge import (
    NOTHING_TO_JUDGE,
    Counted,
    counted_together,
    groups,
)
from ascend_conformance.engine.relations.rule import Relation, load_relations
from ascend_conformance.engine.relations.sql import rows_query
from ascend_conformance.engine.relations.views import View
from ascend_conformance.media.db import relations as in_databases
from ascend_conformance.media.db.judge import resolved_cells
from ascend_conformance.options import Options
from ascend_conformance.ruleset import Selection

STAGES = Options(workers=1, selection=Selection(select=("DB2", "REL", "CSV")))

LAST = "rowid = (SELECT max(rowid) - 3 FROM {0})"
DAMAGES: dict[str, tuple[str, Collection[str]]] = {
    "none": ("SELECT 1", ()),
    "no such text": ("UPDATE TASK SET taskType = 999999999 WHERE " + LAST, ["TASK.taskType"]),
    "no number": ("UPDATE TASK SET taskType = NULL WHERE " + LAST, ["TASK.taskType"]),
    "a fraction": ("UPDATE TASK SET taskType = 1.5 WHERE " + LAST, ["TASK.taskType"]),
    "no such level": ("UPDATE CANN_API SET type = 77 WHERE " + LAST, ["CANN_API.type"]),
    "a text lost": (
        "UPDATE STRING_IDS SET value = NULL "
        "WHERE id = (SELECT max(inputFormats) FROM COMPUTE_TASK_INFO)",
        (),
    ),
    "a level of its own": (
        "INSERT INTO ENUM_API_TYPE VALUES (77, 'mine'); "
        "UPDATE CANN_API SET type = 77 WHERE type = 10000",
        (),
    ),
}
"""What a file may hold instead of a reference, and which cells no longer lead to a row."""

SEEN = frozenset({"TASK.taskType", "COMPUTE_TASK_INFO.opType", "CANN_API.name", "CANN_API.type"})


@pytest.fixture(scope="module")
def profile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return simulate(tmp_path_factory.mktemp("codes"))


@pytest.mark.parametrize("damage", some(DAMAGES, every=9))
def test_what_other_rules_found_out_changes_no_answer(
    profile: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    database = tmp_path / database_of(profile).name
    database.write_bytes(database_of(profile).read_bytes())
    statement, lost = DAMAGES[damage]
    connection = apsw.Connection(str(database))
    for one in statement.split("; "):
        table = one.removeprefix("UPDATE ").split()[0]
        connection.execute(one.format(table))
    connection.close()

    known: list[frozenset[str]] = []
    counted: dict[str, Counted] = {}

    def resolved(*given: Any) -> frozenset[str]:
        known.append(resolved_cells(*given))
        return known[-1]

    def together(some: Sequence[Relation], *given: Any) -> list[Counted]:
        found = counted_together(some, *given)
        counted.update({one.id: numbers for one, numbers in zip(some, found, strict=True)})
        return found

    monkeypatch.setattr(relations, "counted_together", together)
    monkeypatch.setattr("ascend_conformance.media.db.views.ROWS_PER_TEXT", 0)
    answers = []
    for cells in (resolved, lambda *_: frozenset()):
        monkeypatch.setattr(in_databases, "resolved_cells", cells)
        findings = list(map(str, check([database], STAGES).findings))
        answers.append((findings, dict(counted)))
        counted.clear()
    assert answers[0] == answers[1]
    assert len(answers[0][1]) > 40
    assert known[0] & SEEN == SEEN - set(lost)


def test_references_that_no_rule_judged_are_not_known_to_lead_to_a_row(
    profile: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = []
    monkeypatch.setattr(
        in_databases, "resolved_cells", lambda *given: known.append(resolved_cells(*given)) or ()
    )
    for select in (("REL",), ("DB208", "REL"), ("DB201", "DB202", "REL")):
        check([database_of(profile)], Options(workers=1, selection=Selection(select=select)))
    assert not any(known)


def test_a_condition_that_no_text_meets_leaves_nothing_to_judge(
    profile: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether or not other relations are counted in the same scan."""
    database = tmp_path / database_of(profile).name
    database.write_bytes(database_of(profile).read_bytes())
    connection = apsw.Connection(str(database))
    connection.execute("UPDATE STRING_IDS SET value = 'X' || id WHERE value LIKE 'EVENT_RECORD%'")
    connection.close()
    monkeypatch.setattr("ascend_conformance.media.db.views.ROWS_PER_TEXT", 0)
    for select in (("REL105",), ("REL103", "REL105", "REL112")):
        [report] = check([database], Options(workers=1, selection=Selection(select=select))).files
        skipped = {one.rule: one.reason for one in report.skipped}
        assert skipped == {"REL105": NOTHING_TO_JUDGE}
        assert report.rules_run == len(select) - 1


def test_joins_by_a_key_are_counted_in_the_scan_of_the_rows_that_they_extend(
    profile: Path,
) -> None:
    with opened(profile, "database") as trial:
        shared = groups([load_relations()[one] for one in ("REL102", "REL108")], trial.shown)
        assert [len(some) for some in shared] == [2]
        # The events among the tasks are few, and their calls are not looked up for all tasks.
        apart = groups([load_relations()[one] for one in ("REL105", "REL312")], trial.shown)
        assert [len(some) for some in apart] == [1, 1]
        for some in (shared[0], *apart):
            for relation, counted in zip(some, counted_together(some, trial.shown), strict=True):
                query = rows_query(relation, bound(relation, trial), "sqlite")
                plain = f"SELECT count(*), count(*) FILTER (WHERE bad) FROM ({query})"
                assert [(counted.population, counted.count)] == list(trial.shown.rows(plain))


def bound(relation: Relation, trial: Trial) -> Mapping[str, View]:
    found = bind(relation, trial.shown.views())
    assert not isinstance(found, Unjudged)
    return found
