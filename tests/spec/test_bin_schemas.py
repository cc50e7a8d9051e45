"""The payload schemas at each epoch: plain, valid, and nothing of another epoch in them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest
from bin_files import EPOCHS, payloads
from jsonschema import Draft202012Validator

from ascend_spec.bin import bin_catalog
from ascend_spec.bin.model import BinEnum, EnumMember
from ascend_spec.bin.schema import compile_payload, known_keys, nearest

CODES = [code for code in bin_catalog().blocks if bin_catalog().has_schema(code)]
STATES = [(code, epoch.id) for code in CODES for epoch in bin_catalog().epochs]
OURS = {"unit", "erratum", "advisory", "references"}
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
    Draft202012Validator.check_schema(schema)
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


@pytest.mark.parametrize("name", EPOCHS)
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


# --- the compiler, on documents of our own --------------------------------------------------------


def compiled(
    document: dict[str, Any], at: int = 1, *members: EnumMember, closed: bool = True
) -> Any:
    """The document at epoch ``at`` of E0, E1, E2, with one enum named ``words``."""
    words = BinEnum("words", "Words.", (), members, closed)
    shared = {"number": {"type": "integer", "minimum": 0, "unit": "us"}}

    def in_force(since: str | None, until: str | None) -> bool:
        return (since is None or int(since[1]) <= at) and (until is None or at < int(until[1]))

    return compile_payload(document, shared, {"words": words}, in_force)


def test_what_is_not_in_force_goes_and_its_requirement_with_it() -> None:
    document = {
        "required": ["a", "b", "c", "elsewhere"],
        "properties": {
            "a": {"since": "E2"},
            "b": {"until": "E1"},
            "c": {"since": "E1", "until": "E2"},
        },
        "allOf": [{"since": "E2", "type": "object"}],
    }
    assert compiled(document) == {"properties": {"c": {}}, "required": ["c", "elsewhere"]}


def test_a_reference_is_inlined_and_what_stands_beside_it_wins() -> None:
    document = {
        "$ref": "#/$defs/here",
        "$defs": {"here": {"$ref": "common.schema.yaml#/$defs/number", "minimum": 5}},
    }
    assert compiled(document) == {"type": "integer", "minimum": 5, "unit": "us"}


def test_the_variant_in_force_takes_the_place() -> None:
    variants = [{"until": "E1", "type": "array"}, {"since": "E1", "until": "E2", "type": "object"}]
    document = {"required": ["a"], "properties": {"a": {"erratum": "B1", "variants": variants}}}
    assert compiled(document)["properties"] == {"a": {"erratum": "B1", "type": "object"}}
    assert compiled(document, at=2) == {"properties": {}}


def test_values_of_a_closed_enum_are_listed_and_aliases_are_advice() -> None:
    members = (
        EnumMember(1),
        EnumMember(2, until="E1", erratum="B1"),
        EnumMember(3, alias_of=1, erratum="B2"),
    )
    assert compiled({"values_of": "words", "or_text": True}, 1, *members) == {
        "enum": [1, 3, "1", "3"],
        "allOf": [{"enum": [1, "1"], "erratum": "B2", "advisory": True}],
    }


def test_an_open_enum_forbids_only_what_went_out_of_use() -> None:
    members = (EnumMember("new", since="E1"), EnumMember("old", until="E1", erratum="B1"))
    assert compiled({"values_of": "words"}, 0, *members, closed=False) == {}
    assert compiled({"values_of": "words"}, 1, *members, closed=False) == {
        "allOf": [{"not": {"enum": ["old"]}, "erratum": "B1", "advisory": True}]
    }


def test_keys_of_an_enum_become_required_properties() -> None:
    document = {"keys_of": "words", "each": {"type": "integer"}}
    assert compiled(
        document, 1, EnumMember("a", "First."), EnumMember("b", "Second.", since="E2")
    ) == {
        "properties": {"a": {"type": "integer", "description": "First."}},
        "required": ["a"],
    }


def test_an_erratum_about_absence_stands_beside_its_own_requirement() -> None:
    document = {
        "required": ["a", "b"],
        "properties": {"a": {"missing": {"erratum": "B1", "advisory": True}}, "b": {}},
    }
    assert compiled(document) == {
        "properties": {"a": {}, "b": {}},
        "required": ["b"],
        "allOf": [{"required": ["a"], "erratum": "B1", "advisory": True}],
    }


def test_known_keys_are_told_by_place_and_free_objects_are_left_out() -> None:
    schema = {
        "properties": {
            "list": {
                "items": {"properties": {"a/b": {}}},
                "prefixItems": [{"properties": {"c": {}}}],
            },
            "free": {"additionalProperties": {"properties": {"d": {}}}},
        },
        "allOf": [{"properties": {"more": {}}}],
        "if": {"properties": {"asked": {}}},
        "then": {"properties": {"then": {}}},
    }
    assert known_keys(schema) == {
        "": {"list", "free", "more", "then"},
        "/list/*": {"a/b", "c"},
        "/free/*": {"d"},
    }


def test_the_nearest_annotation_is_found_and_a_property_of_its_name_is_none() -> None:
    schema = {
        "erratum": "B1",
        "properties": {
            "erratum": {"type": "string"},
            "a": {"items": {"erratum": "B2", "type": "string"}},
        },
    }
    assert nearest(schema, ["properties", "erratum", "type"], "erratum") is schema
    found = nearest(schema, ["properties", "a", "items", "type"], "erratum")
    assert found is not None
    assert found["erratum"] == "B2"
    assert nearest(schema, ["nowhere"], "unit") is None
