"""The spec under the documented reading says what the two seed documents say, and no more."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

import pytest
from seed_tables import SeedField, SeedTable, msprof_tables, pytorch_tables

from ascend_spec import Schema, catalog
from ascend_spec.core import Decision
from ascend_spec.db.model import Carrier, Column, Table

REVISION = "1.0.2-documented"


@pytest.fixture(scope="module")
def seed_001() -> Mapping[str, SeedTable]:
    return msprof_tables()


@pytest.fixture(scope="module")
def seed_000() -> Mapping[str, SeedTable]:
    return pytorch_tables()


def documented() -> Schema:
    """The pytorch database, which holds the tables of both documents."""
    return catalog().at(REVISION, "pytorch", "documented")


def test_seed_001_was_read_completely(seed_001: Mapping[str, SeedTable]) -> None:
    assert len(seed_001) == 45
    assert sum(len(table.fields) for table in seed_001.values()) == 269
    assert {name: len(table.contents) for name, table in seed_001.items() if table.contents} == {
        "ENUM_API_TYPE": 9,
        "ENUM_MODULE": 66,
        "ENUM_HCCL_DATA_TYPE": 16,
        "ENUM_HCCL_LINK_TYPE": 10,
        "ENUM_HCCL_TRANSPORT_TYPE": 6,
        "ENUM_HCCL_RDMA_TYPE": 5,
        "ENUM_MSTX_EVENT_TYPE": 4,
        "ENUM_MEMCPY_OPERATION": 9,
        "META_DATA": 4,
    }


def test_seed_000_was_read_completely(seed_000: Mapping[str, SeedTable]) -> None:
    assert {name: len(table.fields) for name, table in seed_000.items()} == {
        "STRING_IDS": 2,
        "PYTORCH_API": 11,
        "CONNECTION_IDS": 2,
        "PYTORCH_CALLCHAINS": 3,
        "MEMORY_RECORD": 7,
        "OP_MEMORY": 15,
        "RANK_DEVICE_MAP": 2,
        "STEP_TIME": 3,
        "GC_RECORD": 3,
        "ROCE": 16,
        "NIC": 16,
        "HCCS": 4,
        "PCIE": 23,
    }


def test_the_facts_in_a_description_are_recognised() -> None:
    field = SeedField(
        "globalTaskId", "INTEGER", "索引, 索引名称CommunicationTaskIndex, 用于关联TASK表"
    )
    assert (field.key, field.index_name, field.links) == (
        "index",
        "CommunicationTaskIndex",
        ("TASK",),
    )
    assert SeedField("id", "INTEGER", "ID of the string.", "Primary key").key == "primary key"
    assert SeedField("usage", "NUMERIC", "利用率(%)").unit == "%"
    assert SeedField("groupName", "INTEGER", "10.170.22.98%enp67s0f5").unit is None
    assert SeedField("bandwidth", "NUMERIC", "带宽, 单位Byte / s").unit == "Byte/s"
    assert SeedField("type", "INTEGER", "API类型, ENUM_API_TYPE(type)").references == (
        "ENUM_API_TYPE",
    )


def test_the_switches_in_the_prose_are_recognised(
    seed_001: Mapping[str, SeedTable], seed_000: Mapping[str, SeedTable]
) -> None:
    assert seed_001["NIC"].switches == ("--sys-io-profiling", "--sys-io-sampling-freq", "sys_io")
    assert seed_001["CPU_USAGE"].switches == ("--host-sys=cpu",)
    assert seed_001["STRING_IDS"].switches == ()
    assert seed_000["PYTORCH_API"].switches == ("torch_npu.profiler.ProfilerActivity.CPU",)
    assert seed_000["MEMORY_RECORD"].switches == ("profile_memory",)


def test_the_documented_tables_are_those_of_the_seeds(
    seed_001: Mapping[str, SeedTable], seed_000: Mapping[str, SeedTable]
) -> None:
    assert set(catalog().at(REVISION, "msprof", "documented").tables) == set(seed_001)
    assert set(documented().tables) == set(seed_001) | set(seed_000)


def test_every_field_of_seed_001_stands_in_the_spec(seed_001: Mapping[str, SeedTable]) -> None:
    schema = catalog().at(REVISION, "msprof", "documented")
    assert disagreements(seed_001.values(), schema) == []


def test_every_field_of_seed_000_stands_in_the_spec(seed_000: Mapping[str, SeedTable]) -> None:
    assert disagreements(seed_000.values(), documented()) == [
        # Seed 001 calls the same column an index; erratum E9 follows it.
        "STRING_IDS.id: a primary key",
    ]


def test_where_the_observed_reading_differs_an_erratum_says_so(
    seed_001: Mapping[str, SeedTable], seed_000: Mapping[str, SeedTable]
) -> None:
    schema = catalog().at(REVISION, "pytorch", "observed")
    found = disagreements([*seed_001.values(), *seed_000.values()], schema)
    places = {line.split(":")[0] for line in found}
    assert places, "the two readings differ in nothing"
    assert places - erratum_places() == set()


def test_where_an_erratum_decides_against_a_seed_the_grade_is_that_of_the_winner(
    seed_001: Mapping[str, SeedTable], seed_000: Mapping[str, SeedTable]
) -> None:
    schema = catalog().at(REVISION, "pytorch", "observed")
    found = disagreements([*seed_001.values(), *seed_000.values()], schema)
    decided = catalog().decisions
    columns = {line.split(":")[0] for line in found} & {
        f"{table.name}.{name}" for table in schema.tables.values() for name in table.columns
    }
    assert len(columns) > 15
    assert columns <= decided.keys()
    assert {one.grade for one in decided.values()} == {"observed"}
    assert decided["LLC.hitRate"] == Decision(
        errata=("E6",),
        facts=("declared", "storage"),
        grade="observed",
        source=("fixtures-2025-01", "upstream-msprof"),
        against=("seed-001",),
    )


def test_whatever_is_graded_documented_stands_in_a_seed(
    seed_001: Mapping[str, SeedTable], seed_000: Mapping[str, SeedTable]
) -> None:
    fields = {
        f"{table.name}.{field.name}"
        for table in (*seed_001.values(), *seed_000.values())
        for field in table.fields
    }
    tables = catalog().tables.values()
    graded = {
        f"{table.name}.{spelled_by_documents(f'{table.name}.{column.name}', column.name)}"
        for table in tables
        for column in table.columns.values()
        if column.grade == "documented"
    }
    assert graded - fields == set()
    assert {table.name for table in tables if table.grade == "documented"} == {
        place.split(".")[0] for place in fields
    }


@pytest.mark.parametrize("carrier", ["msprof", "pytorch"])
def test_enum_contents_are_those_of_seed_001(
    carrier: Carrier, seed_001: Mapping[str, SeedTable]
) -> None:
    enums = catalog().at(REVISION, carrier, "documented").enums
    assert enums == {
        name: {int(identifier): member for identifier, member in table.contents}
        for name, table in seed_001.items()
        if name.startswith("ENUM_")
    }


def test_meta_data_names_are_those_of_seed_001(seed_001: Mapping[str, SeedTable]) -> None:
    note = catalog().tables["META_DATA"].note or ""
    names = {name for name, _ in seed_001["META_DATA"].contents}
    assert names - set(re.findall(r"\w+", note)) == set()


def test_a_lost_column_is_noticed(seed_001: Mapping[str, SeedTable]) -> None:
    schema = without_column(documented(), "TASK", "streamId")
    assert disagreements(seed_001.values(), schema) == ["TASK.streamId: absent"]


@pytest.mark.parametrize(
    ("place", "fact", "value", "noticed"),
    [
        ("CANN_API.type", "declared", "TEXT", "INTEGER"),
        ("CANN_API.type", "primary_key", True, "not a primary key"),
        ("CANN_API.type", "references", ("STRING_IDS.id",), "references ENUM_API_TYPE"),
        ("MEMCPY_INFO.globalTaskId", "primary_key", False, "a primary key"),
        ("TASK.startNs", "unit", "us", "unit ns"),
        ("NPU_INFO.id", "minimum", 0, "may be -1"),
    ],
)
def test_a_wrong_fact_is_noticed(
    place: str, fact: str, value: object, noticed: str, seed_001: Mapping[str, SeedTable]
) -> None:
    table, _, name = place.partition(".")
    schema = documented()
    column = replace(schema.tables[table].columns[name], **{fact: value})  # type: ignore[arg-type]
    found = disagreements([seed_001[table]], with_column(schema, table, column))
    assert found == [f"{place}: {noticed}"]


def test_two_columns_in_the_wrong_order_are_noticed(seed_001: Mapping[str, SeedTable]) -> None:
    schema = documented()
    task = schema.tables["TASK"]
    backwards = dict(reversed(list(task.columns.items())))
    schema = replace(schema, tables={**schema.tables, "TASK": replace(task, columns=backwards)})
    assert disagreements([seed_001["TASK"]], schema) == ["TASK: another order of columns"]


def disagreements(tables: Iterable[SeedTable], schema: Schema) -> list[str]:
    """What the documents say and the schema does not, as ``TABLE.field: claim``."""
    found: list[str] = []
    for table in tables:
        if table.name not in schema.tables:
            found.append(f"{table.name}: absent")
            continue
        columns = schema.tables[table.name].columns
        known = {
            name
            for switch in schema.tables[table.name].switches
            for name in catalog().documents.switches[switch].spelled
        }
        found += [
            f"{table.name}: controlled by {name}" for name in table.switches if name not in known
        ]
        order = [field.name for field in table.fields if field.name in columns]
        if order != [name for name in columns if name in order]:
            found.append(f"{table.name}: another order of columns")
        for field in table.fields:
            place = f"{table.name}.{spelled_by_spec(table.name, field.name)}"
            if field.name not in columns:
                found.append(f"{place}: absent")
                continue
            column = columns[field.name]
            found += [f"{place}: {claim}" for claim in _denied(table.name, field, column, schema)]
    return found


def _denied(table: str, field: SeedField, column: Column, schema: Schema) -> Iterable[str]:
    """The claims of one field that the column does not bear out."""
    if field.type != column.declared:
        yield field.type
    if (field.key == "primary key") != column.primary_key:
        yield "a primary key" if field.key == "primary key" else "not a primary key"
    if field.index_name:
        covered = schema.tables[table].indexes.get(field.index_name, ())
        if field.name not in covered:
            yield f"covered by {field.index_name}"
    if field.unit and field.unit != column.unit:
        yield f"unit {field.unit}"
    targets = {reference.split(".")[0] for reference in column.references}
    for target in field.references:
        if target not in targets:
            yield f"references {target}"
    for other in field.links:
        place = f"{table}.{column.name}"
        if other not in targets and not _joined(place, column, schema.tables[other]):
            yield f"joins {other}"
    if field.may_be_null and not column.nullable:
        yield "may be NULL"
    if field.may_be_minus_one and -1 not in column.none and (column.minimum or 0) > -1:
        yield "may be -1"


def _joined(place: str, column: Column, other: Table) -> bool:
    """Whether the other table refers to the column, or has one of the same name and kind.

    The second is all the spec says of TASK.connectionId: some tasks have no host call.
    """
    twin = other.columns.get(column.name)
    return any(place in there.references for there in other.columns.values()) or (
        twin is not None and twin.type == column.type
    )


def erratum_places() -> set[str]:
    return {place for erratum in catalog().errata.values() for place in erratum.at}


def spelled_by_documents(place: str, name: str) -> str:
    """The column's name under the documented reading."""
    for erratum in catalog().errata.values():
        name = str(erratum.documented.get(place, {}).get("name", name))
    return name


def spelled_by_spec(table: str, field: str) -> str:
    """The spec's own name of a documented field: the inverse of ``spelled_by_documents``."""
    for erratum in catalog().errata.values():
        for place, patch in erratum.documented.items():
            if place.split(".")[0] == table and patch.get("name") == field:
                return place.split(".")[1]
    return field


def with_column(schema: Schema, table: str, column: Column) -> Schema:
    columns = {**schema.tables[table].columns, column.name: column}
    changed = replace(schema.tables[table], columns=columns)
    return replace(schema, tables={**schema.tables, table: changed})


def without_column(schema: Schema, table: str, name: str) -> Schema:
    columns = {key: value for key, value in schema.tables[table].columns.items() if key != name}
    changed = replace(schema.tables[table], columns=columns)
    return replace(schema, tables={**schema.tables, table: changed})
