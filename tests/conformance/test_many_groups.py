"""Names and hashes of groups are looked at, however many groups there are."""

from __future__ import annotations

from contextlib import closing

import pytest

from ascend_conformance.media.db.judge import judge
from ascend_conformance.media.db.selftest import make_specimen, open_specimen
from ascend_conformance.ruleset import Selection
from ascend_spec import catalog
from ascend_spec.db.model import Carrier

GROUPS = 1_100
NUMBERS = f"WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n LIMIT {GROUPS})"


def operators(schema: str) -> list[str]:
    """As many operators, each of a group called by a number, and with digits of another one."""
    return [
        f"{NUMBERS} INSERT INTO {schema}STRING_IDS SELECT 50000 + i, 7000 + i FROM n",
        f"{NUMBERS} INSERT INTO {schema}STRING_IDS "
        "SELECT 60000 + i, printf('hcom_allReduce__%03d_%d_1', (7001 + i) % 1000, i) FROM n",
        f"CREATE TEMP TABLE op AS SELECT * FROM {schema}COMMUNICATION_OP LIMIT 1",
        *(
            statement
            for number in range(1, GROUPS + 1)
            for statement in (
                f"UPDATE temp.op SET opId = {4_000_000 + number}, opName = {60_000 + number}, "
                f"groupName = {50_000 + number}",
                f"INSERT INTO {schema}COMMUNICATION_OP SELECT * FROM temp.op",
            )
        ),
    ]


ANALYSED = [
    "CREATE TEMP TABLE timed AS SELECT * FROM CommAnalyzerTime LIMIT 1",
    *(
        statement
        for number in range(1, GROUPS + 1)
        for statement in (
            "UPDATE temp.timed SET group_name = '1', hccl_op_name = "
            f"(SELECT value FROM profiler.STRING_IDS WHERE id = {60_000 + number})",
            "INSERT INTO CommAnalyzerTime SELECT * FROM temp.timed",
        )
    ),
]


@pytest.mark.parametrize(
    ("rule", "carrier", "changes"),
    [
        ("DB608", "pytorch", operators("")),
        ("DB956", "analysis", [*operators("profiler."), *ANALYSED]),
    ],
)
def test_each_of_many_groups_is_looked_at(rule: str, carrier: Carrier, changes: list[str]) -> None:
    session = open_specimen(make_specimen(carrier, catalog().revisions[-1].id), changes)
    with closing(session.connection):
        outcome = judge(session, Selection(select=(rule,)))
    assert [one.count for one in outcome.found] == [GROUPS]
