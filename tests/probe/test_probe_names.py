"""Servers that number cards, processes, lanes and slices in their own way."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from probe_files import CORES, handmade
from probe_servers import Message, Reference, Sent, judged, places, reference, told

CARD = "timeline and hot spots"
PROCESSES = {CORES[0]: "3", CORES[1]: "5", "MTE Throughput": "9"}
LANES = {"SCALAR": "18", "VECTOR": "20", "MTE2": "21"}
FIRST_SLICE = 7000


class Renaming:
    """Names of its own in both directions (A4, A16)."""

    def __init__(self, file: Path) -> None:
        self.card = str(file)

    def sent(self, request: Message, message: Message) -> Iterable[Sent]:
        message["body"] = self._renamed(message["body"])
        command = message.get("command")
        if command == "unit/threadTraces":
            for slice_ in (slice_ for row in message["body"]["data"] for slice_ in row):
                slice_["id"] = str(int(slice_["id"]) + FIRST_SLICE)
                slice_["threadId"] = LANES.get(slice_["threadId"], slice_["threadId"])
        return [message]

    def _renamed(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._renamed(element) for element in value]
        if not isinstance(value, dict):
            return CARD if value == self.card else value
        named = {key: self._renamed(member) for key, member in value.items()}
        for key in ("processId", "pid"):
            if key in named:
                named[key] = PROCESSES.get(named[key], named[key])
        for key in ("threadId", "tid"):
            if key in named and "name" not in named:
                named[key] = LANES.get(named[key], named[key])
        if "timestamp" in named and "tid" in named:
            named["tid"] = LANES.get(named["tid"], named["tid"])
        return named

    def heard(self, text: str) -> str:
        """A request in the words of the reference; its own names are not known here."""
        try:
            message = json.loads(text)
            params = message["params"]
        except (ValueError, TypeError, KeyError):
            return text
        if not isinstance(params, dict) or not message["command"].startswith("unit/"):
            return text
        processes = {name: process for process, name in PROCESSES.items()}
        lanes = {name: lane for lane, name in LANES.items()}
        for key in ("cardId", "rankId"):
            if key in params:
                params[key] = {CARD: self.card, self.card: "unknown"}.get(params[key], params[key])
        for key in ("processId", "pid"):
            if key in params:
                params[key] = processes.get(params[key], f"no {params[key]}")
        for key in ("threadId", "tid"):
            if key in params:
                params[key] = lanes.get(params[key], f"no {params[key]}")
        if "threadIdList" in params:
            params["threadIdList"] = [lanes[lane] for lane in params["threadIdList"]]
        if str(params.get("id", "")).isdecimal():
            params["id"] = str(int(params["id"]) - FIRST_SLICE)
        return json.dumps(message)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reference]:
    with reference(handmade(tmp_path_factory.mktemp("probed"))) as running:
        running.heard = Renaming(running.file).heard
        yield running


def test_names_that_the_server_chose_are_used_and_not_compared(server: Reference) -> None:
    found = server.report(Renaming(server.file).sent)
    assert told(found) == {}
    assert found.skipped == ()


def test_a_name_that_the_server_did_not_tell_before_is_found(server: Reference) -> None:
    """It numbers the lane 18 in parse/success, and SCALAR in its slices."""
    renaming = Renaming(server.file)

    def change(request: Message, message: Message) -> Iterable[Sent]:
        for sent in renaming.sent(request, message):
            assert isinstance(sent, dict)
            if sent.get("command") == "unit/threadTraces":
                for row in sent["body"]["data"]:
                    for slice_ in row:
                        slice_["threadId"] = "19"
            yield sent

    found = server.report(change, commands=("unit/threadTraces",))
    assert places(found) == {("API004", "unit/threadTraces", "/body/data/*/*/threadId")}


def test_lanes_that_the_server_did_not_tell_are_not_asked_for(server: Reference) -> None:
    renaming = Renaming(server.file)

    def change(request: Message, message: Message) -> Iterable[Sent]:
        for sent in renaming.sent(request, message):
            assert isinstance(sent, dict)
            if sent.get("event") == "parse/success":
                sent["body"]["unit"]["children"] = sent["body"]["unit"]["children"][1:]
            yield sent

    found = server.report(change)
    assert {one.rule for one in found.findings} == {"API007"}
    reasons = {skip.reason for skip in found.skipped}
    assert f"the server gave no name of process {CORES[0]}" in reasons


def test_the_server_may_call_the_file_otherwise(tmp_path: Path) -> None:
    with reference(handmade(tmp_path)) as running:
        renamed = {"elsewhere.bin": running.file.name}

        def heard(text: str) -> str:
            for name, ours in renamed.items():
                text = text.replace(json.dumps(f"/data/{name}"), json.dumps(ours))
            return text

        running.heard = heard
        options = {"commands": ("source/details/*",)}
        found = judged(running.address, running.file, server_path="/data/elsewhere.bin", **options)
        assert told(found) == {}
        found = judged(running.address, running.file, server_path="/data/nothing.bin", **options)
        assert places(found) == {("API006", "import/action", "/result")}
        assert {skip.reason for skip in found.skipped} == {"the server did not import the file"}
