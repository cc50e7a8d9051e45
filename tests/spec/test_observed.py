"""Real databases hold what the spec says of their revision; whatever else they hold is named."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from seed_tables import SHARED

from ascend_spec import Schema, catalog
from ascend_spec.db.model import Carrier, Column

Database = Mapping[str, Any]

CARRIERS: Mapping[str, Carrier] = {"ascend_pytorch_profiler": "pytorch", "analysis": "analysis"}

EXPORTER = "exporter output"
VIEWER = "viewer-modified exporter output"

NOT_JUDGED = {
    ("msprof", "hand-assembled unit-test fixture, not exporter output"): (
        "put together by hand from several runs and older schemas (erratum E31)"
    ),
    ("cluster_analysis", "tool output"): "an analysis tool's result, not a profile",
    ("memscope_dump", VIEWER): "database of the memory tool, another format",
}


@pytest.fixture(scope="module")
def databases() -> list[Database]:
    path = SHARED / "reference" / "db-schema-observed.json"
    if not path.is_file():
        pytest.skip(f"{path.name} is not next to the project in ../shared/reference")
    return list(json.loads(path.read_text(encoding="utf-8"))["databases"])


@pytest.fixture(scope="module")
def judged(databases: list[Database]) -> list[Database]:
    return [
        database
        for database in databases
        if (database["kind"], database["provenance"]) not in NOT_JUDGED
    ]


def revision_of(file: str) -> str:
    """The revision that wrote a fixture, by where and when it was committed."""
    if "@c1e639ee2" in file:
        return "1.0.0-2024-10"
    if "test/st/level2" in file:  # of late 2025: StepTraceTime begins with deviceId
        return "1.2.0-2025-12"
    return "1.0.0-2025-01"


def schema_of(database: Database) -> Schema:
    return catalog().at(revision_of(database["file"]), CARRIERS[database["kind"]])


def test_every_database_is_judged_or_excluded_with_a_reason(
    databases: list[Database], judged: list[Database]
) -> None:
    assert len(databases) == 33
    assert all(database["provenance"] in (EXPORTER, VIEWER) for database in judged)
    assert sorted(database["kind"] for database in judged) == [
        *["analysis"] * 12,
        *["ascend_pytorch_profiler"] * 11,
    ]


def test_every_table_and_column_stands_in_the_spec(judged: list[Database]) -> None:
    found = {database["file"]: disagreements(database, schema_of(database)) for database in judged}
    assert {file: lines for file, lines in found.items() if lines} == {}


def test_foreign_objects_occur_only_where_the_viewer_was(judged: list[Database]) -> None:
    found = {database["file"]: foreign_objects(database) for database in judged}
    viewed = [database["file"] for database in judged if database["provenance"] == VIEWER]
    assert {file: names for file, names in found.items() if names} == {
        viewed[0]: [
            "CANN_API.depth",
            "COMMUNICATION_OP.waitNs",
            "COMPUTE_TASK_INFO.waitNs",
            "OVERLAP_ANALYSIS",
            "PYTORCH_API.depth",
            "TASK.depth",
            "connectionCats",
            "sqlite_sequence",
            "status_info",
        ]
    }


def test_enum_contents_are_those_of_the_revision(judged: list[Database]) -> None:
    for database in judged:
        enums = {
            name: {int(identifier): member for identifier, member in rows.items()}
            for name, rows in database["enums"].items()
        }
        assert enums == schema_of(database).enums, database["file"]


def test_the_version_is_that_of_the_revision(judged: list[Database]) -> None:
    versions = {
        (revision_of(database["file"]), database["META_DATA"]["SCHEMA_VERSION"])
        for database in judged
        if database["META_DATA"]
    }
    assert versions == {("1.0.0-2024-10", "1.0.0"), ("1.0.0-2025-01", "1.0.0")}


@pytest.mark.parametrize(
    "name",
    [
        f"{folder}/{file}"
        for folder, rank in [("level0_rank0", 0), ("level1_rank0", 0), ("level1_rank1", 1)]
        for file in [f"ascend_pytorch_profiler_{rank}.db", "analysis.db"]
    ],
)
def test_a_real_file_agrees_with_its_revision(name: str) -> None:
    path = SHARED / "data" / "db" / name
    if not path.is_file():
        pytest.skip(f"{name} is not next to the project in ../shared/data/db")
    database = described(path)
    assert disagreements(database, schema_of(database)) == []
    assert database["enums"] == schema_of(database).enums


def test_a_lost_column_is_noticed(judged: list[Database]) -> None:
    database = next(database for database in judged if "TASK" in database["tables"])
    schema = schema_of(database)
    task = schema.tables["TASK"]
    columns = {name: column for name, column in task.columns.items() if name != "streamId"}
    schema = replace(schema, tables={**schema.tables, "TASK": replace(task, columns=columns)})
    assert disagreements(database, schema) == [
        "TASK.streamId: absent from the spec",
    ]


@pytest.mark.parametrize(
    ("place", "fact", "value", "noticed"),
    [
        ("TASK.startNs", "declared", "NUMERIC", "declared INTEGER"),
        ("CANN_API.connectionId", "primary_key", False, "primary key: True"),
        ("HOST_INFO.hostName", "storage", ("integer",), "stored as text"),
        ("PYTORCH_API.callchainId", "nullable", None, "NULL occurs"),
        ("TASK.contextId", "none", (), "holds the sentinel 4294967295"),
    ],
)
def test_a_wrong_fact_is_noticed(
    place: str, fact: str, value: object, noticed: str, judged: list[Database]
) -> None:
    database = next(database for database in judged if "TASK" in database["tables"])
    schema = schema_of(database)
    table, _, name = place.partition(".")
    facts: dict[str, Any] = {fact: value, "maximum": 0} if fact == "none" else {fact: value}
    column = replace(schema.tables[table].columns[name], **facts)
    columns = {**schema.tables[table].columns, name: column}
    changed = replace(schema.tables[table], columns=columns)
    schema = replace(schema, tables={**schema.tables, table: changed})
    assert disagreements(database, schema) == [f"{place}: {noticed}"]


def test_a_lost_index_and_a_lost_table_are_noticed(judged: list[Database]) -> None:
    database = next(database for database in judged if "TASK" in database["tables"])
    schema = schema_of(database)
    bare = replace(schema.tables["TASK"], indexes={})
    tables = {**schema.tables, "TASK": bare}
    del tables["HBM"]
    assert sorted(disagreements(database, replace(schema, tables=tables))) == [
        "HBM: absent from the spec",
        "TASK: indexes TaskIndex(startNs, globalTaskId)",
    ]


def disagreements(database: Database, schema: Schema) -> list[str]:
    """What the database holds and the schema does not bear out, as ``place: what was seen``."""
    found: list[str] = []
    foreign = foreign_names()
    for name, table in schema.tables.items():
        if table.carriers[schema.carrier] == "always" and name not in database["tables"]:
            found.append(f"{name}: absent from the database")
    for name, seen in database["tables"].items():
        if name not in schema.tables:
            if name not in foreign:
                found.append(f"{name}: absent from the spec")
            continue
        table = schema.tables[name]
        found += [f"{name}: {claim}" for claim in _table_claims(seen, schema, name)]
        native = [
            column
            for column in seen["columns"]
            if column["name"] in table.columns or f"{name}.{column['name']}" not in foreign
        ]
        for column in native:
            place = f"{name}.{column['name']}"
            known = table.columns.get(column["name"])
            if known is None:
                found.append(f"{place}: absent from the spec")
            else:
                found += [f"{place}: {claim}" for claim in _column_claims(column, known)]
        order = [column["name"] for column in native if column["name"] in table.columns]
        if order != [column for column in table.columns if column in order]:
            found.append(f"{name}: another order of columns")
        found += [
            f"{name}.{column}: absent from the database"
            for column in table.columns
            if column not in order
        ]
    return found


def _table_claims(seen: Mapping[str, Any], schema: Schema, name: str) -> Iterable[str]:
    table = schema.tables[name]
    indexes = {index["name"]: tuple(index["columns"]) for index in seen["indexes"]}
    if indexes != table.indexes:
        listed = "; ".join(f"{index}({', '.join(over)})" for index, over in sorted(indexes.items()))
        yield f"indexes {listed}"
    if (table.rows == "one" and seen["rows"] != 1) or (table.rows == "some" and not seen["rows"]):
        yield f"rows: {seen['rows']}"


def _column_claims(seen: Mapping[str, Any], column: Column) -> Iterable[str]:
    if seen["type"] != column.declared:
        yield f"declared {seen['type']}"
    if bool(seen["pk"]) != column.primary_key:
        yield f"primary key: {bool(seen['pk'])}"
    for storage in seen["storage_classes"]:
        if storage == "null":
            if column.nullable is None:
                yield "NULL occurs"
        elif storage not in column.storage:
            yield f"stored as {storage}"
    for sentinel in map(int, seen.get("sentinel_counts", {})):
        low, high = column.minimum, column.maximum
        possible = (low is None or low <= sentinel) and (high is None or sentinel <= high)
        if sentinel not in column.none and not possible:
            yield f"holds the sentinel {sentinel}"


def foreign_names() -> set[str]:
    return {
        f"{item.table}.{item.column}" if item.column else item.table
        for item in catalog().foreign_objects
    }


def foreign_objects(database: Database) -> list[str]:
    """The tables and columns of a database that its revision does not have, but foreign.yaml."""
    tables = schema_of(database).tables
    unknown = [name for name in database["tables"] if name not in tables]
    unknown += [
        f"{name}.{column['name']}"
        for name, seen in database["tables"].items()
        if name in tables
        for column in seen["columns"]
        if column["name"] not in tables[name].columns
    ]
    return sorted(foreign_names() & set(unknown))


def described(path: Path) -> Database:
    """A database file in the form of the reference file's entries."""
    kind = "analysis" if path.name == "analysis.db" else "ascend_pytorch_profiler"
    with closing(sqlite3.connect(f"file:{path.resolve()}?immutable=1", uri=True)) as connection:
        names = [
            name
            for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
        ]
        tables = {name: _described_table(connection, name) for name in names}
        enums = {
            name: dict(connection.execute(f'SELECT id, name FROM "{name}"'))
            for name in names
            if name.startswith("ENUM_")
        }
    return {"file": str(path), "kind": kind, "tables": tables, "enums": enums}


def _described_table(connection: sqlite3.Connection, table: str) -> Mapping[str, Any]:
    def storage_classes(column: str) -> Mapping[str, int]:
        query = f'SELECT typeof("{column}"), count(*) FROM "{table}" GROUP BY 1'
        return dict(connection.execute(query))

    def covered(index: str) -> list[str]:
        return [column for _, _, column in connection.execute(f'PRAGMA index_info("{index}")')]

    return {
        "rows": connection.execute(f'SELECT count(*) FROM "{table}"').fetchone()[0],
        "columns": [
            {"name": name, "type": kind, "pk": pk, "storage_classes": storage_classes(name)}
            for _, name, kind, _, _, pk in connection.execute(f'PRAGMA table_info("{table}")')
        ],
        "indexes": [
            {"name": name, "columns": covered(name)}
            for _, name, *_ in connection.execute(f'PRAGMA index_list("{table}")')
        ],
    }
