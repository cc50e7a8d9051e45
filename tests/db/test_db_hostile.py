"""Files that mean harm or have met it: one clear answer, no hang, the file untouched."""

from __future__ import annotations

import sqlite3
import struct
from contextlib import closing
from pathlib import Path

import apsw
import pyarrow as pa
import pytest
from db_samples import contents, make, run_sql, write_small
from slices import some

from ascend_ref.db.detect import identify
from ascend_ref.db.introspect import describe
from ascend_ref.db.open import (
    BudgetExceeded,
    UnreadableDatabase,
    budget,
    open_readonly,
    quick_check,
)
from ascend_ref.db.reader import typed_columns
from ascend_spec import catalog
from ascend_spec.db.model import Carrier

STATE: tuple[str, Carrier] = ("1.2.0-2026-07", "pytorch")


def judge(path: Path) -> str | None:
    """What a checker does first; the fault in one line, or ``None``."""
    try:
        with closing(open_readonly(path)) as connection:
            physical = describe(connection)
            fault = quick_check(connection)
            if fault is None:
                identify(physical, connection, path, catalog())
            return fault
    except UnreadableDatabase as error:
        return str(error)


@pytest.mark.parametrize("filler", some([b"\0", b"\xff", b"\x05", b"\x0d"], every=2))
def test_a_spoilt_page_anywhere_is_one_clear_line(tmp_path: Path, filler: bytes) -> None:
    path = write_small(tmp_path / "p.db", *STATE)
    sound = path.read_bytes()
    for start in range(0, len(sound), 4096):
        first = 100 if start == 0 else start
        path.write_bytes(sound[:first] + filler * (start + 4096 - first) + sound[start + 4096 :])
        before = path.read_bytes()
        fault = judge(path)
        assert fault, f"page at {start}"
        assert fault.splitlines() == [fault]
        assert path.read_bytes() == before
    assert contents(tmp_path).keys() == {"p.db"}


def tall(path: Path) -> tuple[bytearray, int]:
    """A database of 512-byte pages whose table is a tree of three levels, and its root page."""
    make(
        path,
        "PRAGMA page_size = 512",
        "CREATE TABLE T (a INTEGER PRIMARY KEY, b)",
        "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n LIMIT 20000) "
        "INSERT INTO T SELECT i, i FROM n",
    )
    with closing(sqlite3.connect(path)) as connection:
        (root,) = connection.execute("SELECT rootpage FROM sqlite_schema").fetchone()
    return bytearray(path.read_bytes()), root


def children(pages: bytearray, number: int) -> list[int]:
    """Offsets of the child pointers of an interior page, the rightmost one last."""
    start = (number - 1) * 512
    assert pages[start] == 5, "an interior page of a table"
    (cells,) = struct.unpack_from(">H", pages, start + 3)
    pointers = struct.unpack_from(f">{cells}H", pages, start + 12)
    return [*(start + pointer for pointer in pointers), start + 8]


def child(pages: bytearray, offset: int) -> int:
    (number,) = struct.unpack_from(">I", pages, offset)
    return int(number)


@pytest.mark.parametrize("shape", ["page is its own child", "grandchild is the root"])
def test_a_cycle_in_a_tree_is_reported_and_ends(tmp_path: Path, shape: str) -> None:
    path = tmp_path / "cycle.db"
    pages, root = tall(path)
    level = children(pages, root)
    below = child(pages, level[0])
    places = level if shape == "page is its own child" else children(pages, below)
    for offset in places:
        struct.pack_into(">I", pages, offset, root)
    path.write_bytes(pages)
    with closing(open_readonly(path)) as connection:
        fault = quick_check(connection)
        assert fault
        assert "*** in database" not in fault
        with pytest.raises((apsw.CorruptError, BudgetExceeded)), budget(connection, 10_000_000):
            connection.execute("SELECT count(b + a) FROM T").fetchall()


def test_one_page_under_many_parents_cannot_run_away(tmp_path: Path) -> None:
    """A chain of interior pages, each naming only the next: rows multiply at each level."""
    path = tmp_path / "bomb.db"
    pages, root = tall(path)
    interior = [root, *(child(pages, place) for place in children(pages, root))]
    leaf = child(pages, children(pages, interior[-1])[0])
    assert len(interior) > 4
    for page, below in zip(interior, [*interior[1:], leaf], strict=True):
        for offset in children(pages, page):
            struct.pack_into(">I", pages, offset, below)
    path.write_bytes(pages)
    with closing(open_readonly(path)) as connection:
        assert quick_check(connection)
        with pytest.raises(BudgetExceeded), budget(connection, 10_000_000):
            connection.execute("SELECT total(b) FROM T").fetchall()


def test_schema_tricks_run_nothing(tmp_path: Path) -> None:
    path = make(
        tmp_path / "msprof_20250101000000.db",
        "CREATE TABLE REAL_TASK (startNs, endNs)",
        "CREATE VIEW TASK AS SELECT * FROM REAL_TASK JOIN REAL_TASK",
        "CREATE TABLE CANN_API (startNs, endNs, name AS (abs(startNs)), UNIQUE (startNs))",
        "CREATE TRIGGER STRING_IDS AFTER INSERT ON CANN_API BEGIN DELETE FROM REAL_TASK; END",
        "CREATE VIRTUAL TABLE META_DATA USING fts5(name, value)",
        "CREATE VIRTUAL TABLE NPU_INFO USING rtree(id, a, b)",
    )
    with closing(open_readonly(path)) as connection:
        physical = describe(connection)
        assert quick_check(connection) is None
        found = identify(physical, connection, path, catalog())
        assert found.carrier == "msprof"
        assert found.schema_version is None
        for name in ("TASK", "META_DATA", "NPU_INFO"):
            assert physical.readable(name) is None
            with pytest.raises(apsw.SQLError):
                connection.execute(f"SELECT * FROM {name}").fetchall()
    assert physical.tables["TASK"].kind == "view"
    assert physical.tables["META_DATA"].kind == "virtual"
    assert physical.tables["META_DATA_content"].kind == "shadow"
    assert physical.tables["NPU_INFO_node"].kind == "shadow"
    assert [(one.name, one.table) for one in physical.triggers] == [("STRING_IDS", "CANN_API")]
    with pytest.raises(UnreadableDatabase, match="no such table: TASK"):
        next(typed_columns(path, "TASK", {"startNs": pa.int64()}))


def test_unknown_functions_and_collations_do_not_stop_the_reading(tmp_path: Path) -> None:
    path = tmp_path / "odd.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.create_function("missing", 1, lambda value: value, deterministic=True)
        connection.create_collation("odd", lambda left, right: (left > right) - (left < right))
        connection.execute("CREATE TABLE T (a INTEGER, b TEXT COLLATE odd, c AS (missing(a)))")
        connection.execute("CREATE INDEX by_b ON T (b)")
        connection.execute("CREATE INDEX by_call ON T (missing(a)) WHERE missing(a) > 0")
        connection.execute("INSERT INTO T (a, b) VALUES (1, 'y'), (2, 'x')")
    with closing(open_readonly(path)) as connection:
        table = describe(connection).tables["T"]
        assert [column.collation for column in table.columns] == ["BINARY", "odd", "BINARY"]
        assert [column.generated for column in table.columns] == [False, False, True]
        assert {index.name: index.columns for index in table.indexes} == {
            "by_b": ("b",),
            "by_call": (None,),
        }
        assert connection.execute("SELECT count(*) FROM T").get == 2
        assert connection.execute("SELECT a FROM T ORDER BY b LIMIT 1").get == 2
        with pytest.raises(apsw.SQLError, match="unknown function"):
            connection.execute("SELECT c FROM T").fetchall()


def test_a_tower_of_views_costs_nothing(tmp_path: Path) -> None:
    """Each view joins the one below with itself: to expand the top one takes 2**60 steps."""
    statements = ["CREATE TABLE T0 (a)"]
    statements += [f"CREATE VIEW T{n + 1} AS SELECT x.a FROM T{n} x JOIN T{n} y" for n in range(60)]
    path = make(tmp_path / "tower.db", *statements)
    with closing(open_readonly(path)) as connection:
        assert len(describe(connection).tables) == 61
        assert quick_check(connection) is None


def test_a_schema_that_says_nonsense_is_unreadable(tmp_path: Path) -> None:
    path = make(tmp_path / "p.db", "CREATE TABLE T (a)")
    run_sql(
        path,
        [
            "PRAGMA writable_schema = ON",
            "UPDATE sqlite_schema SET sql = 'CREATE TABLE T (a' || char(10)",
        ],
    )
    fault = judge(path)
    assert fault is not None
    assert "malformed database schema (T)" in fault
    assert fault.splitlines() == [fault]


def test_names_that_are_not_text_are_listed(tmp_path: Path) -> None:
    path = make(
        tmp_path / "p.db",
        "CREATE TABLE aXb (a)",
        "CREATE TABLE T (aXb)",
        """CREATE TABLE "<b>&""'
" (a)""",
    )
    path.write_bytes(path.read_bytes().replace(b"aXb", b"a\xffb"))
    with closing(open_readonly(path)) as connection:
        tables = describe(connection).tables
    assert list(tables) == ["a\\xffb", "T", "<b>&\"'\n"]
    assert tables["a\\xffb"].damage == "the name is not valid text"
    assert tables["T"].damage is not None
    assert [column.name for column in tables["<b>&\"'\n"].columns] == ["a"]


def test_a_very_long_text_is_refused_not_loaded(tmp_path: Path) -> None:
    path = make(
        tmp_path / "p.db", "CREATE TABLE T (a)", "INSERT INTO T VALUES (zeroblob(40 << 20))"
    )
    with closing(open_readonly(path)) as connection, pytest.raises(apsw.TooBigError):
        connection.execute("SELECT a FROM T").fetchall()


def test_thousands_of_tables_are_described(tmp_path: Path) -> None:
    path = make(
        tmp_path / "many.db",
        "BEGIN",
        *(f"CREATE TABLE T{number} (a INTEGER PRIMARY KEY, b)" for number in range(3_000)),
        "COMMIT",
    )
    assert "and 2,995 more" in (judge(path) or "")
