"""Which requests a probe sends."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from probe_files import CORES, OTHER_SOURCE, SOURCE, everything

from ascend_conformance.media.api.options import ProbeOptions, fits_none, needed_for
from ascend_conformance.media.api.plan import BLOCKS, LANES, Request, opening, plan, some
from ascend_conformance.media.api.plan import CORES as MOST_CORES
from ascend_ref.bin import Block, canonical, to_bytes
from ascend_ref.tools.serve import Answers, Session
from ascend_spec import api_catalog

PLACE = Path("/runs/op/visualize_data.bin")


def answers(*blocks: Block) -> Answers:
    return Answers(memoryview(to_bytes(blocks)), PLACE)


@pytest.fixture(scope="module")
def every() -> Answers:
    return Answers(memoryview(everything()), PLACE)


def succeeding(every: Answers) -> Iterator[Request]:
    """The planned requests that the reference carries out."""
    session = Session(every)
    for number, request in enumerate([opening(every), *plan(every)]):
        for message in session.handle(request.message(number, request.params)):
            if message.get("result"):
                yield request


def test_requests_have_the_form_of_the_api(every: Answers) -> None:
    known = api_catalog()
    envelope = Draft202012Validator(known.schema("request"))
    for request in succeeding(every):
        schema = known.schema(known.commands[request.command].params)
        Draft202012Validator(schema).validate(dict(request.params))
        message: dict[str, Any] = {"id": 1, "type": "request", "command": request.command}
        module = known.commands[request.command].module
        envelope.validate({**message, "moduleName": module, "params": dict(request.params)})


def test_every_command_is_tried_with_success(every: Answers) -> None:
    assert {one.command for one in succeeding(every)} == api_catalog().commands.keys()


def test_every_source_core_block_and_lane_is_asked_for(every: Answers) -> None:
    asked = plan(every)

    def values(command: str, *names: str) -> set[tuple[Any, ...]]:
        return {
            tuple(one.params.get(name) for name in names) for one in asked if one.command == command
        }

    pairs = {(source, core) for source in (SOURCE, OTHER_SOURCE) for core in CORES}
    assert pairs <= values("source/api/line/dynamic", "sourceName", "coreName")
    assert {("",), *((core,) for core in CORES)} <= values(
        "source/api/instructions/dynamic", "coreName"
    )
    for command in ("source/details/memoryGraph", "source/details/memoryTable"):
        assert {("0", False), ("1", False), ("0", True)} <= values(command, "blockId", "isCompared")
    lanes = {(CORES[0], "SCALAR"), (CORES[1], "VECTOR"), (CORES[1], "MTE2")}
    assert lanes <= values("unit/threadTraces", "processId", "threadId")


def test_flows_are_asked_for_at_both_of_their_ends(every: Answers) -> None:
    with_flow = [
        request
        for request in plan(every)
        if request.command == "unit/flows"
        and every.answer(request.command, request.params).body["unitAllFlows"]
    ]
    assert {request.params["tid"] for request in with_flow} == {"MTE2", "VECTOR"}


def test_a_large_file_is_asked_about_in_part() -> None:
    events = [
        {"ph": "X", "name": "n", "pid": f"p{lane:03}", "tid": "t", "ts": lane, "dur": 1}
        for lane in range(300)
    ]
    maps = [{"core_no": str(block)} for block in range(1000)]
    large = answers(
        *(Block(0x01, b"x", path=f"/{number}.cpp".encode()) for number in range(50)),
        Block(0x02, canonical({"traceEvents": events})),
        Block(0x04, canonical({"Cores": [f"core{number}" for number in range(50)]})),
        Block(0x08, canonical({"core_memory_map": maps})),
    )
    asked = plan(large)
    lanes = {one.params["processId"] for one in asked if one.command == "unit/threadTraces"}
    assert len(lanes) <= LANES + 1
    assert {"p000", "p299"} <= lanes
    blocks = {one.params.get("blockId") for one in asked if one.command.endswith("memoryGraph")}
    assert {"0", "999"} <= blocks
    assert len(asked) < 2 * BLOCKS + 400


def test_some_are_the_first_the_last_and_others_between() -> None:
    assert some(range(3), 4) == [0, 1, 2]
    assert some(range(100), MOST_CORES) == [0, 33, 66, 99]
    assert some([], 4) == []


def test_commands_can_be_chosen_by_pattern() -> None:
    chosen = ProbeOptions(("source/details/m*", "unit/flows"))
    wanted = {name for name in api_catalog().commands if chosen.wants(name)}
    assert wanted == {
        "import/action",
        "source/details/memoryGraph",
        "source/details/memoryTable",
        "global/setBaseline",
        "unit/flows",
        "unit/threadTraces",
    }
    assert needed_for()["unit/threadTraces"] == ("unit/flows", "unit/threadDetail")
    assert fits_none(["unit/*", "unit/flow"]) == ["unit/flow"]
