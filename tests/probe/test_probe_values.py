"""Every single value of every answer: wherever one is changed, the probe names that place."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest
from probe_breaks import column_of, edit
from probe_files import handmade
from probe_servers import Change, Message, Reference, Sent, places, reference, told
from slices import some

from ascend_spec import api_catalog

OWN = {
    "import/action": {
        "/body/children",
        "/body/result/*/cardName",
        "/body/result/*/cardPath",
        "/body/result/*/dbPath",
        "/body/result/*/rankId",
    },
    "source/details/memoryGraph": {
        "/body/coreMemory/*/memoryUnit/*/baseline/display",
        "/body/coreMemory/*/memoryUnit/*/diff/display",
    },
    "source/details/interCoreLoadAnalysis": {
        "/body/opDetails/*/subCoreDetails/*/simtVfInstructions/value/baseline",
        "/body/opDetails/*/subCoreDetails/*/simtVfInstructionPerCycle/value/baseline",
    },
    "unit/threadTraces": {"/body/data/*/*/id"},
    "global/setBaseline": {"/body/cardName", "/body/dbPath", "/body/errorMessage", "/body/rankId"},
    "parse/success": {
        "/body/dbPath",
        "/body/rankList/*/deviceId",
        "/body/rankList/*/rankId",
        "/body/rankList/*/rankName",
        "/body/unit/metadata/cardAlias",
    },
    "parse/unitCompleted": {"/body/dbId"},
    "allPagesSuccess": {"/body/cardOffsets/*/cardId"},
}
"""The server's own choice (bin-blocks.md 7.2), or left to chance by the viewer's."""

NAMES = ("cardId", "processId", "threadId")
"""Names of the server's own that it must stand by in later answers."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reference]:
    with reference(handmade(tmp_path_factory.mktemp("probed"))) as running:
        yield running


@pytest.fixture(scope="module")
def messages(server: Reference) -> list[Message]:
    """All that the reference sends during a probe."""
    found: list[Message] = []

    def keep(_request: Message, message: Message) -> Iterable[Sent]:
        found.append(copy.deepcopy(message))
        return [message]

    server.report(keep)
    return found


def values(value: Any, pointer: str) -> Iterator[tuple[str, Any]]:
    """Every value in a message with its pointer, containers before what they hold."""
    yield pointer, value
    if isinstance(value, dict):
        for key, member in value.items():
            yield from values(member, f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}")
    elif isinstance(value, list):
        for place, element in enumerate(value):
            yield from values(element, f"{pointer}/{place}")


def other(value: Any) -> Any:
    """Another value of the same type."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, str):
        return f"{value}1" if value.isdecimal() else f"{value}other"
    return value + 1 if isinstance(value, int) else 2 * value + 1


def name_of(message: Message) -> str:
    return str(message.get("event", message.get("command")))


def is_same(message: Message, other: Message) -> bool:
    return name_of(message) == name_of(other) and message["body"] == other["body"]


def one_of_each_column(messages: list[Message], name: str) -> dict[str, tuple[Message, str, Any]]:
    """By column: a message that has it, the pointer of the last place there, and its value."""
    found: dict[str, tuple[Message, str, Any]] = {}
    for message in messages:
        if name_of(message) == name and message.get("result") is not False:
            for pointer, value in values(message["body"], "/body"):
                found.setdefault(column_of(pointer), (message, pointer, value))
    return found


ABSENT: Any = object()


def at_one_place(broken: Message, pointer: str, become: Callable[[Any, Any], Any]) -> Change:
    """A server that sends another value at one place of one message, or none at all."""

    def replace(into: Any, key: Any) -> None:
        value = become(into, key)
        if value is ABSENT:
            del into[key]
        else:
            into[key] = value

    def change(_request: Message, message: Message) -> Iterable[Sent]:
        if is_same(message, broken):
            edit(message, pointer, replace)
        return [message]

    return change


NAMED = [*api_catalog().commands, "parse/success", "parse/unitCompleted", "allPagesSuccess"]


@pytest.mark.parametrize("name", some(NAMED, every=9))
def test_a_change_of_any_value_is_found_at_its_place(
    server: Reference, messages: list[Message], name: str
) -> None:
    columns = one_of_each_column(messages, name)
    assert columns or name in ("remote/reset", "global/cancelBaseline")
    command = name if name in api_catalog().commands else "import/action"
    if name == "allPagesSuccess":
        command = "global/setBaseline"
    for column, (broken, pointer, value) in columns.items():
        is_own = any(column.startswith(own) for own in OWN.get(name, ()))
        if isinstance(value, (dict, list)) or column.endswith(NAMES):
            continue

        change = at_one_place(broken, pointer, lambda into, key: other(into[key]))
        found = server.report(change, commands=(command,))
        wrong = {(table, place) for _, table, place in places(found)}
        assert wrong == (set() if is_own else {(name, column)}), (pointer, told(found))
        for one in found.findings:
            assert one.pointer == pointer


@pytest.mark.parametrize("name", some(NAMED, every=9))
def test_a_value_that_is_left_out_is_found_at_its_place(
    server: Reference, messages: list[Message], name: str
) -> None:
    command = {"allPagesSuccess": "global/setBaseline"}.get(name, name)
    command = command if command in api_catalog().commands else "import/action"
    for column, (broken, pointer, _) in one_of_each_column(messages, name).items():
        is_copy = "baseline" in column or "diff" in column  # as compare, which is tried
        if (
            column == "/body"
            or is_copy
            or any(column.startswith(f"{own}/*") for own in OWN.get(name, ()))
        ):
            continue

        change = at_one_place(broken, pointer, lambda _into, _key: ABSENT)
        found = server.report(change, commands=(command,))
        wrong = {(table, place) for _, table, place in places(found)}
        at = {(name, column), (name, column.removesuffix("/*"))}
        assert at & wrong, (pointer, told(found))
        assert all(table == name for table, _ in wrong), (pointer, told(found))


def test_the_messages_are_those_of_all_commands(messages: list[Message]) -> None:
    assert {name_of(message) for message in messages} >= set(NAMED)
    assert json.dumps(messages)
