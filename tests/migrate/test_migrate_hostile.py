"""Files that nobody should have written: migrated, or refused in one line; never half."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from plain_rounds import dump, lost, there_and_back

from ascend_ref.cli import main
from ascend_ref.db.header import UnreadableDatabase
from ascend_ref.migrate.account import Migrated
from ascend_ref.migrate.database import migrate_database
from ascend_simulator.specimen.folder import write_msprof_folder
from ascend_spec import catalog

OLD = "1.0.0-2025-01"


@pytest.fixture
def database(tmp_path: Path) -> Path:
    write_msprof_folder(tmp_path / "PROF", OLD)
    (found,) = (tmp_path / "PROF").rglob("*.db")
    return found


def edit(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        for statement in statements:
            db.execute(statement)


def up(path: Path) -> tuple[Migrated, Path]:
    target = path.with_name("made.db")
    target.unlink(missing_ok=True)
    return migrate_database(path, catalog().revision("1.2.0"), target), target


def effects(account: Migrated) -> set[tuple[str, str]]:
    return {(one.effect, one.place) for one in account.entries}


def test_what_runs_code_is_left_out_and_never_run(database: Path) -> None:
    edit(
        database,
        "CREATE VIEW looking AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
        "SELECT * FROM n",
        "CREATE TRIGGER doing AFTER INSERT ON NPU_INFO BEGIN DELETE FROM TASK; END",
        "CREATE INDEX mine ON TASK (streamId)",
    )
    before = dump(database)
    account, made = up(database)
    assert {("left-out", "looking"), ("left-out", "TASK mine")} <= effects(account)
    assert len(dump(made)["TASK"][1]) == len(before["TASK"][1])
    assert account.lost == 0
    with closing(sqlite3.connect(made)) as db:
        kinds = {row[0] for row in db.execute("SELECT type FROM sqlite_schema")}
    assert kinds == {"table", "index"}


def test_generated_columns_are_refused(database: Path) -> None:
    edit(database, "ALTER TABLE NPU_INFO ADD COLUMN twice INTEGER AS (id * 2) VIRTUAL")
    with pytest.raises(UnreadableDatabase, match=r"NPU_INFO.twice is a generated column"):
        up(database)


def test_foreign_tables_and_columns_are_kept_whatever_they_are_called(
    database: Path, tmp_path: Path
) -> None:
    edit(
        database,
        'CREATE TABLE "a ""quoted"" <b>table</b>" ("select" "BLOB;--", b, '
        'PRIMARY KEY (b, "select")) WITHOUT ROWID',
        """INSERT INTO "a ""quoted"" <b>table</b>" VALUES (x'00ff', 9223372036854775807)""",
        'ALTER TABLE TASK ADD COLUMN "dépth" FLOAT DEFAULT 7',
        "CREATE TABLE other (x TEXT UNIQUE, y INTEGER PRIMARY KEY DESC)",
        "INSERT INTO other VALUES ('01', 5), (NULL, 6)",
    )
    there, again, back = there_and_back(database, "1.2.0", tmp_path)
    assert {("kept", "TASK.dépth"), ("kept", 'a "quoted" <b>table</b>')} <= effects(there)
    assert there.lost == again.lost == 0
    assert dump(back) == dump(database)


def test_cells_of_other_types_are_not_touched(database: Path, tmp_path: Path) -> None:
    edit(
        database,
        "UPDATE TASK SET streamId = 'x', taskId = x'ff', modelId = NULL, contextId = 1.5, "
        "connectionId = -9223372036854775808 WHERE rowid = 1",
        "UPDATE STRING_IDS SET value = CAST(x'ff4100' AS TEXT) WHERE rowid = 3",
        "UPDATE COMMUNICATION_TASK_INFO SET linkType = 'PCIE', dataType = 1e300 WHERE rowid = 1",
        "UPDATE ENUM_MODULE SET name = CAST(x'ff' AS TEXT) WHERE id = 7",
    )
    there, again, back = there_and_back(database, "1.2.0", tmp_path)
    assert lost((there, again)) == {"ENUM_MODULE": 1}
    before, after = dump(database), dump(back)
    for name in ("TASK", "STRING_IDS", "COMMUNICATION_TASK_INFO"):
        assert before[name] == after[name]


def test_texts_that_are_no_numbers_are_counted(database: Path, tmp_path: Path) -> None:
    """hostUid became TEXT in 2025: what no INTEGER can hold stays text, or does not come back."""
    uids = ["12", "-9223372036854775808", "18446744073709551615", "007", "node", "1e3", ""]
    edit(
        database,
        "DELETE FROM HOST_INFO",
        *(f"INSERT INTO HOST_INFO VALUES ('{uid}', 'h')" for uid in uids),
    )
    target = tmp_path / "down.db"
    account = migrate_database(database, catalog().revision("1.0.0-2024-10"), target)
    values = [row[0][1] for row in dump(target)["HOST_INFO"][1]]
    assert values[:3] == [12, -(2**63), -1]  # the exporter bound unsigned numbers as signed ones
    assert values[4] == b"node"
    assert lost([account])["HOST_INFO.hostUid"] == 5


def test_an_enum_table_of_nonsense_is_no_loop_over_rows(database: Path) -> None:
    edit(
        database,
        "DROP TABLE ENUM_MODULE",
        "CREATE TABLE ENUM_MODULE (id INTEGER PRIMARY KEY, name TEXT)",
        "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 30000) "
        "INSERT INTO ENUM_MODULE SELECT i, 'm' || i FROM n",
    )
    account, _ = up(database)
    assert lost([account])["ENUM_MODULE"] == 20_001


@pytest.mark.exhaustive
def test_a_join_without_end_does_not_apply(database: Path) -> None:
    """Each task of each operator under one number: 4,000,000,000 pairs."""
    edit(
        database,
        "DELETE FROM TASK",
        "DELETE FROM COMMUNICATION_TASK_INFO",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40000) "
        "INSERT INTO TASK (startNs, endNs, deviceId, globalTaskId) SELECT i, i, 0, 5 FROM n",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000) "
        "INSERT INTO COMMUNICATION_TASK_INFO (globalTaskId, opId) SELECT 5, i FROM n",
    )
    account, made = up(database)
    words = {one.place: one.words for one in account.entries}
    assert words["COMMUNICATION_OP.deviceId"] == "0"
    assert len(dump(made)["TASK"][1]) == 40_000


@pytest.mark.parametrize("encoding", ["UTF-16le", "UTF-16be"])
def test_other_encodings_stay(tmp_path: Path, encoding: str) -> None:
    source = tmp_path / "msprof_20260101000000.db"
    schema = catalog().at(OLD, "msprof")
    edit(
        source,
        f"PRAGMA encoding = '{encoding}'",
        "CREATE TABLE ENUM_HCCL_LINK_TYPE (id INTEGER PRIMARY KEY, name TEXT)",
        *(
            f"INSERT INTO ENUM_HCCL_LINK_TYPE VALUES ({number}, '{name}')"
            for number, name in schema.enums["ENUM_HCCL_LINK_TYPE"].items()
        ),
        "CREATE TABLE META_DATA (name TEXT, value TEXT)",
        "INSERT INTO META_DATA VALUES ('SCHEMA_VERSION', '1.0.0')",
    )
    account, made = up(source)
    assert ("converted", "META_DATA.value") in effects(account)
    with closing(sqlite3.connect(made)) as db:
        assert db.execute("PRAGMA encoding").fetchone() == (encoding,)
        assert db.execute("SELECT value FROM META_DATA").fetchall() == [("1.2.0",)]
        names = dict(db.execute("SELECT id, name FROM ENUM_HCCL_LINK_TYPE"))
    assert names == schema_names("ENUM_HCCL_LINK_TYPE")


def schema_names(enum: str) -> dict[int, str]:
    return dict(catalog().at("1.2.0", "msprof").enums[enum])


def test_what_an_unfinished_writer_left_is_stated_and_not_copied(
    database: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "open" / database.name
    copy.parent.mkdir()
    with closing(sqlite3.connect(database, isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA wal_autocheckpoint = 0")
        db.execute("DELETE FROM TASK")
        for suffix in ("", "-wal", "-shm"):
            shutil.copyfile(f"{database}{suffix}", f"{copy}{suffix}")
    assert main(["migrate", str(copy.parent), "--to", "1.2.0", "-o", str(tmp_path / "out")]) == 1
    made = tmp_path / "out" / "open"
    assert [one.name for one in made.iterdir()] == [database.name]
    account = json.loads((tmp_path / "out" / "migration.json").read_text())
    (entry,) = (
        one
        for file in account["files"]
        for one in file.get("entries", ())
        if one["effect"] == "lost"
    )
    assert entry["place"] == f"{database.name}-wal"
    assert {one["file"]: one["fate"] for one in account["files"]}[f"{copy.name}-shm"] == "left-out"


def damaged(database: Path) -> Iterator[tuple[str, bytes]]:
    content = database.read_bytes()
    yield "truncated", content[: len(content) // 2]
    yield "no database", b"PRIMARY KEY\n" * 100
    yield "empty", b""
    page = 4096 * 2
    yield "a page of noise", content[:page] + b"\xff" * 4096 + content[page + 4096 :]


def test_damaged_files_are_refused_in_one_line_and_nothing_appears(
    database: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for what, content in damaged(database):
        bad = tmp_path / "bad" / database.name
        bad.parent.mkdir(exist_ok=True)
        bad.write_bytes(content)
        assert main(["migrate", str(bad), "--to", "1.2.0", "-o", str(tmp_path / "out")]) == 2, what
        error = capsys.readouterr().err
        assert error.count("\n") == 1, what
        assert len(error) <= 600, what
        assert sorted(one.name for one in tmp_path.iterdir()) == ["PROF", "bad"], what


def test_keys_that_stand_twice_are_no_key_of_the_new_table(database: Path) -> None:
    edit(
        database,
        "CREATE TABLE copy AS SELECT * FROM COMPUTE_TASK_INFO",
        "DROP TABLE COMPUTE_TASK_INFO",
        "ALTER TABLE copy RENAME TO COMPUTE_TASK_INFO",
        "INSERT INTO COMPUTE_TASK_INFO SELECT * FROM COMPUTE_TASK_INFO",
    )
    before = len(dump(database)["COMPUTE_TASK_INFO"][1])
    account, made = up(database)
    assert len(dump(made)["COMPUTE_TASK_INFO"][1]) == before
    assert account.lost == 0
