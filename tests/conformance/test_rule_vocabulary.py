"""The documents of all rules obey the schema of their medium, and these share what they can."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator
from referencing import Registry
from referencing.jsonschema import DRAFT202012
from slices import some

import ascend_conformance
from ascend_conformance.media import load_rules

PACKAGE = Path(ascend_conformance.__file__).parent
SCHEMAS = {
    path.name: yaml.safe_load(path.read_text("utf-8"))
    for path in (PACKAGE / "vocabulary").glob("*.yaml")
}
REGISTRY: Registry[Any] = Registry().with_resources(
    (name, DRAFT202012.create_resource(schema)) for name, schema in SCHEMAS.items()
)
FOLDERS = {"": "rule", "api": "api_rule", "bin": "bin_rule", "relations": "relation"} | {
    "mindspore": "mindspore_rule",
    "raw": "raw_rule",
    "text": "text_rule",
}
"""The schema of the rules in each folder."""


@cache
def documents(folder: str) -> list[dict[str, Any]]:
    return [
        document
        for path in sorted((PACKAGE / "rules" / folder).glob("*.yaml"))
        for document in yaml.safe_load(path.read_text("utf-8"))
    ]


def problems(folder: str, document: dict[str, Any]) -> list[str]:
    schema = SCHEMAS[f"{FOLDERS[folder]}.schema.yaml"]
    found = Draft202012Validator(schema, registry=REGISTRY).iter_errors(document)
    return [error.message for error in found]


@pytest.mark.parametrize("folder", FOLDERS)
def test_documents_obey_their_schema(folder: str) -> None:
    for document in documents(folder):
        assert problems(folder, document) == [], document


@pytest.mark.parametrize("folder", some(FOLDERS, every=3))
@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("name", "In Words"),
        ("grade", "guessed"),
        ("summary", "no full stop"),
        ("source", []),
        ("also", {}),
        ("unknown", 1),
    ],
)
def test_a_document_that_departs_is_refused(folder: str, member: str, value: object) -> None:
    assert problems(folder, documents(folder)[0] | {member: value})


def test_every_rule_is_in_one_of_the_folders() -> None:
    known = {one.get("rule", one.get("relation")) for name in FOLDERS for one in documents(name)}
    assert {name for name, rule in load_rules().items() if rule.medium != "any"} == known
