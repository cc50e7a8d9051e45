"""Servers that speak the API as the documents describe it (seed 004)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest
from probe_breaks import unwrapped
from probe_files import handmade, real
from probe_servers import (
    IMPATIENT,
    Change,
    Message,
    Reference,
    Sent,
    places,
    reference,
    told,
    unchanged,
)

from ascend_spec import api_catalog

DOCUMENTED = {
    "import/action": (
        "isCluster",
        "reset",
        "isSimulation",
        "isBinary",
        "isIpynb",
        "coreList",
        "sourceList",
        "result",
    ),
    "unit/threadTraces": ("data",),
}
"""Members of the bodies in the documents' examples, where the viewer of today adds others."""

CARD = ("cardName", "rankId", "cardPath", "result")
RENAMED = {"Instruction Executed": "Instructions Executed", "Cycle": "Cycles"}


def documented(_request: Message, message: Message) -> Iterable[Sent]:
    """The message as the documents have it; none to commands that they do not know."""
    if message["type"] == "event":
        return [message]
    command = message["command"]
    if api_catalog().commands[command].since is not None:
        return []
    message.pop("error", None)
    message["body"] = as_documented(command, message["body"])
    return [message]


def as_documented(command: str, body: Any) -> Any:
    if command in DOCUMENTED:
        body = {key: body[key] for key in DOCUMENTED[command]}
    if command == "import/action":
        body["result"] = [{key: card[key] for key in CARD} for card in body["result"]]
    elif command == "unit/threadDetail":
        raw = ("rawStartTime", "rawEndTime")
        body["data"] = {key: body["data"][key] for key in body["data"] if key not in raw}
    elif command == "source/api/line":
        body["lines"] = [
            {RENAMED.get(key, key): line[key] for key in line} for line in body["lines"]
        ]
    elif command.startswith("source/details"):
        body = unwrapped(body)
        for figure in body.get("tableData", {}).get("detailDataList", ()):
            del figure["originValue"]
    return body


def silent(_request: Message, message: Message) -> Iterable[Sent]:
    """As the documents, which name no event."""
    return [] if message["type"] == "event" else documented(_request, message)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reference]:
    with reference(handmade(tmp_path_factory.mktemp("probed"))) as running:
        yield running


def test_the_documented_form_is_accepted_as_the_older_generation(server: Reference) -> None:
    found = server.report(documented)
    assert told(found) == {}
    assert found.seen is not None
    assert found.seen.revision == "seed"
    in_seed = {name for name, one in api_catalog().commands.items() if one.since is None}
    assert found.seen.rows.keys() == in_seed
    assert {skip.reason for skip in found.skipped} == {
        "not part of generation seed of the API",
        "generation seed of the API compares nothing",
    }


@pytest.mark.parametrize("name", ["mix.bin", "base_info.bin"])
def test_the_documented_form_is_accepted_with_a_real_file(name: str) -> None:
    with reference(real(name)) as running:
        assert told(running.report(documented)) == {}


def test_events_of_a_form_that_nobody_documented_are_taken_for_their_lanes(
    server: Reference,
) -> None:
    def change(request: Message, message: Message) -> Iterable[Sent]:
        if message.get("event") == "parse/success":
            told = {"unit": message["body"]["unit"], "start": 0}
            return [{"type": "event", "event": "parse/success", "body": told}]
        return documented(request, message)

    found = server.report(change)
    assert told(found) == {}
    assert found.seen is not None
    assert "unit/flows" in found.seen.rows


@pytest.mark.parametrize(("form", "generation"), [(unchanged, "upstream"), (documented, "seed")])
def test_events_may_come_before_the_answer_to_the_import(
    server: Reference, form: Change, generation: str
) -> None:
    held: list[Sent] = []

    def change(request: Message, message: Message) -> Iterable[Sent]:
        sent = list(form(request, message))
        if request["command"] == "import/action" and message["type"] == "response":
            held.extend(sent)
            return [] if message["result"] else sent
        is_last = message.get("event") == "parse/unitCompleted"
        return [*sent, *(held if is_last else ())]

    found = server.report(change)
    assert told(found) == {}
    assert found.seen is not None
    assert found.seen.revision == generation


def test_without_events_nobody_can_ask_for_lanes(server: Reference) -> None:
    found = server.report(silent, timeout=IMPATIENT)
    assert told(found) == {}
    reasons = {skip.reason for skip in found.skipped if skip.place.startswith("unit/thread")}
    assert "the server gave no name of process core0.cubecore0" in reasons


def test_a_number_where_the_documents_show_one_is_advice_with_its_erratum(
    server: Reference,
) -> None:
    """The documents' example has request 257 as a number (A12)."""

    def numbers(request: Message, message: Message) -> Iterable[Sent]:
        for sent in documented(request, message):
            assert isinstance(sent, dict)
            if sent.get("command") == "source/details/memoryGraph" and sent["result"]:
                for element in sent["body"]["coreMemory"]:
                    for path in element["memoryUnit"]:
                        path["request"] = int(path["request"])
            yield sent

    found = server.report(numbers)
    (one,) = found.findings
    assert (one.rule, one.verdict, one.erratum) == ("API013", "advice", "A12")
    assert one.place == "source/details/memoryGraph: /body/coreMemory/*/memoryUnit/*/request"


def broken_by(act: Callable[[Any], None], command: str) -> Change:
    def change(request: Message, message: Message) -> Iterable[Sent]:
        for sent in documented(request, message):
            assert isinstance(sent, dict)
            if sent.get("command") == command and sent["result"]:
                act(sent["body"])
            yield sent

    return change


def test_a_wrong_value_of_the_older_form_is_found(server: Reference) -> None:
    change = broken_by(lambda body: body.update(opType="matmul"), "source/details/baseInfo")
    expected = {("API004", "source/details/baseInfo", "/body/opType")}
    assert places(server.report(change)) == expected


def test_a_missing_member_of_the_older_form_is_found(server: Reference) -> None:
    change = broken_by(lambda body: body.pop("soc"), "source/details/baseInfo")
    expected = {("API003", "source/details/baseInfo", "/body/soc")}
    assert places(server.report(change)) == expected
