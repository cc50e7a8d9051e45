"""Whatever stands in a file and whatever is asked, there is an answer in the documented form."""

from __future__ import annotations

import json
from typing import Any

from api_files import PLACE, answers, check_message, request, validator
from hypothesis import given, settings
from hypothesis import strategies as st

from ascend_ref.bin import Block, canonical
from ascend_ref.tools.serve import Session
from ascend_ref.tools.serve.answers import COMMANDS

KEYS = [
    *("Files", "Lines", "Source", "Files Dtype", "Line", "Cycles", "Instructions Executed"),
    *("Address Range", "Cores", "Instructions", "Instructions Dtype", "Address", "GPR Status"),
    *("regIndex", "survivalTime", "regStatus", "Percent", "Details", "name", "op_type"),
    *("mix_block_detail", "block_detail", "head_name", "size", "row", "value", "advice"),
    *("subblock_detail", "block_id", "unit", "core_memory_map", "core_no", "memory_unit"),
    *("memory_path", "display", "L2cache", "Cube", "table_per_block", "table_detail"),
    *("op_detail", "core_id", "core_detail", "subcore_type", "cycles", "simt_vf_instructions"),
    *("multiple_rooflines", "rooflines", "point", "top_stall_reason_table", "traceEvents"),
    *("ph", "pid", "tid", "ts", "dur", "id", "args", "sort_index", "group_id"),
]
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from([0, 1, -1, 3, 1 << 31, 1 << 63, -(1 << 63), 10**40]),
    st.sampled_from([0.5, -0.0, 1e300, 5e-324, 1e39]),
    st.sampled_from(["", "0", "mix", "vector", "X", "B", "E", "s", "t", "M", "C", "SET_FLAG"]),
    st.sampled_from(["0x10", "1e999", "nan", "-5", "9" * 400, "ä\n\0", "process_sort_index"]),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(KEYS), inner, max_size=5),
    ),
    max_leaves=25,
)
CODES = [code for code in range(0x02, 0x10) if code != 0x0E]  # which is passed on as it is
BLOCKS = st.lists(st.tuples(st.sampled_from(CODES), VALUES), min_size=1, max_size=6)
PARAMS = [
    *("blockId", "isCompared", "sourceName", "coreName", "cardId", "processId", "threadId"),
    *("threadIdList", "startTime", "endTime", "rankId", "pid", "threadName", "path"),
    *("projectName", "projectAction", "filePath", "isHideFlagEvents"),
]


def blocks(listed: list[tuple[int, Any]]) -> list[Block]:
    return [Block(0x05, b"{}"), *(Block(code, canonical(value)) for code, value in listed)]


@settings(max_examples=60, deadline=None)
@given(BLOCKS, BLOCKS)
def test_any_json_in_a_block_is_answered(
    file: list[tuple[int, Any]], other: list[tuple[int, Any]]
) -> None:
    asked, baseline = answers(*blocks(file)), answers(*blocks(other))
    given_ = {"blockId": "0", "sourceName": "0", "coreName": "0", "processId": "0", "id": "1"}
    for command in COMMANDS:
        answer = asked.answer(command, {**given_, "isCompared": True}, baseline=baseline)
        validator(command).validate(answer.body)


@settings(max_examples=30, deadline=None)
@given(BLOCKS, st.lists(st.dictionaries(st.sampled_from(PARAMS), VALUES), max_size=4))
def test_any_parameters_are_answered(
    file: list[tuple[int, Any]], asked: list[dict[str, Any]]
) -> None:
    session = Session(answers(*blocks(file)), answers(*blocks(file)))
    opening = {"path": [PLACE.name], "projectName": "p", "projectAction": 1}
    for params in [opening, *asked]:
        for command in [*COMMANDS, "import/action", "global/setBaseline"]:
            message = json.dumps(request(command, **params))
            for answer in session.handle(message):
                check_message(answer)


@settings(max_examples=100, deadline=None)
@given(st.text() | VALUES.map(json.dumps))
def test_any_text_is_no_request(message: str) -> None:
    assert list(Session(answers(Block(0x05, b"{}"))).handle(message)) == []
