"""The documents of the API hang together."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from typing import Any

import jsonschema_rs
import pytest
from jsonschema import Draft202012Validator
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from ascend_spec import api_catalog, bin_catalog, packaged
from ascend_spec.api.catalog import DOCUMENTS
from ascend_spec.core.dialect import inlined

GENERATIONS = [generation.id for generation in api_catalog().generations]
DEFINITIONS = sorted(api_catalog().definitions)
TOPICS = {"baseline", "error-codes", "examples", "transport"}


def nodes(node: Any) -> Iterator[dict[str, Any]]:
    """Every mapping of a document, those that map names to schemas among them."""
    if isinstance(node, dict):
        yield node
        for inner in node.values():
            yield from nodes(inner)
    elif isinstance(node, list):
        for inner in node:
            yield from nodes(inner)


def errors(kind: str, document: object) -> list[str]:
    """What the meta-schema of a kind of document finds wrong with one."""
    vocabulary = [
        *packaged().folder.documents("api/vocabulary"),
        *packaged().folder.documents("vocabulary"),
    ]
    registry: Registry[Any] = Registry().with_resources(
        (name.rpartition("/")[2], DRAFT202012.create_resource(schema))
        for name, schema in reversed(vocabulary)
    )
    folder = "vocabulary" if kind == "dialect" else "api/vocabulary"
    meta = packaged().folder.read(f"{folder}/{kind}.schema.yaml")
    found = Draft202012Validator(meta, registry=registry).iter_errors(document)
    return [f"{error.json_path}: {error.message}" for error in found]


@pytest.mark.parametrize("name", ["commands", "errata", "errors", "events", "generations"])
def test_a_list_obeys_its_meta_schema(name: str) -> None:
    assert errors(name, packaged().folder.read(f"api/{name}.yaml")) == []


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_of_schemas_obeys_its_meta_schema(name: str) -> None:
    assert errors("dialect", packaged().folder.read(f"api/{name}.schema.yaml")) == []


@pytest.mark.parametrize(
    "node", [{"tpye": "string"}, {"since": 3}, {"description": "No period"}, {"erratum": "E1"}]
)
def test_the_meta_schema_notices(node: object) -> None:
    document = packaged().folder.read("api/global.schema.yaml")
    assert len(errors("dialect", {**document, "$defs": {"x": node}})) == 1


def test_the_generations_are_those_of_the_vocabulary() -> None:
    words = packaged().folder.read("api/vocabulary/words.schema.yaml")
    assert words["$defs"]["generation"]["enum"] == GENERATIONS


def test_units_of_loads_are_the_labels_of_their_codes() -> None:
    labels = [member.label for member in bin_catalog().enums["units"].members]
    figure = api_catalog().definitions["workloadFigure"]
    assert figure["properties"]["unit"]["enum"] == [*labels, ""]


def test_every_block_type_that_is_read_answers_a_command() -> None:
    answering = {code for one in api_catalog().commands.values() for code in one.blocks}
    assert answering == {
        code for code, block in bin_catalog().blocks.items() if block.read != "never"
    }


@pytest.mark.parametrize("generation", GENERATIONS)
def test_every_definition_in_force_is_a_schema_without_open_ends(generation: str) -> None:
    for name in DEFINITIONS:
        try:
            schema = api_catalog().schema(name, generation)
        except KeyError:
            continue
        jsonschema_rs.meta.validate(schema)
        for node in nodes(schema):
            assert not {"since", "until", "variants"} & node.keys()
            if isinstance(node.get("$ref"), str):
                assert node["$ref"].removeprefix("#/$defs/") in schema["$defs"]


def test_names_of_definitions_are_given_once() -> None:
    documents = sorted(
        entry.name
        for entry in (files("ascend_spec") / "api").iterdir()
        if entry.name.endswith(".schema.yaml")
    )
    assert documents == sorted(f"{name}.schema.yaml" for name in DOCUMENTS)
    names = [
        name
        for document in documents
        for name in packaged().folder.read(f"api/{document}")["$defs"]
    ]
    assert sorted(names) == DEFINITIONS


def test_every_definition_is_used() -> None:
    known = api_catalog()
    roots = {"request", "response", "event"}
    roots |= {
        name for command in known.commands.values() for name in (command.params, command.body)
    }
    roots |= {event.body for event in known.events.values()}
    reached = set()
    for root in roots:
        for generation in GENERATIONS:
            try:
                reached |= {root, *known.schema(root, generation).get("$defs", {})}
            except KeyError:
                continue
    assert reached == set(DEFINITIONS)


def test_every_property_is_described() -> None:
    bare = [
        f"{name}.{key}"
        for name, definition in api_catalog().definitions.items()
        for node in nodes(definition)
        if "properties" in node and "type" in node
        for key, rule in node["properties"].items()
        if isinstance(rule, dict) and not {"description", "const", "$ref", "variants"} & rule.keys()
    ]
    assert bare == []


def test_a_command_is_there_in_the_generations_that_it_names() -> None:
    known = api_catalog()
    assert [name for name, command in known.commands.items() if command.since is None] == [
        "import/action",
        "unit/threadTracesSummary",
        "unit/threadTraces",
        "unit/flows",
        "unit/threadDetail",
        "source/code/file",
        "source/api/line",
        "source/api/instructions",
        "source/details/baseInfo",
        "source/details/computeworkload",
        "source/details/memoryGraph",
        "source/details/memoryTable",
    ]
    for name, command in known.commands.items():
        known.schema(known.commands[name].params)
        known.schema(known.commands[name].body)
        if command.since is None:
            known.schema(known.commands[name].params, "seed")
            known.schema(known.commands[name].body, "seed")
        else:
            with pytest.raises(KeyError):
                known.schema(known.commands[name].params, "seed")
            with pytest.raises(KeyError):
                known.schema(known.commands[name].body, "seed")
    for event in known.events:
        known.schema(known.events[event].body)
        with pytest.raises(KeyError):
            known.schema(known.events[event].body, "seed")


def test_a_command_s_definitions_stand_in_the_document_that_it_names() -> None:
    for row in (
        *packaged().folder.read("api/commands.yaml"),
        *packaged().folder.read("api/events.yaml"),
    ):
        for reference in (row.get("params"), row["body"]):
            if reference is not None:
                document, _, name = reference.partition("#/$defs/")
                assert name in packaged().folder.read(f"api/{document}")["$defs"]


def test_every_fact_names_a_source_of_its_own_kind() -> None:
    cited = {
        citation.split(" ")[0]
        for definition in api_catalog().definitions.values()
        for node in nodes(definition)
        for citation in (node["source"] if isinstance(node.get("source"), list) else [])
    } | {claim for erratum in api_catalog().errata.values() for claim, _ in erratum.says}
    assert cited == {"seed-004", "upstream-msinsight"} <= set(bin_catalog().documents.sources)
    unfounded = [
        name
        for name, command in api_catalog().commands.items()
        if not any(
            "source" in api_catalog().definitions[part] for part in (command.params, command.body)
        )
    ]
    assert unfounded == []


def test_errata_are_numbered_without_gaps_and_name_places_that_exist() -> None:
    errata = api_catalog().errata
    assert list(errata) == [f"A{number}" for number in range(1, len(errata) + 1)]
    for erratum in errata.values():
        for place in erratum.at:
            name, _, member = place.partition(".")
            if place in TOPICS:
                continue
            definition = api_catalog().definitions[name]
            assert not member or member in definition["properties"], place


def test_cited_errata_exist() -> None:
    cited = {
        node["erratum"]
        for definition in api_catalog().definitions.values()
        for node in nodes(definition)
        if isinstance(node.get("erratum"), str)
    }
    assert cited <= set(api_catalog().errata)
    by_topic = {name for name, e in api_catalog().errata.items() if set(e.at) <= TOPICS}
    assert set(api_catalog().errata) - cited == by_topic


def test_error_codes_are_given_once() -> None:
    codes = [error.code for error in api_catalog().errors.values()]
    assert len(set(codes)) == len(codes)


@pytest.mark.parametrize(
    ("definition", "code"),
    [
        ("baseInfo", 0x05),
        ("workload", 0x06),
        ("workload", 0x07),
        ("memoryGraphBody", 0x08),
        ("memoryTableBody", 0x09),
        ("rooflineBody", 0x0D),
    ],
)
def test_what_an_answer_shows_is_a_member_of_the_payload(definition: str, code: int) -> None:
    """Up to the halves of a comparison, which show what the object around them shows."""
    known = {name for keys in bin_catalog().known_keys(code, "E3").values() for name in keys}
    shown = {
        (name, node["shows"])
        for schema in nodes(inlined(api_catalog().schema(definition)))
        for name, node in schema.get("properties", {}).items()
        if isinstance(node, dict) and "shows" in node
    }
    assert shown
    assert {member for _, member in shown} <= known
