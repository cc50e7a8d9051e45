"""Opening: what is refused, with which words, and what a connection may do."""

from __future__ import annotations

import os
import socket
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import apsw
import pytest
from db_samples import contents, make, real, write_small

from ascend_ref.db.introspect import describe
from ascend_ref.db.open import (
    BudgetExceeded,
    UnreadableDatabase,
    attach_readonly,
    budget,
    open_readonly,
    quick_check,
    read_examples,
    row_bound,
)
from ascend_ref.db.side_files import SideFiles, side_files
from ascend_spec.db.model import Carrier

STATE: tuple[str, Carrier] = ("1.2.0-2026-07", "pytorch")


@pytest.fixture
def small(tmp_path: Path) -> Path:
    return make(
        tmp_path / "small.db",
        "CREATE TABLE T (a INTEGER PRIMARY KEY, b TEXT)",
        "INSERT INTO T VALUES (1, 'one'), (2, CAST(x'ff41' AS TEXT)), (3, x'00ff'), (4, 5)",
    )


def refusal(path: Path) -> str:
    with pytest.raises(UnreadableDatabase) as caught:
        open_readonly(path)
    said = str(caught.value)
    assert said.splitlines() == [said]
    assert said == f"{path}: {caught.value.reason}"
    assert "; expected " in said
    return caught.value.reason


def test_what_is_no_regular_file_is_refused_unopened(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    with closing(socket.socket(socket.AF_UNIX)) as server:
        server.bind(str(tmp_path / "socket"))
        assert refusal(tmp_path / "socket") == "a socket; expected a regular file"
    assert refusal(fifo) == "a FIFO; expected a regular file"
    assert refusal(tmp_path) == "a directory; expected a regular file"
    assert refusal(Path("/dev/zero")) == "a character device; expected a regular file"
    assert refusal(tmp_path / "absent") == "no such file; expected a SQLite database"


def test_a_file_without_read_permission_is_refused(tmp_path: Path, small: Path) -> None:
    small.chmod(0)
    try:
        if os.access(small, os.R_OK):
            pytest.skip("this user may read everything")
        assert refusal(small) == "no permission to read; expected a readable file"
    finally:
        small.chmod(stat.S_IRUSR | stat.S_IWUSR)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "an empty file of 0 bytes; expected a SQLite database"),
        (b"hello", "starts with b'hello'; expected a SQLite database, b'SQLite format 3\\x00'"),
        (b"SQLite for", "truncated to 10 bytes; expected at least the 100 byte header"),
        (b"SQLite format 3\0" * 10, "page size 21329; expected a power of two from 512 to 65536"),
    ],
)
def test_what_is_no_database_is_named(tmp_path: Path, content: bytes, reason: str) -> None:
    path = tmp_path / "some.db"
    path.write_bytes(content)
    assert refusal(path) == reason


def test_an_impossible_header_is_named(small: Path) -> None:
    sound = small.read_bytes()
    for place, value, said in (
        (18, b"\x03", "file format versions 3 and 1"),
        (21, b"\x41", "bytes 20 to 23 are (0, 65, 32, 32)"),
        (56, b"\0\0\0\x09", "text encoding 9"),
    ):
        small.write_bytes(sound[:place] + value + sound[place + len(value) :])
        assert refusal(small).startswith(said)


def test_a_name_with_a_line_end_stays_on_one_line(tmp_path: Path) -> None:
    with pytest.raises(UnreadableDatabase) as caught:
        open_readonly(tmp_path / "a\nb\udcff.db")
    assert str(caught.value).endswith("a\\nb\\xff.db: no such file; expected a SQLite database")


@pytest.mark.parametrize("name", ["a?b.db", "a#b.db", "a%41.db", "a b'\".db", "ü.db", "\udcff.db"])
def test_any_file_name_can_be_opened(tmp_path: Path, small: Path, name: str) -> None:
    path = small.rename(tmp_path / name)
    with closing(open_readonly(path)) as connection:
        assert connection.execute("SELECT count(*) FROM T").get == 4


def test_a_file_cut_at_any_page_is_called_truncated(tmp_path: Path) -> None:
    whole = write_small(tmp_path / "whole.db", *STATE).read_bytes()
    pages = len(whole) // 4096
    cut = tmp_path / "cut.db"
    for kept in range(1, pages):
        cut.write_bytes(whole[: kept * 4096])
        assert refusal(cut).startswith(f"truncated to {kept} of {pages} pages")
    for length in (100, 4095, 4097, len(whole) - 1):
        cut.write_bytes(whole[:length])
        assert refusal(cut).startswith("truncated to ")


def test_a_database_without_the_page_count_in_its_header_is_measured(small: Path) -> None:
    """Writers before SQLite 3.7 did not keep the page count: change counter and version differ."""
    sound = small.read_bytes()
    small.write_bytes(sound[:28] + b"\0\0\0\0" + sound[32:])
    with closing(open_readonly(small)) as connection:
        assert connection.execute("SELECT count(*) FROM T").get == 4
    small.write_bytes(sound[:28] + b"\0\0\0\0" + sound[32:-1])
    assert "whole pages" in refusal(small)


def test_reading_leaves_no_trace(tmp_path: Path, small: Path) -> None:
    before = contents(tmp_path)
    with closing(open_readonly(small)) as connection:
        describe(connection)
        quick_check(connection)
        connection.execute("CREATE TEMP TABLE work AS SELECT * FROM T")
        connection.execute("SELECT CAST(b AS BLOB) FROM T ORDER BY b").fetchall()
    assert contents(tmp_path) == before


def test_a_real_profile_in_a_folder_that_cannot_be_written_opens() -> None:
    path = real("level1_rank0/ascend_pytorch_profiler_0.db")
    before = contents(path.parent)
    with closing(open_readonly(path)) as connection:
        assert quick_check(connection) is None
    assert contents(path.parent) == before
    assert not side_files(path)


def test_a_log_left_behind_is_measured_and_not_read(tmp_path: Path) -> None:
    path = tmp_path / "live.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("CREATE TABLE T (a)")
        writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        writer.execute("INSERT INTO T VALUES (1)")
        folder = tmp_path / "copy"
        folder.mkdir()
        for name in ("live.db", "live.db-wal"):
            (folder / name).write_bytes((tmp_path / name).read_bytes())
    copy = folder / "live.db"
    before = contents(folder)
    found = side_files(copy)
    assert found
    assert found.wal_frames == 1
    with closing(open_readonly(copy)) as connection:
        assert connection.execute("SELECT count(*) FROM T").get == 0
        assert describe(connection).journal_mode == "wal"
    assert contents(folder) == before


def test_a_log_of_another_round_or_without_commit_holds_nothing(tmp_path: Path) -> None:
    header = bytes.fromhex("377f0682 002de218 00001000 00000000 aaaaaaaa bbbbbbbb") + b"\0" * 8
    uncommitted = bytes.fromhex("00000001 00000000 aaaaaaaa bbbbbbbb") + b"\0" * (8 + 4096)
    older = bytes.fromhex("00000001 00000001 aaaaaaa9 bbbbbbbb") + b"\0" * (8 + 4096)
    wal = tmp_path / "x.db-wal"
    for content in (b"", b"rubbish", header, header + uncommitted, header + older):
        wal.write_bytes(content)
        assert side_files(tmp_path / "x.db") == SideFiles()


def test_a_hot_journal_is_told_and_not_rolled_back(tmp_path: Path, small: Path) -> None:
    journal = small.with_name("small.db-journal")
    journal.write_bytes(b"\0" * 512)
    assert not side_files(small)
    journal.write_bytes(bytes.fromhex("d9d505f920a163d7") + b"\xff" * 504)
    before = contents(tmp_path)
    assert side_files(small) == SideFiles(hot_journal_bytes=512)
    with closing(open_readonly(small)) as connection:
        assert connection.execute("SELECT count(*) FROM T").get == 4
    assert contents(tmp_path) == before


def test_a_fifo_in_place_of_a_log_does_not_block(tmp_path: Path, small: Path) -> None:
    os.mkfifo(tmp_path / "small.db-wal")
    assert side_files(small) == SideFiles()


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM T",
        "CREATE TABLE U (a)",
        "DROP TABLE T",
        "ATTACH ':memory:' AS other",
        "PRAGMA journal_mode = WAL",
        "PRAGMA writable_schema = ON",
        "VACUUM INTO 'copy.db'",
        "SELECT load_extension('x')",
        "SELECT random()",
        'SELECT "text in double quotes"',
    ],
)
def test_a_connection_does_nothing_but_read(small: Path, statement: str) -> None:
    with closing(open_readonly(small)) as connection, pytest.raises(apsw.Error):
        connection.execute(statement).fetchall()


def test_temporary_tables_and_indexes_can_be_used(small: Path) -> None:
    with closing(open_readonly(small)) as connection:
        connection.execute("CREATE TEMP TABLE work (a INTEGER PRIMARY KEY, b)")
        connection.execute("INSERT INTO temp.work SELECT a, a + 1 FROM T")
        connection.execute("CREATE INDEX temp.work_b ON work (b)")
        connection.execute("DELETE FROM temp.work WHERE a = 1")
        assert connection.execute("SELECT count(*) FROM temp.work").get == 3
        connection.execute("DROP TABLE temp.work")


def test_a_second_database_is_attached_through_the_same_door(tmp_path: Path, small: Path) -> None:
    other = make(tmp_path / "o'?.db", "CREATE TABLE U (a)", "INSERT INTO U VALUES (7)")
    with closing(open_readonly(small)) as connection:
        attach_readonly(connection, other, "other")
        assert connection.execute("SELECT a FROM other.U").get == 7
        with pytest.raises(apsw.Error):
            connection.execute("DELETE FROM other.U")
        with pytest.raises(apsw.Error):
            connection.execute("ATTACH 'file:x?mode=memory' AS third")
        with pytest.raises(UnreadableDatabase):
            attach_readonly(connection, tmp_path, "folder")
        with pytest.raises(ValueError, match="expected letters"):
            attach_readonly(connection, other, 'a"b')


def test_an_endless_query_meets_its_budget(small: Path) -> None:
    endless = (
        "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
    )
    with closing(open_readonly(small)) as connection:
        with (
            pytest.raises(BudgetExceeded, match="stopped after 200,000 operations"),
            budget(connection, 200_000),
        ):
            connection.execute(endless).fetchall()
        with budget(connection, 100 * row_bound(connection)):
            assert connection.execute("SELECT count(*) FROM T").get == 4


def test_examples_are_safe_to_show(small: Path) -> None:
    with closing(open_readonly(small)) as connection:
        with pytest.raises(UnicodeDecodeError):
            connection.execute("SELECT b FROM T").fetchall()
        found = read_examples(connection, "SELECT a, b FROM T", columns=2, rows=9)
        assert found == [(1, "one"), (2, "\ufffdA"), (3, "x'00ff'"), (4, "5")]
        (row,) = read_examples(
            connection, "SELECT ?, char(10), NULL, 1.5", ("é" * 100,), columns=4, rows=1
        )
        assert row == ("é" * 79 + "…", "\\n", None, 1.5)


def test_examples_of_a_utf_16_database_are_decoded(tmp_path: Path) -> None:
    path = make(
        tmp_path / "wide.db",
        "PRAGMA encoding = 'UTF-16le'",
        "CREATE TABLE T (a)",
        "INSERT INTO T VALUES ('wörd')",
    )
    with closing(open_readonly(path)) as connection:
        assert describe(connection).encoding == "UTF-16le"
        assert read_examples(connection, "SELECT a FROM T", columns=1, rows=1) == [("wörd",)]
