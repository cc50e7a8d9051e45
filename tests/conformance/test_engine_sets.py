"""References and sets as ranges of numbers mean what the plain look-up means."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import apsw
import pyarrow as pa
import pytest
from engine_trials import HIGHEST, HOSTILE, LOWEST, Value, clean, quick, undone
from hypothesis import given
from hypothesis import strategies as st
from profiles import NEWEST
from slices import some

from ascend_conformance.media.db.fusion import merged
from ascend_conformance.media.db.references import References, Target, survey_column, survey_key
from ascend_conformance.media.db.selftest import findings_of, make_specimen, open_specimen

# References


def held_by(value: Value, targets: Mapping[str, Sequence[Value]]) -> bool:
    """Whether one of the columns holds the number, by Python's own comparison."""
    return any(value in set(values) for values in targets.values())


def surveyed(
    connection: apsw.Connection, table: str, column: str, values: Sequence[Value], is_key: bool
) -> Target:
    if is_key:
        return survey_key(connection, table, column)

    def batches() -> Iterator[pa.RecordBatch]:
        for value in values:
            yield pa.RecordBatch.from_arrays([pa.array([value], pa.int64())], names=[column])

    return survey_column(connection, table, column, batches())


dense = st.integers(-5, 60).flatmap(lambda low: st.sets(st.integers(low, low + 12), max_size=12))
scattered = st.sets(st.integers(-200, 200), max_size=25)
wide = st.sets(st.sampled_from([LOWEST, LOWEST + 1, -1, 0, 1, 2**40, HIGHEST - 1, HIGHEST]))
numbers = st.one_of(dense, scattered, wide, st.tuples(dense, wide).map(lambda two: two[0] | two[1]))


@quick(max_examples=150)
@given(
    keys=numbers,
    values=st.lists(st.one_of(st.integers(-20, 20), st.sampled_from([None, HIGHEST, LOWEST]))),
    further=st.frozensets(st.integers(-3, 70), max_size=3),
    probes=st.lists(st.integers(LOWEST, HIGHEST), max_size=5),
)
def test_references_resolve_to_what_a_set_of_python_holds(
    keys: set[int], values: list[int | None], further: frozenset[int], probes: list[int]
) -> None:
    connection = apsw.Connection(":memory:")
    connection.execute("CREATE TABLE K(id INTEGER PRIMARY KEY); CREATE TABLE V(id INTEGER)")
    connection.execute("CREATE TABLE P(value INTEGER)")
    connection.executemany("INSERT INTO K VALUES (?)", [(key,) for key in keys])
    connection.executemany("INSERT INTO V VALUES (?)", [(value,) for value in values])
    near = {
        number + step
        for number in (*keys, *values, *further)
        if number is not None
        for step in (-1, 0, 1)
    }
    asked = sorted(number for number in {*near, *probes} if LOWEST <= number <= HIGHEST)
    connection.executemany("INSERT INTO P VALUES (?)", [(number,) for number in asked])
    column = [value for value in values if value is not None]
    found = {
        ("K", "id"): surveyed(connection, "K", "id", (), is_key=True),
        ("V", "id"): replace(
            surveyed(connection, "V", "id", column, is_key=False), further=further
        ),
    }
    assert found["V", "id"].repeats == (len(set(column)) < len(column))
    references = References(connection, found)
    for places in ([("K", "id")], [("V", "id")], [("K", "id"), ("V", "id")]):
        held = {
            number
            for table, _ in places
            for number in (keys if table == "K" else {*column, *further})
        }
        query = f"SELECT value FROM P WHERE {references.resolves('value', places)} ORDER BY value"
        assert [row[0] for row in connection.execute(query)] == [
            one for one in asked if one in held
        ]
        ranges = references.ranges(places)
        if ranges is not None:
            inside = [one for one in asked if any(low <= one <= high for low, high in ranges)]
            assert inside == [one for one in asked if one in held]
    connection.close()


@pytest.mark.parametrize(
    "affinity", some(["", "INTEGER", "NUMERIC", "REAL", "TEXT", "BLOB"], every=3)
)
@quick(max_examples=100)
@given(
    values=st.lists(st.one_of(st.integers(0, 9), st.sampled_from([v for v in HOSTILE if v != ""]))),
)
def test_targets_of_any_kind_are_looked_up_as_plain_sql_does(
    affinity: str, values: list[Value]
) -> None:
    """Whatever stands in the target column and however it is declared."""
    connection = apsw.Connection(":memory:")
    connection.execute(f"CREATE TABLE V(id {affinity}); CREATE TABLE P(value INTEGER)")
    connection.executemany("INSERT INTO V VALUES (?)", [(value,) for value in values])
    asked = [*range(-1, 11), 2**31, 2**53 + 1, 2**53, HIGHEST, LOWEST]
    connection.executemany("INSERT INTO P VALUES (?)", [(number,) for number in asked])

    def batches() -> Iterator[pa.RecordBatch]:
        rows = connection.execute("SELECT id FROM V").fetchall()
        yield pa.RecordBatch.from_arrays([pa.array([row[0] for row in rows])], names=["id"])

    target = survey_column(connection, "V", "id", batches())
    references = References(connection, {("V", "id"): target})
    fast = references.resolves("value", [("V", "id")])
    plain = "EXISTS (SELECT 1 FROM V WHERE V.id = P.value)"
    differing = f"SELECT value FROM P WHERE (({fast}) IS TRUE) <> ({plain})"
    assert connection.execute(differing).fetchall() == []
    connection.close()


def test_a_fraction_is_no_reference_however_the_ids_lie(tmp_path: Path) -> None:
    """2.5 lies between the ids of a dense target; the rule of storage classes comes first."""
    for gap in ("id < 0", "id % 5 = 3 AND id NOT IN (SELECT taskType FROM TASK)"):
        session = open_specimen(
            make_specimen("msprof", NEWEST),
            (f"DELETE FROM STRING_IDS WHERE {gap}", "UPDATE TASK SET taskType = taskType + 0.5"),
        )
        found = [finding for finding in findings_of(session) if finding.place == "TASK.taskType"]
        assert [(finding.rule, finding.first_rowid) for finding in found] == [("DB201", 1)]


# Sets as constants

NAMES = ["AI_CPU", "N/A", "a)('", "''", "PROFILING_ENABLE", "aic_x_ratio", "(SELECT id", "é"]
SETS = [
    "(SELECT id FROM STRING_IDS WHERE value = 'AI_CPU')",
    "(SELECT id FROM STRING_IDS WHERE value IN ('N/A', 'a)(''', 'PROFILING_ENABLE'))",
    "(SELECT id FROM STRING_IDS WHERE value GLOB 'a*' OR (value = ''''''))",
    "(SELECT id FROM STRING_IDS WHERE value = 'nowhere')",
    "(SELECT id FROM STRING_IDS WHERE value = '(SELECT id')",
    "(SELECT id FROM STRING_IDS WHERE value <> 'é' AND length(value) > 0)",
    "(SELECT connectionId FROM CANN_API)",
    "(SELECT connectionId FROM CANN_API WHERE connectionId IS NOT NULL)",
    "(SELECT globalTaskId FROM COMPUTE_TASK_INFO)",
    "(SELECT id FROM NPU_INFO)",
]
SHAPES = [
    "{x} IN {s}",
    "{x} NOT IN {s}",
    "({x} IN {s}) <> ({y} = 1)",
    "{x} IN {s} AND {y} NOT IN {t}",
    "{x} NOT IN {s} OR {y} IN {t} AND {x} > 2",
    "NOT ({x} IN {s}) AND {y} = 1",
    "CASE WHEN {x} IN {s} THEN {y} NOT IN {t} ELSE {x} = 3 END",
    "{x} > 1 AND ({y} IN {t} OR NOT {x} NOT IN {s})",
    "{x} = 1 AND {y} IN (1, 2, 3) AND {x} NOT IN {s}",
    "coalesce({x}, 3) NOT IN {s}",
    "coalesce({y}, 3) IN {t} OR {x} NOT IN {s}",
]


@quick(max_examples=100)
@given(
    strings=st.lists(st.tuples(st.integers(0, 30), st.sampled_from(NAMES)), max_size=25),
    calls=st.sets(st.integers(0, 20), min_size=1),
    kernels=st.sets(st.integers(-4, 4)),
    shape=st.sampled_from(SHAPES),
    sets=st.tuples(st.sampled_from(SETS), st.sampled_from(SETS)),
    names=st.sampled_from([("x", "y"), ("p.x", "p.y"), ("x", "p.y")]),
)
def test_sets_written_out_mean_the_same(
    strings: list[tuple[int, str]],
    calls: set[int],
    kernels: set[int],
    shape: str,
    sets: tuple[str, str],
    names: tuple[str, str],
) -> None:
    with undone(clean("pytorch", NEWEST)) as session:
        connection = session.connection
        connection.execute("CREATE TEMP TABLE probe(x INTEGER, y INTEGER)")
        for table, column, numbers_held in (
            ("CANN_API", "connectionId", calls),
            ("COMPUTE_TASK_INFO", "globalTaskId", kernels),
        ):
            connection.execute(f"DELETE FROM {table}")
            connection.executemany(
                f"INSERT INTO {table}({column}) VALUES (?)", [(one,) for one in numbers_held]
            )
        connection.execute("DELETE FROM STRING_IDS")
        connection.executemany("INSERT OR IGNORE INTO STRING_IDS VALUES (?, ?)", strings)
        values = [None, *range(-5, 32), LOWEST, HIGHEST, 7.0, "x", b"\x01"]
        connection.executemany(
            "INSERT INTO probe VALUES (?, ?)", [(v, w) for v in values for w in (1, 9, None)]
        )
        plain = shape.format(x=names[0], y=names[1], s=sets[0], t=sets[1])
        written = session.constant_sets.write_out(plain)
        differing = f"SELECT x, y FROM temp.probe p WHERE ({written}) IS NOT ({plain})"
        assert connection.execute(differing).fetchall() == []


def test_a_set_of_few_ranges_is_written_out(tmp_path: Path) -> None:
    with undone(clean("pytorch", NEWEST)) as session:
        rule = "taskType IN (SELECT id FROM STRING_IDS WHERE value = 'AI_CPU') AND 1"
        assert "SELECT" not in session.constant_sets.write_out(rule)
        scattered_keys = "DELETE FROM CANN_API WHERE connectionId % 2"
        session.connection.execute(scattered_keys)
        rule = "connectionId NOT IN (SELECT connectionId FROM CANN_API)"
        assert session.constant_sets.write_out(rule) == rule


@quick(max_examples=200)
@given(
    st.lists(st.tuples(st.integers(-30, 30), st.integers(0, 9)).map(lambda p: (p[0], p[0] + p[1])))
)
def test_merged_ranges_hold_the_same_integers(ranges: list[tuple[int, int]]) -> None:
    found = merged(ranges)
    assert {n for low, high in found for n in range(low, high + 1)} == {
        n for low, high in ranges for n in range(low, high + 1)
    }
    assert all(a[1] + 1 < b[0] for a, b in itertools.pairwise(found))
