"""Every fast path of the engine finds the same rows as the plain one."""

from __future__ import annotations

import random
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import apsw
import pytest
from engine_trials import HIGHEST, HOSTILE, LOWEST, Value, clean, quick, undone
from hypothesis import example, given
from hypothesis import strategies as st
from profiles import NEWEST, OLDEST, change, copy_real, opened, specimen
from slices import few, some

from ascend_conformance.check import check
from ascend_conformance.discover import discover
from ascend_conformance.engine.relations.judge import Answer, ask
from ascend_conformance.engine.relations.rule import load_relations
from ascend_conformance.finding import FileReport
from ascend_conformance.media.db import judge as engine
from ascend_conformance.media.db import opening
from ascend_conformance.media.db import session as sessions
from ascend_conformance.media.db.fusion import FUSED_RULES
from ascend_conformance.media.db.judge import bad_row
from ascend_conformance.media.db.opening import open_session
from ascend_conformance.media.db.plan import make_plan
from ascend_conformance.media.db.references import References
from ascend_conformance.media.db.rows import Hit, RowCheck, count, scan
from ascend_conformance.media.db.selftest import make_specimen, open_specimen
from ascend_conformance.media.db.session import Session
from ascend_conformance.media.db.views import ShownByDatabase
from ascend_conformance.options import Options
from ascend_conformance.ruleset import Selection
from ascend_ref.db.reader import stream_columns
from ascend_spec.db.model import CARRIERS, Carrier, Column

# All row rules of a table in one predicate


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
    "LLC",
)
SPARSE = "DELETE FROM {table} WHERE rowid % 3 = 1"


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("revision", [OLDEST, NEWEST])
def test_a_clean_table_is_clean_in_one_pass(table: str, revision: str) -> None:
    with undone(clean("pytorch", revision)) as session:
        assert_fused_equals_plain(session, table, Selection())


@pytest.mark.parametrize("table", some(TABLES, every=9))
@quick(max_examples=60)
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


@pytest.mark.parametrize(
    "affinity", some(["", "NUMERIC", "TEXT", "REAL", "BLOB", "integer", "BIGINT"], every=7)
)
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


def test_a_real_is_sound_where_another_declared_type_lets_it_be() -> None:
    """LLC.throughput is an INTEGER column that some exporters declare NUMERIC."""
    with undone(clean("pytorch", OLDEST)) as session:
        session.connection.execute("UPDATE LLC SET throughput = 0.5 WHERE rowid % 2")
        assert_fused_equals_plain(session, "LLC", Selection())


# Walks over sequences


IN_STREAMS = (
    "SELECT row FROM (SELECT rowid AS row, startNs, lag(endNs) OVER "
    "(PARTITION BY deviceId, streamId ORDER BY startNs, rowid) AS before FROM TASK "
    "WHERE contextId = 4294967295 OR contextId IS NULL) WHERE startNs < before"
)
AS_THEY_STAND = (
    "SELECT row FROM (SELECT rowid AS row, startNs, lag(startNs) OVER (ORDER BY rowid) AS before "
    "FROM TASK) WHERE startNs < before"
)
ORACLES = {"DB504": IN_STREAMS, "DB505": AS_THEY_STAND}
"""The bad rows of relations over tasks, by a window that SQLite judges."""


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


def assert_found_by_oracle(session: Session, name: str) -> None:
    shown = ShownByDatabase(session, session.connection)
    found = ask(load_relations()[name], shown)
    rows = session.connection.execute(f"{ORACLES[name]} ORDER BY row").fetchall()
    expected = [int(row[0]) for row in rows]
    if isinstance(found, Answer):
        assert (found.count, *found.places[:1]) == (len(expected), *expected[:1])
    else:
        assert not expected


@pytest.mark.parametrize("name", sorted(ORACLES))
@quick(max_examples=250)
@given(rows=task_rows())
@example(rows=[["x", 0, 0, 0, 4294967295], [0, 0, 0, 0, 4294967295]])
def test_walks_find_the_rows_of_their_oracle(name: str, rows: list[list[Value]]) -> None:
    with undone(clean("pytorch", NEWEST)) as session:
        session.connection.execute("DELETE FROM TASK")
        session.connection.executemany(INSERT, rows)
        assert_found_by_oracle(session, name)


@pytest.mark.exhaustive
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
            for name in ORACLES:
                assert_found_by_oracle(session, name)


# One thread or several


def untimed(path: Path, workers: int) -> list[FileReport]:
    report = check([path], Options(workers=workers, with_sql=True))
    return [replace(file, seconds=0.0) for file in report.files]


def assert_workers_agree(path: Path, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(sessions, "PARALLEL_BYTES", 0)
    patch.setattr(opening, "PARALLEL_BYTES", 0)
    alone = untimed(path, 1)
    assert untimed(path, 2) == alone
    assert untimed(path, 5) == alone


@pytest.mark.parametrize("folder", few(["level1_rank0", "level0_rank0", "level1_rank1"], every=3))
def test_workers_agree_on_real_profiles(
    tmp_path: Path, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert_workers_agree(copy_real(folder, tmp_path), monkeypatch)


@pytest.mark.campaign
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


@pytest.mark.exhaustive
def test_workers_agree_where_no_walk_is_possible(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Windows over TASK may then run at once, each on the connection of its thread."""
    path = change(
        specimen(tmp_path), "UPDATE TASK SET startNs = 'x', streamId = 1.5 WHERE rowid = 9"
    )
    for _ in range(5):
        assert_workers_agree(path, monkeypatch)


def test_a_stop_ends_what_a_worker_does(tmp_path: Path) -> None:
    endless = (
        "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n) SELECT sum(i) FROM n"
    )
    with (
        open_session(discover(specimen(tmp_path))[0], Options()) as session,
        session.another_connection() as own,
    ):
        session.stop.set()
        with pytest.raises(apsw.InterruptError):
            own.execute(endless)
        with pytest.raises(apsw.InterruptError):
            list(session.stream("SELECT startNs FROM TASK"))


def test_an_interrupt_while_the_workers_start_stops_those_that_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Interrupted(ThreadPoolExecutor):
        def submit(self, *arguments: Any, **named: Any) -> Future[Any]:
            if self._threads:
                raise KeyboardInterrupt
            return super().submit(*arguments, **named)

    monkeypatch.setattr(sessions, "PARALLEL_BYTES", 0)
    monkeypatch.setattr(sessions, "ThreadPoolExecutor", Interrupted)
    with open_session(discover(specimen(tmp_path))[0], Options()) as session:
        with pytest.raises(KeyboardInterrupt):
            engine.judge(session, Selection(), workers=3)
        assert session.stop.is_set()
