"""Schemas that try tricks: what stands in them is reported, never run."""

from __future__ import annotations

import random
import struct
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import apsw
import pytest
from profiles import (
    NEWEST,
    OLDEST,
    change,
    condemned,
    content,
    edit_schema,
    judge,
    places,
    readable,
    rendered,
    specimen,
)
from slices import few, some

from ascend_spec import catalog

TABLES = catalog().at(NEWEST, "pytorch").tables
TASK_COLUMNS = ", ".join(TABLES["TASK"].columns)
TASK_DDL = ", ".join(
    f"{column.name} {column.declared}" for column in TABLES["TASK"].columns.values()
)
NUMBERS = "VALUES (1) UNION ALL SELECT i + 1 FROM n LIMIT 2000"
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"


def replaced(ddl: str) -> tuple[str, ...]:
    """Statements that put something else in the place of TASK, with its rows where it takes any."""
    return (
        "DROP INDEX TaskIndex",
        "ALTER TABLE TASK RENAME TO old",
        ddl,
        *((f"INSERT INTO TASK ({TASK_COLUMNS}) SELECT * FROM old",) if "VIEW" not in ddl else ()),
        "DROP TABLE old",
    )


TASK_REPLACED = {
    "endless view": replaced(f"CREATE VIEW TASK AS {ENDLESS} SELECT i AS startNs FROM n"),
    "endless view of all columns": replaced(
        f"CREATE VIEW TASK({TASK_COLUMNS}) AS {ENDLESS} SELECT "
        + ", ".join("i" for _ in TABLES["TASK"].columns)
        + " FROM n"
    ),
    "view of itself": replaced("CREATE VIEW TASK AS SELECT * FROM TASK"),
    "view of large texts": replaced(
        "CREATE VIEW TASK AS SELECT hex(zeroblob(500000000)) AS startNs"
    ),
    "WITHOUT ROWID": replaced(
        f"CREATE TABLE TASK({TASK_DDL}, PRIMARY KEY(startNs, globalTaskId)) WITHOUT ROWID"
    ),
    "column rowid": replaced(f"CREATE TABLE TASK({TASK_DDL}, rowid TEXT)"),
    "columns rowid, oid and _rowid_": replaced(
        f"CREATE TABLE TASK({TASK_DDL}, rowid TEXT, oid BLOB, _rowid_ INTEGER)"
    ),
    "full-text index": replaced(f"CREATE VIRTUAL TABLE TASK USING fts5({TASK_COLUMNS})"),
    "spatial index": (
        "DROP TABLE TASK",
        "CREATE VIRTUAL TABLE TASK USING rtree(id, startNs, endNs)",
    ),
}


@pytest.mark.parametrize("trick", few(TASK_REPLACED, every=3))
def test_what_stands_in_place_of_a_table_is_named_and_not_read(tmp_path: Path, trick: str) -> None:
    path = change(specimen(tmp_path), *TASK_REPLACED[trick])
    file = readable(path)
    assert "TASK" in places(file, "DB115")
    assert file.seen is not None
    assert "TASK" not in file.seen.rows
    rendered(file)


def test_every_table_as_an_endless_view_is_named(tmp_path: Path) -> None:
    path = specimen(tmp_path)
    for table in TABLES.values():
        if table.name != "TASK":
            change(path, f"DROP TABLE {table.name}", endless(table.name))
    file = readable(path)
    assert file.seen is not None
    known = catalog().at(file.seen.revision, "pytorch").tables
    assert places(file, "DB115").keys() == known.keys() - {"TASK"}
    rendered(file)


def endless(table: str) -> str:
    columns = TABLES[table].columns
    wanted = ", ".join("i" for _ in columns)
    return f"CREATE VIEW {table}({', '.join(columns)}) AS {ENDLESS} SELECT {wanted} FROM n"


def test_the_command_does_not_run_an_endless_view(tmp_path: Path) -> None:
    path = change(specimen(tmp_path), *TASK_REPLACED["endless view of all columns"])
    assert "TASK is a view" in condemned(path).decode()


HARMLESS = {
    "trigger": ("CREATE TRIGGER TASK AFTER UPDATE ON STRING_IDS BEGIN DELETE FROM TASK; END",),
    "trigger on a view": (
        "CREATE VIEW Overview AS SELECT 1 AS one",
        f"CREATE TRIGGER CANN_API INSTEAD OF INSERT ON Overview BEGIN SELECT 1 FROM "
        f"({ENDLESS} SELECT i FROM n); END",
    ),
    "index on an expression": (
        "CREATE INDEX Slow ON TASK(startNs, length(hex(zeroblob(1000 + abs(startNs) % 7))))",
    ),
    "partial index": ("CREATE INDEX Part ON TASK(startNs) WHERE typeof(endNs) = 'text'",),
    "check constraint": (
        "ALTER TABLE STRING_IDS ADD COLUMN more TEXT CHECK (length(hex(zeroblob(9000))) > 0)",
    ),
    "default that fails": ("CREATE TABLE Later(a DEFAULT (abs(-9223372036854775807 - 1)))",),
    "foreign keys in a circle": (
        "CREATE TABLE A(id INTEGER PRIMARY KEY REFERENCES B(id))",
        "CREATE TABLE B(id INTEGER PRIMARY KEY REFERENCES A(id))",
    ),
    "names of our own": (
        "CREATE TABLE keys_0(id)",
        "CREATE TABLE profiler(id)",
        "CREATE TABLE counted(row)",
        "CREATE TABLE sqlean_x(ascend_is_utf8)",
    ),
    "misleading statistics": (
        "ANALYZE",
        "UPDATE sqlite_stat1 SET stat = '1 1 1'",
        "INSERT INTO sqlite_stat1 VALUES ('TASK', 'TaskIndex', '999999999999 1 1 unordered')",
        "INSERT INTO sqlite_stat1 VALUES ('TASK', NULL, 'rubbish')",
    ),
}


@pytest.mark.parametrize("trick", few(HARMLESS, every=3))
def test_what_only_a_writer_would_run_does_not_disturb(tmp_path: Path, trick: str) -> None:
    file = readable(change(specimen(tmp_path), *HARMLESS[trick]))
    graver = [finding for finding in file.findings if finding.verdict == "violation"]
    assert graver == []
    rendered(file)


COMPUTED = {
    "long": "length(hex(zeroblob(90000000)))",
    "slow": "length(hex(zeroblob(9000000)))",
    "failing": "abs(startNs * 0 - 9223372036854775807 - 1)",
    "harmless": "startNs + 1",
}


@pytest.mark.parametrize("stored", ["VIRTUAL", "STORED"])
@pytest.mark.parametrize("expression", COMPUTED)
def test_columns_computed_by_the_file_are_not_run(
    tmp_path: Path, expression: str, stored: str
) -> None:
    path = specimen(tmp_path)
    ddl = f"CREATE TABLE more(startNs INTEGER, sum INTEGER AS/**/({COMPUTED['harmless']}) {stored})"
    change(path, ddl, f"WITH RECURSIVE n(i) AS ({NUMBERS}) INSERT INTO more SELECT i FROM n")
    edit_schema(
        path,
        "UPDATE sqlite_schema SET sql = replace(sql, 'startNs + 1', "
        f"'{COMPUTED[expression]}') WHERE name = 'more'",
    )
    started = time.monotonic()
    file = judge(path)
    assert time.monotonic() - started < 2
    assert file.unreadable == f"{path}: more.sum is a generated column; expected stored columns"


def spoil(sql: str) -> str:
    return f"UPDATE sqlite_schema SET sql = {sql} WHERE name = 'TASK'"


SPOILT_SCHEMAS = {
    "empty": spoil("''"),
    "NULL": spoil("NULL"),
    "number": spoil("17"),
    "blob": spoil("x'00ff00ff'"),
    "not SQL": spoil("'CREATE TABLE TASK(' || hex(randomblob(100))"),
    "invalid UTF-8": spoil("CAST(x'435245415445205441424c45205441534b28ff29' AS TEXT)"),
    "another statement": spoil("'DELETE FROM TASK'"),
    "another name": spoil("replace(sql, 'TASK', 'JOB')"),
    "unknown module": spoil("'CREATE VIRTUAL TABLE TASK USING evil(1)'"),
    "unknown collation": spoil("replace(sql, 'startNs INTEGER', 'startNs INTEGER COLLATE evil')"),
    "deep expression": spoil(
        "replace(sql, 'startNs INTEGER', 'startNs INTEGER CHECK (' || "
        "replace(hex(zeroblob(400)), '00', '(') || '1' || "
        "replace(hex(zeroblob(400)), '00', ')') || ')')"
    ),
    "unknown function": spoil("replace(sql, 'endNs INTEGER', 'endNs INTEGER AS (evil(startNs))')"),
    "root page 0": "UPDATE sqlite_schema SET rootpage = 0 WHERE name = 'TASK'",
    "root page 1": "UPDATE sqlite_schema SET rootpage = 1 WHERE name = 'TASK'",
    "root page negative": "UPDATE sqlite_schema SET rootpage = -5 WHERE name = 'TASK'",
    "root page far away": "UPDATE sqlite_schema SET rootpage = 2147483646 WHERE name = 'TASK'",
    "root page is text": "UPDATE sqlite_schema SET rootpage = 'x' WHERE name = 'TASK'",
    "root page of another": "UPDATE sqlite_schema SET rootpage = "
    "(SELECT rootpage FROM sqlite_schema WHERE name = 'CANN_API') WHERE name = 'TASK'",
    "root page of an index": "UPDATE sqlite_schema SET rootpage = "
    "(SELECT rootpage FROM sqlite_schema WHERE name = 'TaskIndex') WHERE name = 'TASK'",
    "type is rubbish": "UPDATE sqlite_schema SET type = 'evil' WHERE name = 'TASK'",
    "type is index": "UPDATE sqlite_schema SET type = 'index' WHERE name = 'TASK'",
    "name is invalid UTF-8": "UPDATE sqlite_schema SET name = CAST(x'54ff' AS TEXT), "
    "tbl_name = CAST(x'54ff' AS TEXT) WHERE name = 'TASK'",
    "name holds NUL": "UPDATE sqlite_schema SET name = CAST(x'5400ff' AS TEXT) WHERE name = 'TASK'",
    "the same name twice": "UPDATE sqlite_schema SET name = 'TASK', tbl_name = 'TASK' "
    "WHERE name = 'CANN_API'",
    "the same name in another case": "UPDATE sqlite_schema SET name = 'task', tbl_name = 'task', "
    "sql = replace(sql, 'CANN_API', 'task') WHERE name = 'CANN_API'",
    "reserved name": "UPDATE sqlite_schema SET name = 'sqlite_evil', tbl_name = 'sqlite_evil', "
    "sql = replace(sql, 'TASK', 'sqlite_evil') WHERE name = 'TASK'",
    "everything deleted": "DELETE FROM sqlite_schema",
}


@pytest.mark.parametrize("damage", some(SPOILT_SCHEMAS, every=3))
def test_a_spoilt_schema_gives_a_report_or_a_refusal(tmp_path: Path, damage: str) -> None:
    path = specimen(tmp_path)
    edit_schema(path, SPOILT_SCHEMAS[damage])
    file = judge(path)
    assert file.unreadable or file.findings
    rendered(file)


def test_an_index_without_its_rows_hides_nothing(tmp_path: Path) -> None:
    """quick_check does not compare index and table; whoever reads through the index sees no row."""
    path = change(
        specimen(tmp_path), "CREATE TABLE empty(a, b)", "CREATE INDEX other ON empty(a, b)"
    )
    edit_schema(
        path,
        "UPDATE sqlite_schema SET rootpage = "
        "(SELECT rootpage FROM sqlite_schema WHERE name = 'other') WHERE name = 'TaskIndex'",
        "DELETE FROM sqlite_schema WHERE name IN ('other')",
    )
    file = judge(path)
    assert file.unreadable or any(finding.verdict == "violation" for finding in file.findings)


@pytest.mark.exhaustive
def test_thousands_of_tables_are_judged(tmp_path: Path) -> None:
    path = specimen(tmp_path)
    statements = [f"CREATE TABLE Foreign{number}(a, b)" for number in range(2_500)]
    statements += [f"CREATE VIEW View{number} AS SELECT 1" for number in range(1_500)]
    statements += [f"CREATE INDEX More{number} ON TASK(endNs)" for number in range(1_000)]
    file = readable(change(path, *statements))
    assert len(places(file, "DB102")) == 2_500
    rendered(file)


@pytest.mark.exhaustive
def test_the_command_judges_thousands_of_tables(tmp_path: Path) -> None:
    path = specimen(tmp_path)
    change(path, *(f"CREATE TABLE {table}{number}(a)" for table in TABLES for number in range(86)))
    change(path, "UPDATE TASK SET taskType = 999999999")
    assert "DB208 orphan-string-id" in condemned(path).decode()


def test_two_thousand_columns_are_judged(tmp_path: Path) -> None:
    path = specimen(tmp_path)
    wide = ", ".join(f"c{number} INTEGER" for number in range(1_989))
    change(path, *replaced(f"CREATE TABLE TASK({TASK_DDL}, {wide})"))
    change(path, f"CREATE TABLE wide({', '.join(f'c{number}' for number in range(2_000))})")
    file = readable(path)
    assert len(places(file, "DB105")) == 1_989
    rendered(file)


ODD_NAMES = [
    "\x1b[31mred",
    "<script>alert(1)</script>",
    "‮txet⁦",
    "a\nb\r\tc",
    "pipe|`tick`|",
    "[bold]rich[/bold]",
    "::error file=x::",
    "%0A%0D",
    "\ud800".encode("utf-8", "surrogatepass").decode("utf-8", "replace"),
    "quote\"'",
    "",
    " ",
    "x" * 100_000,
    "😀" * 3_000,
    "main.TASK",
    "SELECT",
]


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def test_names_of_any_text_are_shown_safely(tmp_path: Path) -> None:
    path = specimen(tmp_path)
    change(
        path,
        *(f"CREATE TABLE {quoted(name)}(a)" for name in ODD_NAMES),
        *(f"ALTER TABLE TASK ADD COLUMN {quoted(name)}" for name in ODD_NAMES),
        *(f"CREATE INDEX {quoted('i' + name)} ON TASK({quoted(name)})" for name in ODD_NAMES),
        *(f"CREATE VIEW {quoted('v' + name)} AS SELECT 1" for name in ODD_NAMES),
    )
    file = readable(path)
    assert len(places(file, "DB102")) == len(ODD_NAMES)
    assert len(places(file, "DB105")) == len(ODD_NAMES)
    rendered(file)


def test_the_command_shows_names_of_any_text_safely(tmp_path: Path) -> None:
    path = specimen(tmp_path)
    change(
        path, *(f"CREATE TABLE {quoted(name)}(a)" for name in ODD_NAMES), "DELETE FROM STRING_IDS"
    )
    lines = condemned(path).decode().split("\n")
    assert [line for line in lines if not line.isprintable()] == []


@pytest.mark.parametrize("encoding", some(["UTF-16le", "UTF-16be"], every=3))
@pytest.mark.parametrize("carrier", ["pytorch", "msprof", "analysis"])
def test_databases_in_utf_16_are_judged(tmp_path: Path, encoding: str, carrier: str) -> None:
    source = specimen(tmp_path / "utf8", carrier)  # type: ignore[arg-type]
    path = tmp_path / source.name
    with closing(apsw.Connection(str(source))) as old, closing(apsw.Connection(str(path))) as new:
        new.execute(f"PRAGMA encoding = '{encoding}'; PRAGMA synchronous = OFF; BEGIN")
        for kind, name, sql in old.execute(
            "SELECT type, name, sql FROM sqlite_schema ORDER BY type DESC"
        ):
            new.execute(sql)
            if kind == "table":
                rows = list(old.execute(f"SELECT * FROM {name}"))
                marks = ", ".join("?" for _ in (rows or [()])[0])
                if rows:
                    new.executemany(f"INSERT INTO {name} VALUES ({marks})", rows)
        new.execute("COMMIT")
    file = readable(path)
    assert [finding.rule for finding in file.findings if finding.verdict == "violation"] == [
        "DB004"
    ]
    rendered(file)


def test_unpaired_surrogates_in_utf_16_are_judged(tmp_path: Path) -> None:
    path = tmp_path / "msprof_1.db"
    with closing(apsw.Connection(str(path))) as new:
        new.execute("PRAGMA encoding = 'UTF-16le'")
        new.execute("CREATE TABLE STRING_IDS(id INTEGER PRIMARY KEY,value TEXT)")
        new.execute("CREATE TABLE META_DATA(name TEXT, value TEXT)")
        new.execute("CREATE TABLE ENUM_API_TYPE(id INTEGER PRIMARY KEY,name TEXT)")
        for table in ("STRING_IDS", "ENUM_API_TYPE"):
            new.execute(
                f"INSERT INTO {table} VALUES "
                "(1, CAST(x'00d80000' AS TEXT)), (2, CAST(x'61' AS TEXT))"
            )
        new.execute("INSERT INTO META_DATA VALUES ('SCHEMA_VERSION', CAST(x'00dc' AS TEXT))")
    rendered(readable(path))


# Pages that point at each other


def cycle(path: Path, root: int, page_size: int) -> None:
    """Let every child pointer of an interior page name the page itself."""
    data = bytearray(path.read_bytes())
    start = (root - 1) * page_size
    head = start + (100 if root == 1 else 0)
    assert data[head] == 5, "an interior page of a table"
    (cells,) = struct.unpack_from(">H", data, head + 3)
    pointers = struct.unpack_from(f">{cells}H", data, head + 12)
    for offset in (*(start + pointer for pointer in pointers), head + 8):
        struct.pack_into(">I", data, offset, root)
    path.write_bytes(data)


def test_a_table_that_is_its_own_child_is_refused(tmp_path: Path) -> None:
    path = specimen(tmp_path)
    with closing(apsw.Connection(str(path))) as connection:
        query = "SELECT rootpage FROM sqlite_schema WHERE name = 'STRING_IDS'"
        root = connection.execute(query).get
    cycle(path, root, 4096)
    assert judge(path).unreadable


def test_a_schema_that_is_its_own_child_is_refused(tmp_path: Path) -> None:
    path = specimen(tmp_path)
    cycle(path, 1, 4096)
    assert judge(path).unreadable


@pytest.mark.parametrize("page_size", [512, 1024, 65536])
def test_pages_of_any_size_are_judged(tmp_path: Path, page_size: int) -> None:
    path = specimen(tmp_path)
    connection = apsw.Connection(str(path))
    connection.execute(f"PRAGMA page_size = {page_size}; PRAGMA auto_vacuum = FULL; VACUUM")
    connection.close()
    assert readable(path).findings == ()


Header = Callable[[bytearray], None]


def put(offset: int, *values: int) -> Header:
    def write(data: bytearray) -> None:
        data[offset : offset + len(values)] = bytes(values)

    return write


HEADERS: dict[str, Header] = {
    "format version 7": put(18, 7, 7),
    "write-ahead mode": put(18, 2, 2),
    "reserved 255 bytes": put(20, 255),
    "reserved 32 bytes": put(20, 32),
    "free list is page 1": put(32, 0, 0, 0, 1),
    "free list beyond the end": put(32, 0, 255, 255, 255),
    "free pages without a list": put(36, 0, 0, 0, 9),
    "schema format 9": put(44, 0, 0, 0, 9),
    "schema format 0": put(44, 0, 0, 0, 0),
    "auto-vacuum root 3": put(52, 0, 0, 0, 3),
    "encoding 0": put(56, 0, 0, 0, 0),
    "encoding 2": put(56, 0, 0, 0, 2),
    "encoding 77": put(56, 0, 0, 0, 77),
    "user version": put(60, 255, 255, 255, 255),
    "application id": put(68, 71, 80, 75, 71),
    "page 1 is a leaf of an index": put(100, 10),
    "page 1 has 65,535 cells": put(103, 255, 255),
}


@pytest.mark.parametrize("damage", HEADERS)
def test_odd_headers_give_a_report_or_a_refusal(tmp_path: Path, damage: str) -> None:
    path = specimen(tmp_path)
    data = bytearray(path.read_bytes())
    HEADERS[damage](data)
    path.write_bytes(data)
    file = judge(path)
    assert file.unreadable or file.seen
    rendered(file)


def test_pages_swapped_at_random_give_a_report_or_a_refusal(tmp_path: Path) -> None:
    whole = content("analysis", OLDEST)
    pages = [whole[start : start + 4096] for start in range(0, len(whole), 4096)]
    path = tmp_path / "analysis.db"
    shuffle = random.Random(3)
    for _ in range(20):
        rest = pages[1:]
        shuffle.shuffle(rest)
        path.write_bytes(pages[0] + b"".join(rest))
        file = judge(path)
        assert file.unreadable or file.seen
