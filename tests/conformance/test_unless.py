"""A rule that cannot be judged on the rows of a database is skipped, and states why."""

from __future__ import annotations

from contextlib import closing

import pytest

from ascend_conformance.media.db.judge import judge
from ascend_conformance.media.db.selftest import make_specimen, open_specimen
from ascend_conformance.ruleset import Selection
from ascend_spec import catalog
from ascend_spec.db.model import Carrier

SECOND_DEVICE = "UPDATE {0} SET deviceId = deviceId + 1 WHERE rowid = (SELECT max(rowid) FROM {0})"
STEPS = (
    "WITH RECURSIVE n(i) AS (VALUES (1000) UNION ALL SELECT i + 1 FROM n LIMIT {}) "
    "INSERT INTO profiler.STEP_TIME (id, startNs, endNs) SELECT i, i, i FROM n"
)
TASKS = (
    "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n LIMIT 20000) "
    "INSERT INTO profiler.TASK (startNs, endNs, deviceId) SELECT i, i, "
    "(SELECT min(deviceId) FROM profiler.TASK) FROM n"
)


@pytest.mark.parametrize(
    ("rule", "carrier", "changes", "reason"),
    [
        ("DB951", "analysis", [], None),
        (
            "DB951",
            "analysis",
            [SECOND_DEVICE.format("profiler.TASK")],
            "the tasks are of several devices",
        ),
        (
            "DB951",
            "analysis",
            [TASKS, STEPS.format(10_000)],
            "there are more than 200,000,000 tasks x steps",
        ),
        ("DB622", "pytorch", [], None),
        ("DB622", "pytorch", [SECOND_DEVICE.format("TASK")], "the tasks are of several devices"),
        ("DB805", "pytorch", [], None),
        (
            "DB805",
            "pytorch",
            [SECOND_DEVICE.format("MEMORY_RECORD")],
            "the records are of several devices",
        ),
    ],
)
def test_what_cannot_be_judged_is_skipped_with_the_reason(
    rule: str, carrier: Carrier, changes: list[str], reason: str | None
) -> None:
    session = open_specimen(make_specimen(carrier, catalog().revisions[-1].id), changes)
    with closing(session.connection):
        outcome = judge(session, Selection(select=(rule,)))
    assert {one.reason for one in outcome.skipped} == ({reason} if reason else set())
    assert (rule in outcome.ran) == (reason is None)
    assert not outcome.found
