"""Each rule wakes for its own defect, at its place, and no other rule does."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, get_args

import pytest
from probe_breaks import breaking, column_of
from probe_files import handmade
from probe_servers import IMPATIENT, PATIENT, Reference, Sent, places, reference, told

from ascend_conformance.media import load_rules
from ascend_conformance.media.api.rules import ApiRule, Finds, load_api_rules
from ascend_spec import catalog

NO_BREAK = {"known-departure"}
"""Found on servers of the older generation only, see test_probe_generations."""


def breaks() -> Iterator[Any]:
    for rule in load_api_rules().values():
        for number, document in enumerate(rule.breaks):
            if "dropped" not in document:
                yield pytest.param(rule, document, id=f"{rule.id}-{number}")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reference]:
    with reference(handmade(tmp_path_factory.mktemp("probed"))) as running:
        yield running


def place_of(rule: ApiRule, document: Mapping[str, Any]) -> tuple[str, str | None]:
    """Table and column at which the break must be found."""
    table = document.get("event") or document["command"]
    if rule.search.finds in {"unreadable", "stray"}:
        return "connection", None
    pointer = next(
        (document[key] for key in ("set", "remove", "unwrap", "double") if key in document), ""
    )
    if "append" in document:
        pointer = f"{document['append']}/0"
    if rule.search.finds == "unknown-key":
        pointer = pointer.rpartition("/")[0]
    return table, column_of(pointer) or None


@pytest.mark.parametrize(("rule", "document"), list(breaks()))
def test_a_break_wakes_exactly_its_rule_at_its_place(
    server: Reference, rule: ApiRule, document: Mapping[str, Any]
) -> None:
    commands = (document["command"],) if "command" in document else ("import/action",)
    timeout = IMPATIENT if "silent" in document else PATIENT
    found = server.report(breaking(document), commands=commands, timeout=timeout)
    assert places(found) == {(rule.id, *place_of(rule, document))}, told(found)
    assert {one.verdict for one in found.findings} == {rule.verdict}


def test_every_rule_has_a_break_and_every_find_a_rule() -> None:
    rules = load_api_rules()
    assert {rule.search.finds for rule in rules.values()} == set(get_args(Finds))
    assert {rule.search.finds for rule in rules.values() if not rule.breaks} == NO_BREAK
    assert rules.keys() <= load_rules().keys()


def test_names_are_those_of_no_other_rule() -> None:
    others = [rule for rule in load_rules().values() if rule.id not in load_api_rules()]
    names = [rule.name for rule in (*others, *load_api_rules().values())]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("rule", load_api_rules().values(), ids=lambda rule: rule.id)
def test_sources_exist_and_bear_the_grade(rule: ApiRule) -> None:
    order = ["documented", "observed", "inferred"]
    grades = [
        catalog().documents.sources[citation.split(" ", 1)[0]].grade for citation in rule.source
    ]
    assert order.index(rule.grade) >= min(map(order.index, grades))


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (False, ("API010", "source/details/nothing", None)),
        (True, ("API006", "source/details/nothing", "/result")),
    ],
)
def test_an_answer_to_what_is_dropped_is_a_note_unless_it_claims_success(
    server: Reference, result: bool, expected: tuple[str, str, str | None]
) -> None:
    """The viewer's own server stays silent; a friendlier one may say no."""

    def dropped(text: str) -> list[Sent]:
        request = json.loads(text) if "nothing" in text else {}
        if not request:
            return []
        answer = {"type": "response", "id": 9999, "requestId": request["id"], "result": result}
        return [{**answer, "command": request["command"], "moduleName": "source", "body": {}}]

    found = server.report(dropped=dropped, commands=("source/details/baseInfo",))
    assert places(found) == set()
    found = server.report(dropped=dropped)
    assert places(found) == {expected}, told(found)
