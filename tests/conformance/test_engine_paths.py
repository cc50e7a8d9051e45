"""The fast paths give the same findings at the same places as the plain ones."""

from __future__ import annotations

import re

import apsw
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ascend_conformance import check as check_module
from ascend_conformance.checks import sequences
from ascend_conformance.checks.sequences import NotWalkable, walk_order, walk_streams
from ascend_conformance.engine import judge
from ascend_conformance.engine.boolean import balanced
from ascend_conformance.engine.fusion import merged
from ascend_conformance.engine.plan import EVERYTHING, make_plan
from ascend_conformance.engine.references import (
    References,
    survey_column,
    survey_key,
)
from ascend_conformance.engine.rows import RowCheck, count, scan
from ascend_conformance.options import Options
from ascend_conformance.ruleset import load_rules
from ascend_conformance.selftest import make_specimen, open_specimen
from profiles import change, specimen

quick = settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
TABLES = ("TASK", "COMPUTE_TASK_INFO", "CANN_API", "COMMUNICATION_TASK_INFO", "PYTORCH_API")
CLEAN = open_specimen(make_specimen("pytorch", "1.2.0-2026-07"))

values = st.one_of(
    st.none(),
    st.integers(-(2**63), 2**63 - 1),
    st.sampled_from([-1, 0, 1, 255, 65535, 65536, 2**32 - 1, 2**32, 2**63 - 1, -(2**63)]),
    st.floats(allow_nan=False),
    st.sampled_from([1.5, 0.5, 1e300, float("inf")]),
    st.text(max_size=4),
    st.binary(max_size=4),
)


def columns(table: str) -> list[str]:
    keys = {name for name, one in CLEAN.schema.tables[table].columns.items() if one.primary_key}
    return [name for name in CLEAN.layout.tables[table].columns if name not in keys]


damages = st.sampled_from(TABLES).flatmap(
    lambda table: st.tuples(
        st.just(table),
        st.lists(
            st.tuples(st.sampled_from(columns(table)), st.integers(1, 30), values), max_size=4
        ),
    )
)


@quick
@given(damage=damages)
def test_fused_predicates_find_what_the_plain_ones_find(damage):
    table, changes = damage
    session = open_specimen(make_specimen("pytorch", "1.2.0-2026-07"))
    for column, row, value in changes:
        session.connection.execute(
            f"UPDATE {table} SET {column} = ? WHERE rowid = "
            f"(SELECT rowid FROM {table} LIMIT 1 OFFSET ?)",
            (value, row),
        )
    references = References(session.connection, session.targets)
    checks = [
        RowCheck(instance, bad)
        for instance in make_plan(session, EVERYTHING).rows[table]
        if (bad := judge.bad_row(session, instance, references))
    ]
    fused = judge._fused(session, table, checks, references)
    fast = scan(session.connection, table, checks, fused)
    plain = count(session.connection, table, checks)
    assert summary(fast) == summary(plain)
    session.connection.close()


ODD = (None, 0.5, 1.5, 3.0, "x", "7", b"\0", -1, -2, 65536, 2**32, 2**62, -(2**63), float("inf"))


@pytest.mark.parametrize("table", TABLES)
def test_one_odd_value_in_any_column_is_seen_by_both(table):
    session = open_specimen(make_specimen("pytorch", "1.2.0-2026-07"))
    connection = session.connection
    references = References(connection, session.targets)
    checks = [
        RowCheck(instance, bad)
        for instance in make_plan(session, EVERYTHING).rows[table]
        if (bad := judge.bad_row(session, instance, references))
    ]
    fused = judge._fused(session, table, checks, references)
    first = f"(SELECT min(rowid) FROM {table})"
    for column in columns(table):
        (before,) = connection.execute(
            f"SELECT {column} FROM {table} WHERE rowid = {first}"
        ).fetchone()
        for value in ODD:
            update = f"UPDATE {table} SET {column} = ? WHERE rowid = {first}"
            connection.execute(update, (value,))
            fast = scan(connection, table, checks, fused)
            plain = count(connection, table, checks)
            assert summary(fast) == summary(plain), (column, value)
            connection.execute(update, (before,))


def summary(hits):
    return sorted((hit.instance.key, hit.count, hit.first_rowid) for hit in hits)


def test_the_fused_form_is_used_for_most_columns_of_a_clean_table():
    references = References(CLEAN.connection, CLEAN.targets)
    checks = [
        RowCheck(instance, judge.bad_row(CLEAN, instance, references))
        for instance in make_plan(CLEAN, EVERYTHING).rows["TASK"]
    ]
    fused = judge._fused(CLEAN, "TASK", checks, references)
    assert "typeof(startNs)" not in fused
    assert len(re.findall(r"typeof\(", fused)) < 3


tasks = st.lists(
    st.tuples(
        st.integers(0, 1),
        st.integers(0, 2),
        st.integers(0, 40),
        st.integers(0, 8),
        st.sampled_from([2**32 - 1, 2**32 - 1, 3]),
    ),
    max_size=25,
)


@quick
@given(tasks=tasks, ordered=st.booleans(), size=st.integers(1, 6))
def test_walks_find_what_their_oracles_find(tasks, ordered, size):
    rows = sorted(tasks, key=lambda task: task[2]) if ordered else tasks
    connection = apsw.Connection(":memory:")
    connection.execute("CREATE TABLE TASK (deviceId, streamId, startNs, endNs, contextId)")
    connection.executemany(
        "INSERT INTO TASK VALUES (?, ?, ?, ?, ?)",
        [(one[0], one[1], one[2], one[2] + one[3], one[4]) for one in rows],
    )
    rules = load_rules()
    for rule, query, walk in (
        (
            "DB504",
            "SELECT rowid, deviceId, streamId, startNs, endNs FROM TASK "
            "WHERE contextId = 4294967295 ORDER BY rowid",
            walk_streams,
        ),
        ("DB505", "SELECT rowid, startNs FROM TASK ORDER BY rowid", walk_order),
    ):
        oracle = {row[0] for row in connection.execute(rules[rule].oracle)}
        found = connection.execute(query).fetchall()
        batches = [
            pa.RecordBatch.from_arrays(
                [pa.array(column, pa.int64()) for column in zip(*part, strict=True)],
                names=[str(number) for number in range(len(part[0]))],
            )
            for part in (found[at : at + size] for at in range(0, len(found), size))
        ]
        try:
            walked = {int(row) for rowids in walk(iter(batches)) for row in rowids}
        except NotWalkable:
            assert not ordered
            continue
        assert walked == oracle


@pytest.mark.parametrize("value", ["'soon'", "NULL", "x'00'", "1.5"])
def test_rows_that_cannot_be_walked_are_left_to_the_oracle(value):
    damage = f"UPDATE TASK SET startNs = {value} WHERE rowid = 5"
    session = open_specimen(make_specimen("pytorch", "1.2.0-2026-07"), [damage])
    walks = {one.rule.id: one for one in make_plan(session, EVERYTHING).walks}
    for instance in walks.values():
        expected = session.connection.execute(
            f"SELECT count(*), min(row) FROM ({instance.select})"
        ).fetchone()
        assert sequences.walk(session, instance, session.connection) == tuple(expected)


def test_one_thread_and_several_give_the_same_report(tmp_path, monkeypatch):
    path = change(
        specimen(tmp_path),
        "UPDATE TASK SET taskType = 77777 WHERE rowid % 3 = 0",
        "UPDATE CANN_API SET endNs = startNs - 1 WHERE rowid % 4 = 0",
        "UPDATE COMPUTE_TASK_INFO SET opType = 'x' WHERE rowid % 2 = 0",
    )
    (alone,) = check_module.check([path], Options(workers=1)).files
    monkeypatch.setattr(judge, "PARALLEL_BYTES", 0)
    (together,) = check_module.check([path], Options(workers=3)).files
    assert alone.findings
    assert together.findings == alone.findings
    assert together.skipped == alone.skipped


numbers = st.lists(
    st.one_of(st.integers(-5, 40), st.sampled_from([-(2**63), 2**63 - 1, 10**12])), max_size=30
)


@quick
@given(held=numbers, wanted=numbers, as_key=st.booleans())
def test_references_agree_with_a_set(held, wanted, as_key):
    held = sorted(set(held)) if as_key else held
    connection = apsw.Connection(":memory:")
    connection.execute(f"CREATE TABLE parent (id INTEGER {'PRIMARY KEY' if as_key else ''})")
    connection.executemany("INSERT INTO parent VALUES (?)", [(one,) for one in held])
    batches = iter([pa.RecordBatch.from_arrays([pa.array(held, pa.int64())], names=["id"])])
    target = (
        survey_key(connection, "parent", "id")
        if as_key
        else survey_column(connection, "parent", "id", batches)
    )
    assert target.repeats == (len(set(held)) < len(held))
    predicate = References(connection, {("parent", "id"): target}).resolves(
        "value", [("parent", "id")]
    )
    for value in wanted:
        row = connection.execute(f"SELECT {predicate} FROM (SELECT ? AS value)", (value,))
        assert bool(row.fetchone()[0]) == (value in held)


@quick
@given(found=st.lists(st.integers(-3, 30)))
def test_merged_ranges_hold_the_same_integers(found):
    ranges = merged((one, one) for one in found)
    assert {one for low, high in ranges for one in range(low, high + 1)} == set(found)
    assert all(before[1] + 1 < after[0] for before, after in zip(ranges, ranges[1:], strict=False))


SETS = (
    "taskType IN (SELECT id FROM STRING_IDS WHERE value = 'KERNEL_AIVEC')",
    "taskType NOT IN (SELECT id FROM STRING_IDS WHERE value GLOB '*A*(*)*' OR value = 'N/A')",
    "taskType IN (SELECT id FROM STRING_IDS WHERE value = 'it''s (not) there')",
    "connectionId NOT IN (SELECT connectionId FROM CANN_API) AND taskType IN "
    "(SELECT id FROM STRING_IDS WHERE value > 'M')",
)


@pytest.mark.parametrize("sql", SETS)
def test_written_out_sets_keep_their_meaning(sql):
    written = CLEAN.constant_sets.write_out(sql)
    assert written != sql
    query = "SELECT rowid FROM TASK WHERE {} ORDER BY rowid"
    assert CLEAN.connection.execute(query.format(written)).fetchall() == (
        CLEAN.connection.execute(query.format(sql)).fetchall()
    )


@pytest.mark.parametrize("number", [1, 2, 3, 7, 900, 5_000])
def test_long_chains_stay_shallow(number):
    connection = apsw.Connection(":memory:")
    chain = balanced("OR", [f"a = {one}" for one in range(number)])
    found = connection.execute(f"SELECT {chain} FROM (SELECT ? AS a)", (number - 1,)).fetchone()
    assert found == (1,)
