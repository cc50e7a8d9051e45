"""Which carrier and revision a file is said to be, and how firmly."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from db_samples import (
    ANALYSES,
    PYTORCH_RANKS,
    STATES,
    VIEWED,
    identity,
    make,
    real,
    run_sql,
    write_small,
)
from slices import some

from ascend_ref.db.carrier import NotAProfile, carrier_of_name
from ascend_ref.db.detect import DECLARED
from ascend_ref.db.writer import write_database
from ascend_spec import Schema, catalog
from ascend_spec.db.model import Carrier

DISTINCT = {
    ("1.0.0-2025-01", "analysis"): "1.0.0-2024-10",
    ("1.0.2-documented", "analysis"): "1.2.0-2025-12",
    ("1.2.0-2026-02", "analysis"): "1.2.0-2025-12",
    ("1.2.0-2026-04", "analysis"): "1.2.0-2025-12",
    ("1.2.0-2026-06", "analysis"): "1.2.0-2025-12",
    ("1.2.0-2026-07", "analysis"): "1.2.0-2025-12",
}
"""States whose schema is the same as an older one's: the older one is named."""


@pytest.mark.parametrize("name", PYTORCH_RANKS)
def test_real_profiles_are_of_january_2025(name: str) -> None:
    found = identity(real(name))
    assert (found.carrier, found.revision.id) == ("pytorch", "1.0.0-2025-01")
    assert (found.schema_version, found.schema_version_consistent) == ("1.0.0", True)
    assert found.rank_from_name == PYTORCH_RANKS[name]
    best, second = found.candidates[:2]
    # What a viewer added costs a little with every revision.
    assert (best.distance > 0) == (name == VIEWED)
    assert second.distance >= best.distance + DECLARED


@pytest.mark.parametrize("name", ANALYSES)
def test_real_analyses_are_recognised(name: str) -> None:
    found = identity(real(name))
    assert found.carrier == "analysis"
    assert found.schema_version is None
    assert found.revision.schema_version == "1.0.0"
    as_good = [one.revision.id for one in found.candidates if one.distance == 0]
    assert "1.0.0-2025-01" in as_good[1:]


@pytest.mark.parametrize(("revision", "carrier"), STATES)
def test_every_state_is_recognised_without_its_name(
    tmp_path: Path, revision: str, carrier: Carrier
) -> None:
    found = identity(write_small(tmp_path / "p.db", revision, carrier))
    expected = DISTINCT.get((revision, carrier), revision)
    assert (found.carrier, found.revision.id) == (carrier, expected)
    assert found.candidates[0].distance == 0
    assert found.schema_version_consistent


def defects(schema: Schema) -> Iterator[str]:
    """One defect for each column and enum of a database with every table."""
    for table in schema.tables.values():
        indexed = {column for columns in table.indexes.values() for column in columns}
        yield f"DROP TABLE {table.name}"
        for column in table.columns.values():
            if not column.primary_key and column.name not in indexed and len(table.columns) > 1:
                yield f"ALTER TABLE {table.name} DROP COLUMN {column.name}"
    for name, members in schema.enums.items():
        for number in (min(members), max(members)):
            yield f"UPDATE {name} SET name = 'x' WHERE id = {number}"
            yield f"DELETE FROM {name} WHERE id = {number}"
    yield "DELETE FROM META_DATA"
    yield "UPDATE META_DATA SET value = '9.9.9' WHERE name = 'SCHEMA_VERSION'"
    yield "UPDATE META_DATA SET value = '1.1.0'"


@pytest.mark.parametrize(
    "revision", some(["1.2.0-2026-07", "1.0.0-2025-01", "1.2.0-2026-02"], every=3)
)
def test_no_single_defect_changes_the_answer(tmp_path: Path, revision: str) -> None:
    path = write_small(tmp_path / "p.db", revision, "pytorch")
    sound = path.read_bytes()
    for defect in list(defects(catalog().at(revision, "pytorch")))[::5]:
        path.write_bytes(sound)
        run_sql(path, ["PRAGMA synchronous = OFF", defect])
        found = identity(path)
        assert (found.carrier, found.revision.id) == ("pytorch", revision), defect


def test_a_wrong_schema_version_is_told(tmp_path: Path) -> None:
    path = write_small(tmp_path / "p.db", "1.2.0-2026-07", "msprof")
    run_sql(path, ["UPDATE META_DATA SET value = '1.0.0' WHERE name = 'SCHEMA_VERSION'"])
    found = identity(path)
    assert found.revision.id == "1.2.0-2026-07"
    assert (found.schema_version, found.schema_version_consistent) == ("1.0.0", False)
    run_sql(path, ["DELETE FROM META_DATA WHERE name <> 'SCHEMA_VERSION'"])
    alone = identity(path)
    assert (alone.schema_version, alone.schema_version_consistent) == ("1.0.0", True)
    assert alone.revision.id == "1.2.0-2026-07"
    run_sql(path, ["UPDATE META_DATA SET value = '7'"])
    assert identity(path).schema_version == "7"
    run_sql(path, ["INSERT INTO META_DATA VALUES ('SCHEMA_VERSION', '8')"])
    twice = identity(path)
    assert (twice.schema_version, twice.schema_version_consistent) == ("7", False)


def test_what_a_viewer_adds_moves_nothing(tmp_path: Path) -> None:
    path = write_small(tmp_path / "p.db", "1.2.0-2026-02", "pytorch")
    run_sql(
        path,
        [
            "ALTER TABLE TASK ADD COLUMN depth integer",
            "ALTER TABLE COMPUTE_TASK_INFO ADD COLUMN waitNs INTEGER",
            "ALTER TABLE COMPUTE_TASK_INFO ADD COLUMN gridDim INTEGER",
            "ALTER TABLE COMPUTE_TASK_INFO ADD COLUMN blockDim INTEGER",
            "CREATE TABLE OVERLAP_ANALYSIS (id INTEGER PRIMARY KEY AUTOINCREMENT, "
            "deviceId integer, startNs integer, endNs integer, type integer)",
            "CREATE TABLE status_info (id INTEGER PRIMARY KEY, key TEXT, value TEXT)",
        ],
    )
    found = identity(path)
    assert found.revision.id == "1.2.0-2026-02"
    assert 0 < found.candidates[0].distance < found.candidates[1].distance


def test_the_name_decides_where_the_tables_are_silent(tmp_path: Path) -> None:
    schema = catalog().at("1.2.0-2026-07", "msprof")
    tables = {"TASK": {column: [1] for column in schema.tables["TASK"].columns}}
    for name, carrier in (
        ("p.db", "msprof"),
        ("msprof_20250101000000.db", "msprof"),
        ("ascend_pytorch_profiler_3.db", "pytorch"),
    ):
        write_database(tmp_path / name, schema, tables)
        assert identity(tmp_path / name).carrier == carrier
    empty = make(tmp_path / "analysis.db", "CREATE TABLE other (a)")
    assert identity(empty).carrier == "analysis"
    renamed = write_small(tmp_path / "msprof_1.db", "1.2.0-2026-07", "pytorch")
    assert identity(renamed).carrier == "pytorch"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("msprof_20250109160936.db", ("msprof", None)),
        ("ascend_pytorch_profiler_17.db", ("pytorch", 17)),
        ("ascend_pytorch_profiler.db", ("pytorch", None)),
        ("ascend_mindspore_profiler_0.db", ("msprof", 0)),
        ("msmonitor_12_12345678901234567_-1.db", ("msprof", -1)),
        ("analysis.db", ("analysis", None)),
        ("ascend_pytorch_profiler_.db", (None, None)),
        ("cluster_analysis.db", (None, None)),
    ],
)
def test_file_names(name: str, expected: tuple[str | None, int | None]) -> None:
    assert carrier_of_name(name) == expected


def test_another_database_is_no_profile(tmp_path: Path) -> None:
    path = make(
        tmp_path / "todo.db",
        "CREATE TABLE TASK (id, title, done)",
        "CREATE TABLE META_DATA (name, value)",
    )
    with pytest.raises(NotAProfile) as caught:
        identity(path)
    assert caught.value.reason == (
        "a database with the tables TASK, META_DATA; "
        "expected those of msprof, torch_npu or analysis.db"
    )
    with pytest.raises(NotAProfile, match="without tables"):
        identity(run_sql(path, ["DROP TABLE TASK", "DROP TABLE META_DATA"]))


def test_identity_is_the_same_every_time(tmp_path: Path) -> None:
    path = write_small(tmp_path / "p.db", "1.2.0-2026-04", "msprof")
    assert identity(path) == identity(path)
