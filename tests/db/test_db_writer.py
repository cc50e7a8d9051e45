"""Writing: what is refused at the door, what comes out, and that nothing half-written stays."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from db_samples import PYTORCH_RANKS, contents, one_row_each, real, write_small
from plain_database import read_database

from ascend_ref.db.columns import Values
from ascend_ref.db.open import open_readonly, quick_check
from ascend_ref.db.writer import BATCH_ROWS, write_database
from ascend_spec import catalog

SCHEMA = catalog().at("1.2.0-2026-07", "pytorch")


def stored(path: Path, query: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(query).fetchall()


def task(rows: int) -> dict[str, np.ndarray]:
    return {
        name: np.arange(rows) + number for number, name in enumerate(SCHEMA.tables["TASK"].columns)
    }


def memory_record(**columns: Values) -> dict[str, dict[str, Values]]:
    rows = len(next(iter(columns.values())))
    names = SCHEMA.tables["MEMORY_RECORD"].columns
    return {"MEMORY_RECORD": {name: columns.get(name, [0] * rows) for name in names}}


@pytest.mark.parametrize(
    ("tables", "said"),
    [
        (
            {"TASKS": {}},
            r"'TASKS' is not in a pytorch database of 1\.2\.0-2026-07; allowed: .*TASK",
        ),
        ({"GC_RECORD": {"startNs": [1], "endNs": [2]}}, "GC_RECORD.globalTid is missing"),
        (
            {"GC_RECORD": {"startNs": [1], "endNs": [2], "globalTid": [3], "x": [4]}},
            "GC_RECORD.x is unknown; expected exactly startNs, endNs, globalTid",
        ),
        (
            {"GC_RECORD": {"startNs": [1, 2], "endNs": [2], "globalTid": [3]}},
            "GC_RECORD has columns of unequal length: startNs 2, endNs 1, globalTid 1",
        ),
        (memory_record(timestamp=[1.5, float("nan")]), "MEMORY_RECORD.timestamp: holds NaN"),
        (memory_record(timestamp=np.array([np.nan])), "MEMORY_RECORD.timestamp: holds NaN"),
        (memory_record(timestamp=[2**63]), "signed 64-bit integer"),
        (memory_record(timestamp=[{}]), "holds a dict; expected int, float, str, bytes or None"),
        (memory_record(timestamp=np.zeros((2, 2))), "2 dimensions; expected one"),
        (memory_record(timestamp=np.zeros(2, "M8[ns]")), "dtype datetime64"),
        (memory_record(timestamp=pa.array([[1]])), "Arrow type list"),
        ({"STRING_IDS": {"id": [3, 3], "value": ["a", "b"]}}, "STRING_IDS.id: 3 stands twice"),
        (
            {"STRING_IDS": {"id": [3, None], "value": ["a", "b"]}},
            "expected an integer in every row",
        ),
    ],
)
def test_the_door(tmp_path: Path, tables: dict[str, dict[str, Values]], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        write_database(tmp_path / "p.db", SCHEMA, tables)
    assert contents(tmp_path) == {}


def test_tables_that_always_exist_are_there_and_others_only_with_rows(tmp_path: Path) -> None:
    path = tmp_path / "p.db"
    write_database(path, SCHEMA, {"TASK": {name: [] for name in SCHEMA.tables["TASK"].columns}})
    always = {
        name for name, table in SCHEMA.tables.items() if table.carriers["pytorch"] == "always"
    }
    found = read_database(path, SCHEMA)
    assert found.keys() == always
    assert found["META_DATA"] == {
        "name": [
            "SCHEMA_VERSION",
            *(f"SCHEMA_VERSION_{part}" for part in ("MAJOR", "MINOR", "MICRO")),
        ],
        "value": ["1.2.0", "1", "2", "0"],
    }
    members = found["ENUM_API_TYPE"]
    assert dict(zip(members["id"], members["name"], strict=True)) == SCHEMA.enums["ENUM_API_TYPE"]
    assert found["SESSION_TIME_INFO"] == {"startTimeNs": [], "endTimeNs": []}


def test_a_database_without_any_table_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="nothing to write; expected rows in one of Comm"):
        write_database(tmp_path / "p.db", catalog().at("1.2.0-2026-07", "analysis"), {})


def test_given_enums_and_meta_data_are_kept(tmp_path: Path) -> None:
    given: dict[str, dict[str, Values]] = {
        "META_DATA": {"name": ["SCHEMA_VERSION"], "value": ["9"]},
        "ENUM_MODULE": {"id": [7], "name": ["x"]},
    }
    write_database(tmp_path / "p.db", SCHEMA, given)
    found = read_database(tmp_path / "p.db", SCHEMA)
    assert {name: found[name] for name in given} == given


def test_the_file_is_as_the_exporters_leave_it(tmp_path: Path) -> None:
    path = tmp_path / "p.db"
    write_database(path, SCHEMA, {"TASK": task(3)})
    for pragma, value in (
        ("page_size", 4096),
        ("encoding", "UTF-8"),
        ("journal_mode", "delete"),
        ("user_version", 0),
        ("application_id", 0),
        ("auto_vacuum", 0),
    ):
        assert stored(path, f"PRAGMA {pragma}") == [(value,)]
    assert stored(path, "SELECT name FROM sqlite_schema WHERE type = 'index'") == [("TaskIndex",)]
    write_database(path, SCHEMA, {"TASK": task(3)}, indexes=False)
    assert stored(path, "SELECT name FROM sqlite_schema WHERE type = 'index'") == []


def test_texts_stay_texts_and_numbers_numbers(tmp_path: Path) -> None:
    path = tmp_path / "p.db"
    names = SCHEMA.tables["PYTORCH_API"].columns
    api: dict[str, Values] = {name: [1, None] for name in names}
    api |= {"startNs": np.array([10**18, 2 * 10**18]), "endNs": ["1000000000000000001", "2"]}
    llc: dict[str, Values] = {name: [1, 2] for name in SCHEMA.tables["LLC"].columns}
    llc["hitRate"] = [50, 99.5]
    hbm: dict[str, Values] = {name: [1, 2, 3] for name in SCHEMA.tables["HBM"].columns}
    hbm["bandwidth"] = [2**53 + 1, 0.5, 3.0]
    write_database(path, SCHEMA, {"PYTORCH_API": api, "LLC": llc, "HBM": hbm})
    assert stored(path, "SELECT startNs, endNs, connectionId FROM PYTORCH_API") == [
        ("1000000000000000000", "1000000000000000001", 1),
        ("2000000000000000000", "2", None),
    ]
    assert stored(path, "SELECT hitRate, typeof(hitRate) FROM LLC") == [
        (50.0, "real"),
        (99.5, "real"),
    ]
    # NUMERIC stores a whole float as an integer: SQLite's affinity, in real profiles too.
    assert stored(path, "SELECT bandwidth, typeof(bandwidth) FROM HBM") == [
        (2**53 + 1, "integer"),
        (0.5, "real"),
        (3, "integer"),
    ]


def test_every_kind_of_column_can_be_given(tmp_path: Path) -> None:
    columns: dict[str, Values] = {
        "component": np.array([1, 2, 3], ">i2"),
        "timestamp": np.array([1, 2**64 - 1, 3], np.uint64),
        "totalAllocated": pa.chunked_array([[1], [2, None]]),
        "totalReserved": pa.array([1, 2, 3]).dictionary_encode(),
        "totalActive": np.array([True, False, None], dtype=object),
        "streamPtr": [np.int64(5), None, True],
        "deviceId": range(3),
    }
    write_database(tmp_path / "p.db", SCHEMA, {"MEMORY_RECORD": columns})
    assert stored(tmp_path / "p.db", "SELECT * FROM MEMORY_RECORD") == [
        (1, 1, 1, 1, 1, 5, 0),
        (2, -1, 2, 2, 0, None, 1),
        (3, 3, None, 3, None, 1, 2),
    ]


def test_rows_with_a_key_are_stored_in_its_order(tmp_path: Path) -> None:
    write_database(
        tmp_path / "p.db", SCHEMA, {"STRING_IDS": {"id": [9, -4, 2], "value": ["c", "a", "b"]}}
    )
    found = read_database(tmp_path / "p.db", SCHEMA)
    assert found["STRING_IDS"] == {"id": [-4, 2, 9], "value": ["a", "b", "c"]}


@pytest.mark.parametrize("rows", [1, 15, 16, 17, BATCH_ROWS + 5])
def test_no_row_is_lost_between_groups_and_batches(tmp_path: Path, rows: int) -> None:
    path = tmp_path / "p.db"
    given = task(rows)
    told: list[tuple[str, int]] = []
    write_database(path, SCHEMA, {"TASK": given}, progress=lambda *step: told.append(step))
    assert sum(count for name, count in told if name == "TASK") == rows
    found = np.array(stored(path, "SELECT * FROM TASK ORDER BY rowid"))
    assert (found == np.stack(list(given.values()), axis=1)).all()


def test_the_same_input_gives_the_same_bytes(tmp_path: Path) -> None:
    first = write_small(tmp_path / "a.db", "1.2.0-2026-07", "pytorch")
    second = write_small(tmp_path / "b.db", "1.2.0-2026-07", "pytorch")
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_an_interrupted_write_leaves_the_old_file_alone(
    tmp_path: Path, error: type[BaseException]
) -> None:
    path = write_small(tmp_path / "p.db", "1.0.0-2025-01", "msprof")
    before = contents(tmp_path)

    def stop(table: str, rows: int) -> None:
        assert len(list(tmp_path.iterdir())) == 2
        raise error(table, rows)

    with pytest.raises(error):
        write_database(path, SCHEMA, {"TASK": task(20)}, progress=stop)
    assert contents(tmp_path) == before


def test_the_log_of_a_replaced_file_goes_with_it(tmp_path: Path) -> None:
    for name in ("p.db", "p.db-wal", "p.db-shm", "p.db-journal", "q.db-wal"):
        (tmp_path / name).write_bytes(b"old")
    write_small(tmp_path / "p.db", "1.0.0-2025-01", "msprof")
    assert contents(tmp_path).keys() == {"p.db", "q.db-wal"}


def test_names_and_permissions_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a?b #%41 'ü'.db"
    write_database(path, SCHEMA, one_row_each(SCHEMA))
    mask = os.umask(0)
    os.umask(mask)
    assert path.stat().st_mode & 0o777 == 0o666 & ~mask
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]
    with closing(open_readonly(path)) as connection:
        assert quick_check(connection) is None
    with pytest.raises(FileNotFoundError):
        write_database(tmp_path / "absent" / "p.db", SCHEMA, {})


@pytest.mark.parametrize("name", PYTORCH_RANKS)
def test_a_real_profile_survives_reading_and_writing(tmp_path: Path, name: str) -> None:
    schema = catalog().at("1.0.0-2025-01", "pytorch")
    tables = read_database(real(name), schema)
    write_database(tmp_path / "p.db", schema, tables)
    assert read_database(tmp_path / "p.db", schema) == tables
