"""Instructions and registers: block 0x04, made by hand."""

from __future__ import annotations

import json

from api_files import answers, body, json_block, text_block
from api_spots import CORES, instructions_block, instructions_of

# --- instructions --------------------------------------------------------------------------------


def test_instructions_are_sent_as_they_stand() -> None:
    text = '{"Cores": ["c"],  "Instructions": []}'
    asked = answers(text_block(0x04, text))
    assert body(asked, "source/api/instructions") == {"instructions": text}
    assert body(answers(json_block(0x05, {})), "source/api/instructions") == {"instructions": ""}


def test_instructions_are_sorted_by_address_as_a_number() -> None:
    listed = [{"Address": address} for address in ("0x1000", "0x20", "0x9", "0")]
    asked = answers(instructions_block(listed, {"Address": 3}))
    found = [one["Address"] for one in instructions_of(asked)["Instructions"]]
    assert found == ["0", "0x9", "0x20", "0x1000"]


def test_an_address_that_is_none_among_several_empties_the_list() -> None:
    listed = [{"Address": "0x10"}, {"Address": "none"}]
    told = instructions_of(answers(instructions_block(listed, {"Address": 3})))
    assert told == {
        "Instructions": [],
        "Instructions Dtype": {"Instructions": {"Address": 3}},
        "Core": "",
    }
    alone = instructions_of(answers(instructions_block(listed[1:], {"Address": 3})))
    assert alone["Instructions"] == [{"Address": "none"}]


def test_the_core_is_told_as_it_was_asked() -> None:
    asked = answers(instructions_block([], {"Address": 3}))
    assert instructions_of(asked, "core9")["Core"] == "core9"


def test_old_instructions_have_a_fixed_set_of_columns() -> None:
    instruction = {
        "Address": "0x10",
        "AscendC Inner Code": "/a.cpp:3",
        "Source": "MOV",
        "Pipe": "SCALAR",
        "Cycles": [4, 6],
        "Instructions Executed": ["no number", 2],
        "RealStallCycles": [],
    }
    asked = answers(instructions_block([instruction]))
    assert instructions_of(asked, CORES[1]) == {
        "Instructions": [
            {
                "Source": "MOV",
                "Address": "0x10",
                "Ascend Inner Code": "/a.cpp:3",
                "Cycles": 6,
                "Instructions Executed": 2,
                "Pipe": "SCALAR",
                "RealStallCycles": 0,
                "TheoreticalStallCycles": 0,
            }
        ]
    }


def test_declared_columns_without_any_leave_nothing() -> None:
    document = {"Cores": CORES, "Instructions Dtype": {}, "Instructions": [{"Address": "0x0"}]}
    assert instructions_of(answers(json_block(0x04, document))) == {"Instructions": []}


def test_the_version_of_instructions_is_told_by_the_last_block() -> None:
    first = json_block(0x05, {})
    assert answers(first).import_body()["instrVersion"] == 90
    assert answers(first, json_block(0x04, {}, 0)).import_body()["instrVersion"] == 0
    both = answers(first, json_block(0x04, {"Cores": ["a"]}, 0), json_block(0x04, {"Cores": ["b"]}))
    assert both.import_body()["instrVersion"] == 90
    assert both.import_body()["coreList"] == ["a"]  # while content is that of the first


# --- registers -----------------------------------------------------------------------------------


def status(name: str, state: int, lives: int) -> dict[str, object]:
    return {"regIndex": name, "regStatus": state, "survivalTime": lives}


def registers(*instructions: list[object]) -> list[object]:
    listed = [
        {"Address": hex(16 * number), "GPR Status": statuses}
        for number, statuses in enumerate(instructions)
    ]
    told = instructions_of(answers(instructions_block(listed, {"GPR Status": 5})))
    return [json.loads(one["GPR Status"]) for one in told["Instructions"]]


def shown(name: str, state: int, progress: int, length: int) -> dict[str, object]:
    return {"name": name, "state": state, "progress": progress, "length": length}


def test_a_register_begins_is_in_use_and_ends_in_one_row() -> None:
    assert registers(
        [status("R3", 2, 3)],
        [status("R3", 4, 99), status("R5", 2, 1)],
        [status("R3", 1, 99)],
        [status("R7", 2, 2)],
    ) == [
        [shown("R3", 2, 0, 3)],
        [shown("R3", 4, 2, 3), shown("R5", 2, 0, 1)],
        [shown("R3", 1, 1, 3)],
        [shown("R7", 2, 0, 2)],  # the first row is free again
    ]


def test_a_row_of_a_register_that_is_not_told_of_stays_empty() -> None:
    assert registers([status("R1", 2, 9), status("R2", 2, 9)], [status("R2", 4, 9)]) == [
        [shown("R1", 2, 0, 9), shown("R2", 2, 0, 9)],
        [shown("", 0, 0, 0), shown("R2", 4, 2, 9)],
    ]


def test_no_registers_are_an_empty_list() -> None:
    assert registers([]) == [[]]


def test_registers_are_followed_in_the_order_of_addresses() -> None:
    listed = [
        {"Address": "0x20", "GPR Status": [status("R1", 1, 2)]},
        {"Address": "0x10", "GPR Status": [status("R1", 2, 2)]},
    ]
    told = instructions_of(answers(instructions_block(listed, {"GPR Status": 5})))
    states = [json.loads(one["GPR Status"])[0]["progress"] for one in told["Instructions"]]
    assert states == [0, 1]
