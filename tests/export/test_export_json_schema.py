"""The JSON Schema accepts what real exporters wrote and rejects what they never write."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from jsonschema import Draft202012Validator

from ascend_ref.tools.spec.json_schema import export_json_schema
from ascend_spec import catalog
from ascend_spec.db.model import CARRIERS, Carrier

REAL = Path(__file__).parents[2] / "../shared/data/db"
REVISION = "1.0.0-2025-01"
SAMPLE = 100

real_data = pytest.mark.skipif(not REAL.is_dir(), reason="no real profiles in ../shared/data/db")


def document(carrier: Carrier, revision: str = REVISION) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(export_json_schema(catalog().at(revision, carrier)))
    return loaded


def row_validator(schema: dict[str, Any], table: str) -> Draft202012Validator:
    return Draft202012Validator({"$ref": f"#/$defs/{table}", "$defs": schema["$defs"]})


@pytest.mark.parametrize("carrier", CARRIERS)
@pytest.mark.parametrize("revision", [revision.id for revision in catalog().revisions])
def test_every_document_is_a_valid_json_schema(carrier: Carrier, revision: str) -> None:
    jsonschema_rs.meta.validate(document(carrier, revision))


@real_data
@pytest.mark.parametrize(
    ("path", "carrier"),
    [
        ("level0_rank0/ascend_pytorch_profiler_0.db", "pytorch"),
        ("level1_rank0/ascend_pytorch_profiler_0.db", "pytorch"),
        ("level1_rank1/ascend_pytorch_profiler_1.db", "pytorch"),
        ("level1_rank1/analysis.db", "analysis"),
    ],
)
def test_real_rows_are_valid(path: str, carrier: Carrier) -> None:
    schema = document(carrier)
    connection = sqlite3.connect(f"{(REAL / path).resolve().as_uri()}?immutable=1", uri=True)
    connection.row_factory = sqlite3.Row
    held = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema")}
    for table in schema["$defs"].keys() & held:
        validator = row_validator(schema, table)
        for row in connection.execute(f"SELECT * FROM {table} LIMIT {SAMPLE}"):
            errors = [error.message for error in validator.iter_errors(dict(row))]
            assert errors == [], (table, dict(row))
    connection.close()


def session(**changes: object) -> dict[str, object]:
    return {"startTimeNs": 1736400000000000000, "endTimeNs": 1736400001000000000, **changes}


@pytest.mark.parametrize(
    ("changes", "valid"),
    [
        ({}, True),
        ({"startTimeNs": 946684800000000000}, True),
        ({"startTimeNs": 946684799999999999}, False),
        ({"startTimeNs": "1736400000000000000"}, False),
        ({"startTimeNs": None}, False),
        ({"endTimeNs": 0}, True),  # a sentinel, though far below the least time
        ({"endTimeNs": 1}, False),
        ({"addedByAViewer": 1}, True),
    ],
)
def test_values_at_the_bounds(changes: dict[str, object], valid: bool) -> None:
    validator = row_validator(document("msprof"), "SESSION_TIME_INFO")
    assert validator.is_valid(session(**changes)) is valid


def test_a_closed_enum_lists_the_ids_of_the_revision() -> None:
    column = document("pytorch")["$defs"]["CANN_API"]["properties"]["type"]
    of_no_level, levels = column["anyOf"]
    assert of_no_level == {"enum": [65535]}
    assert levels["enum"] == sorted(catalog().at(REVISION, "pytorch").enums["ENUM_API_TYPE"])


def test_a_database_without_a_required_table_is_invalid() -> None:
    errors = Draft202012Validator(document("msprof")).iter_errors({})
    assert any("STRING_IDS" in error.message for error in errors)


def test_units_and_references_are_annotated() -> None:
    row = document("msprof")["$defs"]["TASK"]["properties"]
    assert row["startNs"]["x-unit"] == "ns"
    assert row["taskType"]["x-references"] == ["STRING_IDS.id"]
    assert row["connectionId"]["x-none"] == [4294967295, -1]
