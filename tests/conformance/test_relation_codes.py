"""Relations on texts by number are judged as on the texts, whatever is known of the numbers."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import apsw
import pytest
from relation_trials import database_of, simulate

from ascend_conformance.check import check
from ascend_conformance.engine.relations import judge as relations
from ascend_conformance.engine.relations.judge import Counted
from ascend_conformance.engine.relations.rule import Relation
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


@pytest.mark.parametrize("damage", DAMAGES)
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

    counted_together = relations.counted_together
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
