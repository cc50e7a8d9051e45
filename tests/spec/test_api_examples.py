"""The schemas of the API agree with the examples of seed document 004."""

from __future__ import annotations

from collections.abc import Iterator

from api_examples import Example, document, examples
from jsonschema import Draft202012Validator

from ascend_spec import api_catalog
from ascend_spec.core.dialect import annotation_at

Fault = tuple[str, str, str | None]


def faults(example: Example, generation: str) -> Iterator[Fault]:
    """What does not fit, as (message, place in it, erratum)."""
    known = api_catalog()
    command = example.message["command"]
    if example.message["type"] == "request":
        schemas = [
            known.schema("request", generation),
            known.schema(known.commands[command].params, generation),
        ]
    else:
        schemas = [
            known.schema("response", generation),
            known.schema(known.commands[command].body, generation),
        ]
    for schema, value in zip(schemas, [example.message, example.content], strict=True):
        for error in Draft202012Validator(schema).iter_errors(value):
            erratum = annotation_at(schema, list(error.absolute_schema_path), "erratum")
            yield example.place, error.json_path, erratum


def test_no_example_is_missed() -> None:
    text = document()
    found = examples()
    kinds = [example.message["type"] for example in found]
    assert kinds.count("request") == text.count('"type": "request"') == 12
    assert kinds.count("response") == text.count('"type": "response"') == 12
    assert len(found) == text.count('"moduleName"') == text.count('"command"') == 24


def test_each_documented_command_has_a_request_and_an_answer() -> None:
    documented = {name for name, command in api_catalog().commands.items() if command.since is None}
    for kind in ("request", "response"):
        named = [e.message["command"] for e in examples() if e.message["type"] == kind]
        assert sorted(named) == sorted(documented)


def test_every_example_is_of_the_documented_generation_or_named_by_an_erratum() -> None:
    found = [fault for example in examples() for fault in faults(example, "seed")]
    assert found == [
        (
            "response source/details/memoryGraph",
            "$.coreMemory[0].memoryUnit[0].request",
            "A12",
        )
    ]


def test_examples_of_today_s_generation_differ_where_errata_or_additions_say_so() -> None:
    found = [fault for example in examples() for fault in faults(example, "upstream")]
    by_message: dict[str, set[str | None]] = {}
    for place, _, erratum in found:
        by_message.setdefault(place, set()).add(erratum)
    assert by_message == {
        "request import/action": {"A3"},
        "response import/action": {None},  # members that were added since
        "response unit/threadTraces": {None},
        "response unit/threadDetail": {None},
        "response source/api/line": {"A6"},
        "response source/details/baseInfo": {"A8"},
        "response source/details/computeworkload": {"A8"},
        "response source/details/memoryGraph": {"A8"},
        "response source/details/memoryTable": {"A8"},
    }


def test_the_examples_that_are_no_json_are_those_of_the_erratum() -> None:
    mended = {example.place: example.mended for example in examples() if example.mended}
    assert mended == {
        "response source/details/memoryTable": ("comma",),
        "response unit/threadDetail": ("quote",),
    }
    claim = dict(api_catalog().errata["A21"].says)["seed-004"]
    assert "memoryTable" in claim
    assert "threadDetail" in claim


def test_the_answers_to_another_request_are_those_of_the_erratum() -> None:
    found = examples()
    ids = {e.message["command"]: e.message["id"] for e in found if e.message["type"] == "request"}
    strangers = {
        e.message["command"]: e.message["requestId"]
        for e in found
        if e.message["type"] == "response" and e.message["requestId"] != ids[e.message["command"]]
    }
    assert strangers == {
        "source/api/line": 4773,
        "source/api/instructions": 4771,
        "source/details/baseInfo": 285,
    }
    claim = dict(api_catalog().errata["A1"].says)["seed-004"]
    assert all(str(number) in claim for number in strangers.values())
