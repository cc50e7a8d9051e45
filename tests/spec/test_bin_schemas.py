"""The payload schemas at each epoch: plain, valid, and nothing of another epoch in them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest
from bin_files import EPOCHS, payloads
from jsonschema import Draft202012Validator
from slices import some

from ascend_spec import bin_catalog

CODES = [code for code in bin_catalog().blocks if bin_catalog().has_schema(code)]
STATES = [(code, epoch.id) for code in CODES for epoch in bin_catalog().epochs]
OURS = {"unit", "erratum", "advisory", "references", "source"}
STANDARD = {
    *("$schema", "$id", "title", "description", "type", "enum", "const", "pattern", "minLength"),
    *("minimum", "maximum", "properties", "required", "propertyNames", "additionalProperties"),
    *("items", "prefixItems", "contains", "minItems", "maxItems", "not", "allOf", "if", "then"),
    "else",
}


def every_node(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """All sub-schemas, those of conditions too."""
    yield node
    for key, value in node.items():
        if key == "properties":
            for inner in value.values():
                yield from every_node(inner)
        elif key not in ("references", "enum", "const"):
            for inner in value if isinstance(value, list) else [value]:
                if isinstance(inner, dict):
                    yield from every_node(inner)


@pytest.mark.parametrize(("code", "epoch"), STATES)
def test_a_schema_is_plain_and_valid(code: int, epoch: str) -> None:
    schema = bin_catalog().payload_schema(code, epoch)
    jsonschema_rs.meta.validate(schema)
    jsonschema_rs.validator_for(schema)
    assert schema["$id"] == f"urn:ascend-ref:bin:{code:02X}:{epoch}"
    assert {key for node in every_node(schema) for key in node} - STANDARD - OURS == set()


@pytest.mark.parametrize("code", CODES)
def test_every_node_with_content_is_described(code: int) -> None:
    schema = bin_catalog().payload_schema(code, "E3")

    def bare(node: dict[str, Any], at: str) -> Iterator[str]:
        children = [(f"{at}/{name}", one) for name, one in node.get("properties", {}).items()]
        children += [
            (f"{at}/*", node[key]) for key in ("items", "additionalProperties") if key in node
        ]
        for place, child in children:
            if "description" not in child:
                yield place
            yield from bare(child, place)

    assert list(bare(schema, "")) == []


def test_a_schema_may_be_changed_by_its_receiver() -> None:
    bin_catalog().payload_schema(0x08, "E3").clear()
    assert bin_catalog().payload_schema(0x08, "E3")["type"] == "object"


@pytest.mark.parametrize("code", [0x00, 0x01, 0x0B, 0x10, -1])
def test_a_block_type_without_json_has_no_schema(code: int) -> None:
    assert not bin_catalog().has_schema(code)
    with pytest.raises(KeyError, match="holds no JSON"):
        bin_catalog().payload_schema(code, "E3")


def test_an_unknown_epoch_is_named() -> None:
    with pytest.raises(KeyError, match=r"unknown epoch 'E9'; known: E0, E1, E2, E3"):
        bin_catalog().payload_schema(0x05, "E9")


@pytest.mark.parametrize("name", some(EPOCHS, every=4))
@pytest.mark.parametrize("epoch", [epoch.id for epoch in bin_catalog().epochs])
def test_two_validators_agree_on_a_real_file(name: str, epoch: str) -> None:
    for code, payload in payloads(name).items():
        schema = bin_catalog().payload_schema(code, epoch)
        slow = sorted(
            list(map(str, e.absolute_path))
            for e in Draft202012Validator(schema).iter_errors(payload)
        )
        fast = sorted(
            list(map(str, e.instance_path))
            for e in jsonschema_rs.validator_for(schema).iter_errors(payload)
        )
        assert slow == fast, (name, code)
