"""Every fast path of the engine finds the same rows as the plain one."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

import apsw
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from profiles import NEWEST, OLDEST, change, copy_real, opened, specimen

from ascend_conformance.check import check, open_session
from ascend_conformance.checks import sequences
from ascend_conformance.discover import discover
from ascend_conformance.engine import judge as engine
from ascend_conformance.engine import session as sessions
from ascend_conformance.engine.fusion import FUSED_RULES, merged
from ascend_conformance.engine.judge import bad_row
from ascend_conformance.engine.plan import Selection, make_plan
from ascend_conformance.engine.references import References, Target, survey_column, survey_key
from ascend_conformance.engine.rows import Hit, RowCheck, count, scan
from ascend_conformance.engine.session import Session
from ascend_conformance.finding import FileReport
from ascend_conformance.options import Options
from ascend_conformance.places import Instance
from ascend_conformance.selftest import findings_of, make_specimen, open_specimen
from ascend_ref.db.reader import stream_columns
from ascend_spec.model import CARRIERS, Carrier, Column

Value = int | float | str | bytes | None

quick = partial(
    settings,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

LOWEST, HIGHEST = -(2**63), 2**63 - 1
HOSTILE: tuple[Value, ...] = (
    None,
    0,
    -1,
    1,
    2**31,
    2**32 - 1,
    2**32,
    2**48,
    2**53 + 1,
    HIGHEST,
    LOWEST,
    1.5,
    -0.5,
    2.0,
    9.3e18,
    1e308,
    float("inf"),
    float("-inf"),
    "",
    "7",
    "n/a",
    "1e3",
    b"",
    b"\x00\xff",
)


@contextmanager
def undone(session: Session) -> Iterator[Session]:
    """A session on the same database that knows nothing yet; all changes are taken back."""
    session.connection.execute("SAVEPOINT trial")
    try:
        yield replace(session)
    finally:
        session.connection.execute("ROLLBACK TO trial; RELEASE trial")


# All row rules of a table in one predicate


@cache
def clean(carrier: Carrier, revision: str) -> Session:
    return open_specimen(make_specimen(carrier, revision))


def edges(column: Column) -> list[Value]:
    """Values around the bounds of a column and its sentinels."""
    bounds = [int(bound) for bound in (column.minimum, column.maximum) if bound is not None]
    near = [bound + step for bound in bounds for step in (-1, 0, 1)] + list(column.none)
    return [value for value in near if LOWEST <= value <= HIGHEST]


@st.composite
def changes(draw: st.DrawFn, session: Session, table: str) -> list[tuple[str, Value, int]]:
    """(column, value, rowid): bad and good values for a few cells of the table."""
    match = session.layout.tables[table]
    columns = [column for column in match.columns if not match.table.columns[column].primary_key]
    rows = [row[0] for row in session.connection.execute(f"SELECT rowid FROM {table}").fetchall()]
    found = []
    for _ in range(draw(st.integers(0, 12))):
        column = draw(st.sampled_from(columns))
        row = draw(st.sampled_from(rows))
        held = session.connection.execute(
            f"SELECT {column} FROM {table} ORDER BY rowid LIMIT 3"
        ).fetchall()
        values = [*edges(match.table.columns[column]), *(one[0] for one in held)]
        value = draw(st.one_of(st.sampled_from(HOSTILE), st.sampled_from(values)))
        found.append((column, value, row))
    return found


def row_checks(
    session: Session, table: str, selection: Selection
) -> tuple[list[RowCheck], References]:
    references = References(session.connection, session.targets)
    found = make_plan(session, selection).rows.get(table, ())
    checks = [
        RowCheck(instance, bad)
        for instance in found
        if (bad := bad_row(session, instance, references))
    ]
    return checks, references


def summed(hits: Iterable[Hit]) -> dict[str, tuple[int, int | None]]:
    return {
        hit.instance.key + str(hit.instance.place): (hit.count, hit.first_rowid) for hit in hits
    }


def assert_fused_equals_plain(session: Session, table: str, selection: Selection) -> None:
    """One pass finds what counting each predicate finds, and each of the rows."""
    checks, references = row_checks(session, table, selection)
    if not checks:
        return
    fused = engine._fused(session, table, checks, references)
    connection = session.connection
    assert summed(scan(connection, table, checks, fused)) == summed(
        count(connection, table, checks)
    )
    assert summed(scan(connection, table, checks)) == summed(count(connection, table, checks))
    plain = " OR ".join(f"({check.bad}) IS TRUE" for check in checks[:400])
    differing = f"SELECT rowid FROM {table} WHERE ({fused}) IS TRUE <> ({plain})"
    if len(checks) <= 400:
        assert connection.execute(differing).fetchall() == []


TABLES = (
    "TASK",
    "COMPUTE_TASK_INFO",
    "CANN_API",
    "COMMUNICATION_OP",
    "COMMUNICATION_TASK_INFO",
    "OP_MEMORY",
    "PYTORCH_API",
)
SPARSE = "DELETE FROM {table} WHERE rowid % 3 = 1"


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("revision", [OLDEST, NEWEST])
def test_a_clean_table_is_clean_in_one_pass(table: str, revision: str) -> None:
    with undone(clean("pytorch", revision)) as session:
        assert_fused_equals_plain(session, table, Selection())


@pytest.mark.parametrize("table", TABLES)
@quick(max_examples=120)
@given(data=st.data())
def test_fused_rules_find_the_same_rows_as_plain_ones(table: str, data: st.DataObject) -> None:
    carrier: Carrier = data.draw(st.sampled_from(["pytorch", "msprof"]))
    base = clean(carrier, data.draw(st.sampled_from([OLDEST, NEWEST])))
    if table not in base.layout.tables:
        return
    some = st.sampled_from(sorted(FUSED_RULES))
    ignored = data.draw(st.one_of(st.just(set()), st.sets(some, max_size=1), st.sets(some)))
    sparse = data.draw(st.sets(st.sampled_from(["STRING_IDS", "CANN_API", "TASK"])))
    with undone(base) as session:
        for target in sorted(sparse - {table}):  # ids with gaps are looked up, not compared
            session.connection.execute(SPARSE.format(table=target))
        for column, value, row in data.draw(changes(session, table)):
            session.connection.execute(
                f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (value, row)
            )
        assert_fused_equals_plain(session, table, Selection(ignore=tuple(sorted(ignored))))


@pytest.mark.parametrize("affinity", ["", "NUMERIC", "TEXT", "REAL", "BLOB", "integer", "BIGINT"])
@quick(max_examples=25)
@given(data=st.data())
def test_fused_rules_hold_whatever_type_a_column_is_declared_with(
    affinity: str, data: st.DataObject
) -> None:
    """Of a column with another affinity only the plain predicates are right."""
    base = clean("pytorch", NEWEST)
    table = "TASK"
    retyped = data.draw(st.sampled_from(["streamId", "taskType", "contextId", "modelId", "endNs"]))
    columns = base.layout.tables[table].columns
    ddl = ", ".join(f"{name} {affinity if name == retyped else 'INTEGER'}" for name in columns)
    specimen_of = make_specimen("pytorch", NEWEST)
    session = open_specimen(
        specimen_of,
        (
            "DROP INDEX TaskIndex",
            "ALTER TABLE TASK RENAME TO old",
            f"CREATE TABLE TASK({ddl})",
            "INSERT INTO TASK SELECT * FROM old",
            "DROP TABLE old",
        ),
    )
    for value in data.draw(st.lists(st.sampled_from(HOSTILE), max_size=4)):
        session.connection.execute(
            f"UPDATE TASK SET {retyped} = ? WHERE rowid = "
            f"(SELECT max(rowid) FROM TASK) - {data.draw(st.integers(0, 5))}",
            (value,),
        )
    assert_fused_equals_plain(session, table, Selection())
    session.connection.close()


# Walks over sequences


def walk_instance(session: Session, code: str, table: str = "TASK") -> Instance:
    (found,) = [
        instance
        for instance in make_plan(session, Selection()).walks
        if instance.rule.code == code and instance.table == table
    ]
    return found


small = st.integers(0, 12)
task = st.tuples(
    small,
    small,
    st.integers(0, 1),
    st.integers(0, 2),
    st.sampled_from([4294967295, 4294967295, 4294967295, 5]),
)
odd_cell = st.tuples(
    st.integers(0, 4), st.sampled_from([None, 1.5, 2.0, "x", "7", b"\x01", HIGHEST, LOWEST])
)


@st.composite
def task_rows(draw: st.DrawFn) -> list[list[Value]]:
    """(startNs, endNs, deviceId, streamId, contextId), mostly in order, rarely odd."""
    rows: list[list[Value]] = [
        [start, start + length, *rest]
        for start, length, *rest in draw(st.lists(task, min_size=0, max_size=14))
    ]
    if draw(st.integers(0, 3)):
        rows.sort(key=lambda row: str(row[0]).zfill(3))
    if rows and not draw(st.integers(0, 2)):
        column, value = draw(odd_cell)
        rows[draw(st.integers(0, len(rows) - 1))][column] = value
    return rows


INSERT = (
    "INSERT INTO TASK (startNs, endNs, deviceId, streamId, contextId, connectionId, globalTaskId, "
    "globalPid, taskType, taskId, modelId) VALUES (?, ?, ?, ?, ?, 1, 1, 1, 1, 1, 1)"
)


def by_oracle(connection: apsw.Connection, instance: Instance) -> list[int]:
    rows = connection.execute(f"SELECT row FROM ({instance.select}) ORDER BY row").fetchall()
    return [int(row[0]) for row in rows]


@pytest.mark.parametrize("code", sorted(sequences.WALKS))
@quick(max_examples=250)
@given(rows=task_rows(), sizes=st.lists(st.integers(0, 4), max_size=20))
def test_walks_find_the_rows_of_their_oracle(
    code: str, rows: list[list[Value]], sizes: list[int]
) -> None:
    """In batches of any size, or not at all: then the oracle decides."""
    with undone(clean("pytorch", NEWEST)) as session:
        session.connection.execute("DELETE FROM TASK")
        session.connection.executemany(INSERT, rows)
        instance = walk_instance(session, code) if rows else None
        if instance is None:
            return
        expected = by_oracle(session.connection, instance)
        bad = (len(expected), min(expected, default=None))
        assert sequences.walk(session, instance, session.connection) == bad
        try:
            batched = InBatches(session, sizes)
            found = [list(part) for part in sequences.WALKS[code](batched, instance)]
        except (sequences.NotWalkable, pa.ArrowInvalid):
            return
        assert sorted(int(row) for part in found for row in part) == expected


class InBatches(Session):
    """A session whose stream comes in batches of the given sizes, then of one row each."""

    def __init__(self, session: Session, sizes: Sequence[int]) -> None:
        super().__init__(**{name: getattr(session, name) for name in session.__dataclass_fields__})
        self.sizes = sizes

    def stream(self, query: str) -> Iterator[pa.RecordBatch]:
        sizes = iter(self.sizes)
        for batch in super().stream(query):
            position = 0
            while position < batch.num_rows:
                size = next(sizes, 1)
                yield batch.slice(position, size)
                position += size


@quick(max_examples=120)
@given(rows=task_rows(), batch_rows=st.integers(1, 5))
def test_walks_over_a_file_find_the_rows_of_their_oracle(
    tmp_path_factory: pytest.TempPathFactory, rows: list[list[Value]], batch_rows: int
) -> None:
    """The types of a streamed column are guessed from its first batch; later rows may differ."""
    path = specimen(tmp_path_factory.mktemp("walk"))
    with opened(path) as connection:
        connection.execute("DELETE FROM TASK WHERE rowid > 3")
        connection.executemany(INSERT, rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sessions, "stream_columns", partial(stream_columns, batch_rows=batch_rows))
        with open_session(discover(path)[0], Options()) as session:
            for code in sorted(sequences.WALKS):
                instance = walk_instance(session, code)
                expected = by_oracle(session.connection, instance)
                found = sequences.walk(session, instance, session.connection)
                assert found == (len(expected), min(expected, default=None))


def test_an_oracle_runs_on_the_connection_of_its_thread(tmp_path: Path) -> None:
    path = change(specimen(tmp_path), "UPDATE TASK SET startNs = 'x' WHERE rowid = 9")
    with open_session(discover(path)[0], Options()) as session:
        instance = walk_instance(session, "row-order")
        expected = by_oracle(session.connection, instance)
        with session.another_connection() as own:
            session.connection.close()
            assert sequences.walk(session, instance, own) == (len(expected), expected[0])


# One thread or several


def untimed(path: Path, workers: int) -> list[FileReport]:
    report = check([path], Options(workers=workers, with_sql=True))
    return [replace(file, seconds=0.0) for file in report.files]


def assert_workers_agree(path: Path, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(engine, "PARALLEL_BYTES", 0)
    alone = untimed(path, 1)
    assert untimed(path, 2) == alone
    assert untimed(path, 5) == alone


@pytest.mark.parametrize("folder", ["level0_rank0", "level1_rank0", "level1_rank1"])
def test_workers_agree_on_real_profiles(
    tmp_path: Path, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert_workers_agree(copy_real(folder, tmp_path), monkeypatch)


@pytest.mark.parametrize("share", [0.0, 0.002, 0.2])
@pytest.mark.parametrize("carrier", CARRIERS)
def test_workers_agree_on_damaged_profiles(
    tmp_path: Path, carrier: Carrier, share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = specimen(tmp_path, carrier)
    draw = random.Random(7)
    with opened(path) as connection:
        names = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY 1"
        for (table,) in connection.execute(names).fetchall():
            info = connection.execute(f"PRAGMA table_info({table})").fetchall()
            rows = [row[0] for row in connection.execute(f"SELECT rowid FROM {table}").fetchall()]
            for column in (row[1] for row in info if not row[5]):
                cells = [(draw.choice(HOSTILE), row) for row in rows if draw.random() < share]
                connection.executemany(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", cells)
    assert_workers_agree(path, monkeypatch)


def test_workers_agree_where_no_walk_is_possible(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both oracles over TASK may then run at once, each on the connection of its thread."""
    path = change(
        specimen(tmp_path), "UPDATE TASK SET startNs = 'x', streamId = 1.5 WHERE rowid = 9"
    )
    for _ in range(5):
        assert_workers_agree(path, monkeypatch)


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


@pytest.mark.parametrize("affinity", ["", "INTEGER", "NUMERIC", "REAL", "TEXT", "BLOB"])
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
