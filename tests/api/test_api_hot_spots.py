"""Source text and lines: blocks 0x01 and 0x03, made by hand."""

from __future__ import annotations

import pytest
from api_files import answers, ask, body, json_block, source_block, text_block
from api_spots import (
    CORES,
    DECLARED,
    instructions_block,
    instructions_of,
    lines_block,
    lines_of,
)

from ascend_ref.bin import Block

# --- source text ---------------------------------------------------------------------------------


def test_source_text_is_found_by_its_path() -> None:
    asked = answers(source_block("/b.cpp", "b"), source_block("/a.cpp", "größer\n"))
    assert body(asked, "source/code/file", sourceName="/a.cpp") == {"fileContent": "größer\n"}
    assert asked.import_body()["sourceList"] == ["/a.cpp", "/b.cpp"]


def test_of_two_texts_with_one_path_the_last_counts() -> None:
    asked = answers(source_block("/a.cpp", "old"), source_block("/a.cpp", "new"))
    assert body(asked, "source/code/file", sourceName="/a.cpp") == {"fileContent": "new"}
    assert asked.import_body()["sourceList"] == ["/a.cpp"]


def test_a_text_that_is_no_utf8_is_still_shown() -> None:
    asked = answers(Block(0x01, b"\xff", path=b"/a.cpp"))
    assert body(asked, "source/code/file", sourceName="/a.cpp") == {"fileContent": "\ufffd"}


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("", "sourceName is empty"),
        (5, "sourceName is empty"),  # another kind counts as missing
        ("/a;b", "sourceName holds a character that is not allowed"),
        ("/a\\b", "sourceName holds a character that is not allowed"),
        ("/a\nb", "sourceName holds a character that is not allowed"),
        ("/a\0b", "sourceName holds a character that is not allowed"),
        ("/" + "ä" * 250, "sourceName is longer than 500 bytes"),
        ("/" + "x" * 500, "sourceName is longer than 500 bytes"),
    ],
)
def test_a_path_out_of_limits_is_refused(path: object, reason: str) -> None:
    answer = ask(answers(source_block("/a.cpp", "x")), "source/code/file", sourceName=path)
    assert not answer.result
    assert answer.error is not None
    assert (answer.error.code, answer.error.message) == (9999, reason)
    assert answer.body == {"fileContent": ""}


def test_a_path_of_the_greatest_length_is_found() -> None:
    path = "/" + "ä" * 249 + "x"
    assert len(path.encode()) == 500
    asked = answers(source_block(path, "x"))
    assert body(asked, "source/code/file", sourceName=path) == {"fileContent": "x"}


# --- lines with declared columns -----------------------------------------------------------------


def test_declared_columns_are_shown_for_the_core() -> None:
    line = {
        "Address Range": [["0x10", "0x14"], ["0x20", "0x20"]],
        "Line": 12,
        "Cycles": [5, 7],
        "L2Cache Hit Rate": 12.5,
        "Note": "n",
        "Undeclared": 1,
    }
    asked = answers(lines_block([line], DECLARED), instructions_block([], {}))
    assert lines_of(asked, CORES[1]) == {
        "Lines": [
            {
                "Address Range": [["0x10", "0x14"], ["0x20", "0x20"]],
                "Line": 12,
                "Cycles": 7,
                "L2Cache Hit Rate": 12.5,
                "Note": "n",
            }
        ],
        "Files Dtype": {"Lines": DECLARED},
    }


@pytest.mark.parametrize(
    ("dtype", "value", "shown"),
    [
        (1, 3, 3),
        (1, 3.0, 0),  # no integer token
        (1, "3", 0),
        (1, True, 0),
        (1, 1 << 31, 0),  # beyond 32 bits
        (2, 3, 0.0),  # no decimal point
        (2, 3.5, 3.5),
        (4, 1.2, 1.2000000476837158),  # as a number of 32 bits
        (2, 1e39, 0.0),  # beyond 32 bits
        (3, "t", "t"),
        (3, 3, ""),
        (5, {"a": [1, 2.5]}, '{"a":[1,2.5]}'),
        (
            100,
            {"Percent": 0.25, "Details": {"Active": 3, "Idle": 1.5}},
            {"Percent": 0.25, "Details": {"Active": 3, "Idle": 0}},
        ),
        (100, {"Percent": 1}, {"Percent": 0.0, "Details": {}}),  # an integer token reads as 0
        (100, {"Percent": "0.5"}, {"Percent": 0.5, "Details": {}}),
        (100, 7, {"Percent": 0.0, "Details": {}}),
    ],
)
def test_values_of_another_kind_read_as_nothing(dtype: int, value: object, shown: object) -> None:
    asked = answers(instructions_block([{"Address": "0x0", "x": value}], {"x": dtype}))
    found = instructions_of(asked)["Instructions"][0]
    assert found == {"x": shown}
    assert type(found["x"]) is type(shown)


def test_json_texts_are_for_instructions_only() -> None:
    asked = answers(lines_block([{"x": [1]}], {"x": 5}))
    assert lines_of(asked, CORES[0])["Lines"] == [{"Address Range": []}]


@pytest.mark.parametrize("dtype", [0, 6, -1])
def test_a_column_of_no_known_kind_is_left_out(dtype: int) -> None:
    asked = answers(instructions_block([{"Address": "0x0", "x": 1}], {"x": dtype}))
    told = instructions_of(asked)
    assert told["Instructions"] == [{}]
    assert told["Instructions Dtype"] == {"Instructions": {"x": dtype}}


@pytest.mark.parametrize(
    ("value", "core", "shown"),
    [
        ([1, 2], CORES[0], 1),
        ([1, 2], CORES[1], 2),
        ([1, 2], "no such core", 1),
        ([9], CORES[1], 9),  # too short: the first serves every core
        (9, CORES[1], 9),
    ],
)
def test_the_value_of_a_core(value: object, core: str, shown: int) -> None:
    asked = answers(
        lines_block([{"Cycles": value}], {"Cycles": 1}),
        instructions_block([{"Address": "0x0", "Cycles": value}], {"Cycles": 1}),
    )
    assert lines_of(asked, core)["Lines"][0]["Cycles"] == shown
    assert instructions_of(asked, core)["Instructions"][0]["Cycles"] == shown


def test_an_empty_list_has_no_value() -> None:
    asked = answers(lines_block([{"Cycles": []}], {"Cycles": 1}))
    assert lines_of(asked, CORES[0])["Lines"] == [{"Address Range": []}]


def test_an_address_range_is_a_pair_of_texts() -> None:
    ranges = [["0x1", "0x2"], ["0x1"], ["0x1", 2], "0x1", ["0x1", "0x2", "0x3"]]
    asked = answers(lines_block([{"Address Range": ranges}], {"Line": 1}))
    assert lines_of(asked, CORES[0])["Lines"] == [{"Address Range": [["0x1", "0x2"]]}]


def test_lines_of_several_entries_of_one_path_are_put_together() -> None:
    files = [{"Source": "/a.cpp", "Lines": [{"Line": number}]} for number in (1, 2)]
    files.append({"Source": "/b.cpp", "Lines": [{"Line": 3}]})
    document = {"Files Dtype": {"Lines": {"Line": 1}}, "Files": files}
    asked = answers(json_block(0x03, document))
    assert [line["Line"] for line in lines_of(asked, "c")["Lines"]] == [1, 2]


# --- lines of old files --------------------------------------------------------------------------

OLD_LINE = {
    "Address Range": [["0x10", "0x14"]],
    "Line": 12,
    "Cycles": [5, 0],
    "Instructions Executed": [2, 0],
}


def test_old_lines_are_sent_under_both_kinds_of_names() -> None:
    asked = answers(lines_block([OLD_LINE]), instructions_block([]))
    told = body(asked, "source/api/line", sourceName="/a.cpp", coreName=CORES[0])
    assert told == {
        "lines": [
            {
                "Line": 12,
                "Instruction Executed": 2,
                "Cycle": 5.0,
                "Address Range": [["0x10", "0x14"]],
            }
        ]
    }
    assert lines_of(asked, CORES[0]) == {
        "Lines": [
            {
                "Line": 12,
                "Instructions Executed": 2,
                "Cycles": 5.0,
                "Address Range": [["0x10", "0x14"]],
            }
        ]
    }


@pytest.mark.parametrize(
    "change",
    [
        {"Address Range": None},
        {"Cycles": 5},
        {"Instructions Executed": None},
        {"Line": "12"},
        {"Line": 12.0},
        {"Cycles": [0, 0], "Instructions Executed": [0, 1]},  # did not run on core 0
        {"Cycles": []},  # too short
    ],
)
def test_an_old_line_that_lacks_something_or_did_not_run_is_left_out(
    change: dict[str, object],
) -> None:
    asked = answers(lines_block([{**OLD_LINE, **change}, OLD_LINE]), instructions_block([]))
    told = body(asked, "source/api/line", sourceName="/a.cpp", coreName=CORES[0])
    assert len(told["lines"]) == 1


def test_an_unknown_core_has_no_old_lines() -> None:
    asked = answers(lines_block([OLD_LINE]), instructions_block([]))
    assert lines_of(asked, "core9") == {"Lines": []}


def test_of_two_old_entries_with_one_path_the_last_counts() -> None:
    lines = [{**OLD_LINE, "Line": number} for number in (1, 2)]
    document = {"Files": [{"Source": "/a.cpp", "Lines": [line]} for line in lines]}
    asked = answers(json_block(0x03, document), instructions_block([]))
    assert [line["Line"] for line in lines_of(asked, CORES[0])["Lines"]] == [2]


def test_old_lines_of_a_new_file_are_none() -> None:
    asked = answers(lines_block([OLD_LINE], DECLARED), instructions_block([]))
    told = body(asked, "source/api/line", sourceName="/a.cpp", coreName=CORES[0])
    assert told == {"lines": []}


# --- whatever else stands there ------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "not JSON",
        "[]",
        "null",
        '{"Files": 3, "Cores": 3, "Instructions": 3}',
        "{",
        '{"Files": [null, 3]}',
        '{"Files Dtype": 3, "Files": []}',
        '{"Files Dtype": {"Lines": 5}, "Files": [{"Lines": [1], "Source": 4}]}',
        '{"Instructions Dtype": {"Instructions": {"x": "y"}}, "Instructions": [1, null]}',
        '{"Cores": [1, null], "Instructions": [[]]}',
        "[" * 5000,
    ],
)
def test_odd_payloads_show_nothing(text: str) -> None:
    asked = answers(text_block(0x03, text), text_block(0x04, text), json_block(0x0E, []))
    for command in ("source/api/line", "source/api/line/dynamic"):
        told = body(asked, command, sourceName="/a.cpp", coreName="c")
        assert [*told.get("lines", []), *told.get("Lines", [])] == []
    assert instructions_of(asked)["Instructions"] == []
    assert body(asked, "source/cache/cachelineRecords") == {}
    assert asked.import_body()["sourceList"] == []
