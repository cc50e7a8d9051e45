"""The documents printed in CONTRIBUTING.md are valid ones."""

from __future__ import annotations

import re
import sqlite3
from dataclasses import fields, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from ascend_conformance.media import load_rules
from ascend_conformance.media.bin.edits import apply_edits
from ascend_conformance.media.bin.facts import open_facts
from ascend_conformance.media.bin.judge import collect
from ascend_conformance.media.db.rules import DbSearch
from ascend_conformance.ruleset import Rule
from ascend_ref.bin import Block, canonical, read_blocks, to_bytes
from ascend_ref.db.ddl import create_table
from ascend_spec import catalog, packaged
from ascend_spec.db.loader import load_column
from ascend_spec.db.model import Table

CONTRIBUTING = Path(__file__).parents[2] / "CONTRIBUTING.md"


def printed(key: str, start: str = "") -> dict[str, Any]:
    """The YAML block that has a key whose value begins so, or the first entry of a list."""
    text = CONTRIBUTING.read_text(encoding="utf-8")
    for block in re.findall(r"^```yaml\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        loaded = yaml.safe_load(block)
        document: dict[str, Any] = loaded[0] if isinstance(loaded, list) else loaded
        if str(document.get(key, "")).startswith(start) and key in document:
            return document
    raise AssertionError(f"no block with {key}")


def errors(kind: str, document: dict[str, Any]) -> list[str]:
    schemas = {
        name.split("/")[1]: content for name, content in packaged().folder.documents("vocabulary")
    }
    registry: Registry[Any] = Registry().with_resources(
        (name, DRAFT202012.create_resource(schema)) for name, schema in schemas.items()
    )
    validator = Draft202012Validator(schemas[f"{kind}.schema.yaml"], registry=registry)
    return [error.message for error in validator.iter_errors(document)]


def printed_table() -> Table:
    document = printed("table")
    facts = catalog()
    loader = packaged().loader
    columns = {
        name: load_column(loader, name, column, document["source"], "the example")
        for name, column in document["columns"].items()
    }
    return replace(facts.tables["ACC_PMU"], name=document["table"], columns=columns)


def test_the_printed_table_is_valid() -> None:
    assert errors("table", printed("table")) == []
    assert [column.unit for column in printed_table().columns.values()] == [None, "ns", None, "%"]


def test_the_printed_enum_is_valid() -> None:
    assert errors("enum", printed("enum")) == []


def test_the_printed_rule_is_complete_and_trips_on_its_own_defect() -> None:
    document = printed("rule")
    known = {field.name for part in (Rule, DbSearch) for field in fields(part)}
    known |= {"rule", "table", "break"}
    assert document.keys() <= known
    assert document["rule"] not in load_rules(), "the example uses the number of a real rule"
    connection = sqlite3.connect(":memory:")
    table = printed_table()
    connection.execute(create_table(table, catalog().at("1.2.0-2026-07", "msprof")))
    connection.execute("INSERT INTO LINK_USAGE VALUES (0, 1, 2, 100)")
    query = f"SELECT rowid FROM LINK_USAGE WHERE {document['row']}"
    assert connection.execute(query).fetchall() == []
    for statement in document["break"]:
        connection.execute(statement)
    assert connection.execute(query).fetchall() == [(1,)]


def test_the_printed_bin_rule_is_complete_and_trips_on_its_own_defect() -> None:
    document = printed("rule", "BIN")
    vocabulary = files("ascend_conformance") / "vocabulary" / "bin_rule.schema.yaml"
    validator = Draft202012Validator(yaml.safe_load(vocabulary.read_text(encoding="utf-8")))
    assert [error.message for error in validator.iter_errors(document)] == []
    assert document["rule"] not in load_rules(), "the example uses the number of a real rule"
    load = {
        "block_id": "0",
        "block_type": "vector",
        "name": "Vector Wait",
        "unit": 3,
        "value": 30.5,
    }
    payload = canonical({"advice": [], "subblock_detail": [load]})
    clean = read_blocks(to_bytes([Block(0x06, payload)]), "clean.bin")
    broken = read_blocks(apply_edits(clean, document["break"], {}), "broken.bin")
    query = f"SELECT value FROM {document['table']} WHERE {document['row']}"
    for file, bad in ((clean, []), (broken, [(130.5,)])):
        with open_facts() as facts:
            collect(file, facts)
            assert facts.connection.execute(query).fetchall() == bad
