"""The dialect of JSON Schema: one meaning for every document that is written in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from ascend_spec import api_catalog, bin_catalog, document_catalog, packaged
from ascend_spec.core.dialect import (
    NotInForce,
    along,
    annotation_at,
    compile_schema,
    inlined,
    known_keys,
    walk,
)
from ascend_spec.core.pointer import keys_of, pointer_of
from ascend_spec.core.values import SetMember, ValueSet

AXES: Mapping[str, list[str]] = {
    "bin/payloads": [epoch.id for epoch in bin_catalog().epochs],
    "api": [generation.id for generation in api_catalog().generations],
    "documents": [],
}
DOCUMENTS = [
    (folder, name, document)
    for folder in AXES
    for name, document in packaged().folder.documents(folder)
    if name.endswith(".schema.yaml")
]


def compiled(
    document: dict[str, Any],
    at: int = 1,
    *members: SetMember,
    closed: bool = True,
    writer: str = "w",
) -> Any:
    """The document at point ``at`` of E0, E1, E2, with one set named ``words``."""

    def holds(node: Mapping[str, Any]) -> bool:
        since, until = node.get("since", "E0"), node.get("until", "E9")
        return int(since[1]) <= at < int(until[1]) and writer in node.get("writers", [writer])

    words = ValueSet("words", "Words.", (), members, closed)
    return compile_schema(document, document.get("$defs", {}), holds, {"words": words})


def test_what_is_not_in_force_goes_and_its_requirement_with_it() -> None:
    document = {
        "required": ["a", "b", "c", "d", "elsewhere"],
        "properties": {
            "a": {"since": "E2"},
            "b": {"until": "E1"},
            "c": {"since": "E1", "until": "E2"},
            "d": {"writers": ["x"]},
        },
        "patternProperties": {"^e": {"since": "E2"}, "^f": {}},
        "items": {"since": "E2"},
        "allOf": [{"since": "E2", "type": "object"}],
    }
    assert compiled(document) == {
        "properties": {"c": {}},
        "required": ["c", "elsewhere"],
        "patternProperties": {"^f": {}},
    }


def test_a_reference_to_what_is_not_in_force_is_not_in_force() -> None:
    document = {
        "required": ["a"],
        "properties": {"a": {"$ref": "#/$defs/new"}},
        "$defs": {"new": {"$ref": "#/$defs/newer"}, "newer": {"since": "E2", "const": 1}},
    }
    assert compiled(document) == {"properties": {}}
    assert compiled(document, at=2)["required"] == ["a"]
    with pytest.raises(NotInForce):
        compiled({"since": "E2"})


def test_references_remain_with_what_they_lead_to() -> None:
    document = {
        "$ref": "other.schema.yaml#/$defs/a",
        "$defs": {"unused": {}, "b": {"type": "null"}, "a": {"items": {"$ref": "#/$defs/b"}}},
    }
    assert compiled(document) == {
        "$ref": "#/$defs/a",
        "$defs": {"b": {"type": "null"}, "a": {"items": {"$ref": "#/$defs/b"}}},
    }


def test_annotations_beside_a_reference_win_and_demands_hold_as_well() -> None:
    definition = {"type": "integer", "minimum": 0, "unit": "us", "erratum": "B1"}
    beside = {"$ref": "#/$defs/here", "unit": "ns", "description": "Start."}
    assert inlined({**beside, "$defs": {"here": definition}}) == {
        "type": "integer",
        "minimum": 0,
        "unit": "ns",
        "erratum": "B1",
        "description": "Start.",
    }
    both = {"properties": {"a": {**beside, "minimum": -1}}, "$defs": {"here": definition}}
    for schema in (both, inlined(both)):
        validator = Draft202012Validator(schema)
        assert validator.is_valid({"a": 0})
        assert not validator.is_valid({"a": -1})


def test_members_of_a_node_and_of_its_definition_are_joined() -> None:
    definition = {
        "required": ["id"],
        "properties": {
            "id": {"type": "integer"},
            "type": {"enum": ["a", "b"], "description": "Kind."},
        },
    }
    own = {
        "$ref": "#/$defs/message",
        "required": ["body"],
        "properties": {"type": {"const": "a"}, "body": {}},
    }
    assert inlined({**own, "$defs": {"message": definition}}) == {
        "required": ["id", "body"],
        "properties": {
            "id": {"type": "integer"},
            "type": {"enum": ["a", "b"], "description": "Kind.", "const": "a"},
            "body": {},
        },
    }
    closed = {**definition, "additionalProperties": False}
    both = {**own, "$defs": {"message": closed}}
    for value in ({"id": 1, "body": 1}, {"id": 1, "type": "a"}):
        assert not Draft202012Validator(both).is_valid(value)
        assert not Draft202012Validator(inlined(both)).is_valid(value)


def test_a_definition_that_holds_itself_remains_a_definition() -> None:
    document = {
        "$ref": "#/$defs/tree",
        "$defs": {
            "tree": {
                "properties": {"leaf": {"$ref": "#/$defs/leaf"}, "in": {"$ref": "#/$defs/tree"}}
            },
            "leaf": {"type": "integer", "erratum": "A1"},
        },
    }
    tree = {
        "properties": {"leaf": {"type": "integer", "erratum": "A1"}, "in": {"$ref": "#/$defs/tree"}}
    }
    found = inlined(compiled(document))
    assert found == {**tree, "$defs": {"tree": tree}}
    path = ["properties", "in", "properties", "leaf", "type"]
    assert annotation_at(found, path, "erratum") == "A1"
    assert [place for place, _ in along(found, path)] == ["", "/in", "/in/leaf"]


@pytest.mark.parametrize("axis", ["since", "writers"])
def test_the_variant_in_force_takes_the_place_and_what_it_states_wins(axis: str) -> None:
    """Of one node two of the former dialects gave the outer description, one the inner."""
    now = {"since": "E1"} if axis == "since" else {"writers": ["w"]}
    then = {"until": "E1"} if axis == "since" else {"writers": ["x"]}
    node = {
        "description": "outer",
        "erratum": "B1",
        "variants": [{**then, "type": "array"}, {**now, "description": "inner", "type": "object"}],
    }
    assert compiled(node) == {"description": "inner", "erratum": "B1", "type": "object"}


def test_a_node_wins_over_what_its_variant_refers_to() -> None:
    node = {
        "description": "The blocks.",
        "variants": [{"until": "E1"}, {"since": "E1", "$ref": "#/$defs/table"}],
        "$defs": {"table": {"description": "A table.", "type": "object"}},
    }
    assert inlined(compiled(node)) == {"description": "The blocks.", "type": "object"}


def test_without_a_variant_in_force_there_is_no_node() -> None:
    variants = [{"until": "E1", "type": "array"}, {"since": "E1", "until": "E2", "type": "object"}]
    document = {"required": ["a"], "properties": {"a": {"erratum": "B1", "variants": variants}}}
    assert compiled(document)["properties"] == {"a": {"erratum": "B1", "type": "object"}}
    assert compiled(document, at=2) == {"properties": {}}


def test_values_of_a_closed_set_are_listed_and_aliases_are_advice() -> None:
    members = (
        SetMember(1),
        SetMember(2, until="E1", erratum="B1"),
        SetMember(3, alias_of=1, erratum="B2"),
    )
    assert compiled({"values_of": "words", "or_text": True}, 1, *members) == {
        "enum": [1, 3, "1", "3"],
        "allOf": [{"enum": [1, "1"], "erratum": "B2", "advisory": True}],
    }


def test_an_open_set_forbids_only_what_went_out_of_use() -> None:
    members = (SetMember("new", since="E1"), SetMember("old", until="E1", erratum="B1"))
    assert compiled({"values_of": "words"}, 0, *members, closed=False) == {}
    assert compiled({"values_of": "words"}, 1, *members, closed=False) == {
        "allOf": [{"not": {"enum": ["old"]}, "erratum": "B1", "advisory": True}]
    }


def test_keys_of_a_set_become_required_properties() -> None:
    document = {"keys_of": "words", "each": {"type": "integer"}}
    assert compiled(
        document, 1, SetMember("a", "First."), SetMember("b", "Second.", since="E2")
    ) == {
        "properties": {"a": {"type": "integer", "description": "First."}},
        "required": ["a"],
    }


def test_an_erratum_about_absence_stands_beside_its_own_requirement() -> None:
    """An erratum about the value is none about its absence."""
    document = {
        "required": ["a", "b"],
        "properties": {
            "a": {"missing": {"erratum": "B1", "advisory": True}},
            "b": {"erratum": "B2"},
        },
    }
    schema = compiled(document)
    assert schema == {
        "properties": {"a": {}, "b": {"erratum": "B2"}},
        "required": ["b"],
        "allOf": [{"required": ["a"], "erratum": "B1", "advisory": True}],
    }
    (absent,) = Draft202012Validator(schema).iter_errors({"b": 0})
    assert annotation_at(schema, list(absent.absolute_schema_path), "erratum") == "B1"
    (absent,) = Draft202012Validator(schema).iter_errors({"a": 0})
    assert annotation_at(schema, list(absent.absolute_schema_path), "erratum") is None


def test_known_keys_are_given_by_place_and_free_objects_are_left_out() -> None:
    schema = {
        "properties": {
            "list": {
                "items": {"properties": {"a/b": {}}},
                "prefixItems": [{"properties": {"c": {}}}],
            },
            "free": {"additionalProperties": {"properties": {"d": {}}}},
            "closed": {"additionalProperties": False, "properties": {"e": {}}},
        },
        "allOf": [{"properties": {"more": {}}}],
        "if": {"properties": {"asked": {}}},
        "then": {"properties": {"then": {}}},
    }
    assert known_keys(schema) == {
        "": {"list", "free", "closed", "more", "then"},
        "/list/*": {"a/b", "c"},
        "/free/*": {"d"},
        "/closed": {"e"},
    }


@pytest.mark.parametrize(
    ("value", "place", "erratum"),
    [
        ({"erratum": 1}, "/erratum", "B1"),  # a property of that name is no annotation
        ({"a": [1]}, "/a/*", "B2"),
        ({"b": {"x": "y"}}, "/b/*", "B3"),  # of the definition, through a reference
        ({"c": {"x": "y"}}, "/c/*", "B4"),  # of what refers, not of the definition
        ({"d/e": {"f": ["x"]}}, "/d~1e/*/*", "B5"),
    ],
)
def test_a_failing_keyword_leads_to_its_place_and_its_erratum(
    value: object, place: str, erratum: str
) -> None:
    schema = {
        "erratum": "B1",
        "properties": {
            "erratum": {"type": "string"},
            "a": {"items": {"erratum": "B2", "type": "string"}},
            "b": {"additionalProperties": {"$ref": "#/$defs/number"}},
            "c": {"additionalProperties": {"$ref": "#/$defs/number", "erratum": "B4"}},
            "d/e": {
                "patternProperties": {"^f": {"prefixItems": [{"type": "null"}]}},
                "erratum": "B5",
            },
        },
        "$defs": {"number": {"type": "number", "erratum": "B3"}},
    }
    (error,) = Draft202012Validator(schema).iter_errors(value)
    path = list(error.absolute_schema_path)
    assert annotation_at(schema, path, "erratum") == erratum
    assert [at for at, _ in along(schema, path)][-1] == place
    assert annotation_at(inlined(schema), path, "erratum") == erratum
    assert annotation_at(schema, ["nowhere"], "unit") is None


@pytest.mark.parametrize(
    ("keys", "pointer"),
    [([], ""), ([""], "/"), (["a/b", "m~n", 0], "/a~1b/m~0n/0"), (["~1"], "/~01")],
)
def test_pointers_are_those_of_rfc_6901(keys: list[str | int], pointer: str) -> None:
    assert pointer_of(keys) == pointer
    assert keys_of(pointer) == list(map(str, keys))


# --- the documents that are written in it ---------------------------------------------------------


def nodes(document: Any) -> Iterator[Mapping[str, Any]]:
    """Every mapping in a document, schema or not."""
    if isinstance(document, dict):
        yield document
    for inner in document.values() if isinstance(document, dict) else document:
        if isinstance(inner, (dict, list)):
            yield from nodes(inner)


@pytest.mark.parametrize(
    ("folder", "name", "document"), DOCUMENTS, ids=[name for _, name, _ in DOCUMENTS]
)
def test_bounds_are_points_of_the_axis_of_the_document(
    folder: str, name: str, document: dict[str, Any]
) -> None:
    family = {"api": "A", "bin/payloads": "B", "documents": "T"}[folder]
    writers = (
        document_catalog().writers_of(name.rpartition("/")[2].partition(".")[0])
        if folder == "documents"
        else ()
    )
    for node in nodes(document):
        bounds = [node[key] for key in ("since", "until") if isinstance(node.get(key), str)]
        assert set(bounds) <= set(AXES[folder])
        assert bounds == sorted(bounds, key=AXES[folder].index)
        if isinstance(node.get("writers"), list):
            assert set(node["writers"]) <= set(writers)
        if isinstance(node.get("erratum"), str):
            assert node["erratum"].startswith(family)


@pytest.mark.parametrize(
    ("folder", "name", "document"), DOCUMENTS, ids=[name for _, name, _ in DOCUMENTS]
)
def test_at_most_one_variant_is_in_force(folder: str, name: str, document: dict[str, Any]) -> None:
    axis = AXES[folder]
    for node in nodes(document):
        for variants in [node["variants"]] if isinstance(node.get("variants"), list) else []:
            points = [
                point
                for one in variants
                for point in one.get("writers")
                or axis[
                    axis.index(one.get("since", axis[0])) : axis.index(one["until"])
                    if "until" in one
                    else None
                ]
            ]
            assert len(points) == len(set(points)), name


def test_no_document_of_a_set_repeats_the_name_of_a_definition() -> None:
    payloads = [document for folder, _, document in DOCUMENTS if folder == "bin/payloads"]
    shared = next(one for one in payloads if one["title"] == "Definitions that the payloads share")
    for document in payloads:
        if document is not shared:
            assert not document.get("$defs", {}).keys() & shared["$defs"].keys()


def test_nothing_of_the_dialect_but_annotations_remains() -> None:
    resolved = {"since", "until", "writers", "variants", "missing", "values_of", "each"}
    for code in filter(bin_catalog().has_schema, bin_catalog().blocks):
        for _, node in walk(bin_catalog().payload_schema(code, "E2")):
            assert not resolved & node.keys()
