"""Basic information and load of an operator, of blocks made by hand."""

from __future__ import annotations

import pytest
from api_files import BASELINE, answers, ask, body, compared, json_block, text_block

# --- 0x05 ----------------------------------------------------------------------------------------


def test_numbers_and_texts_are_both_passed_on_as_they_are_written() -> None:
    asked = answers(
        text_block(0x05, '{"name":"n","block_dim":2,"duration":1.50,"pid":"7","soc":true}')
    )
    told = body(asked, "source/details/baseInfo")["compare"]
    assert (told["blockDim"], told["duration"], told["pid"]) == ("2", "1.50", "7")
    assert told["soc"] == ""  # a truth value is neither


def test_a_mix_operator_shows_its_own_table() -> None:
    table = {"head_name": ["Block ID"], "size": [2, 1], "row": [{"value": ["0"]}]}
    document = {"op_type": "mix", "mix_block_detail": table, "block_detail": {}}
    told = body(answers(json_block(0x05, document)), "source/details/baseInfo")["compare"]
    assert told["blockDetail"] == {
        "headerName": ["Block ID"],
        "size": ["2", "1"],
        "row": [{"value": ["0"]}],
    }
    vector = answers(json_block(0x05, {**document, "op_type": "vector"}))
    assert body(vector, "source/details/baseInfo")["compare"]["blockDetail"]["row"] == []


def test_basic_information_without_its_block_is_empty_and_unreadable_fails() -> None:
    told = body(answers(json_block(0x06, {})), "source/details/baseInfo")
    assert told["compare"] == told["baseline"]
    assert told["compare"]["name"] == ""
    for text in ("{", "[]", '{"a": NaN}'):
        answer = ask(answers(text_block(0x05, text)), "source/details/baseInfo")
        assert not answer.result
        assert answer.error is not None
        assert answer.error.code == 9999


def test_the_baseline_stands_beside_the_file() -> None:
    told = compared("source/details/baseInfo", 0x05, {"name": "new"}, {"name": "old"})
    assert (told["compare"]["name"], told["baseline"]["name"]) == ("new", "old")


# --- 0x06, 0x07 ----------------------------------------------------------------------------------


def figure(name: str, value: object, **more: object) -> dict[str, object]:
    return {"block_id": "0", "block_type": "cube0", "name": name, "unit": 3, "value": value, **more}


@pytest.mark.parametrize(
    ("unit", "label"),
    [
        (0, "Duration(μs)"),
        (1, "Instructions"),
        (2, "Data Volume(byte)"),
        (3, "PRE"),
        ("3", "PRE"),
        (4, ""),
        (-1, ""),
        (None, "Duration(μs)"),  # what is no number reads as 0
    ],
)
def test_units_have_labels(unit: object, label: str) -> None:
    document = {"subblock_detail": [figure("x", 1.0, unit=unit)]}
    told = body(answers(json_block(0x06, document)), "source/details/computeworkload")
    assert told["chartData"]["detailDataList"][0]["compare"]["unit"] == label


def test_one_of_the_two_load_blocks_is_enough() -> None:
    document = {"subblock_detail": [figure("x", 1)], "advice": ["a"]}
    told = body(answers(json_block(0x07, document)), "source/details/computeworkload")
    assert told["chartData"] == {"detailDataList": [], "advice": []}
    assert told["tableData"]["advice"] == ["a"]
    assert told["tableData"]["detailDataList"][0]["compare"]["originValue"] == ""


def test_without_load_blocks_the_command_fails_without_an_error() -> None:
    answer = ask(answers(json_block(0x05, {})), "source/details/computeworkload")
    assert (answer.result, answer.error) == (False, None)
    assert answer.body["blockIdList"] == []


def test_loads_are_compared_by_block_type_and_name() -> None:
    file = {
        "subblock_detail": [figure("x", 1.5, origin_value=10.0), figure("y", 2.0)],
        "advice": ["a"],
    }
    baseline = {"subblock_detail": [figure("x", 0.25, origin_value=4), figure("z", 9.0)]}
    told = compared("source/details/computeworkload", 0x06, file, baseline)
    first, second = told["chartData"]["detailDataList"]
    assert first["diff"]["value"] == "1.25"
    assert first["diff"]["originValue"] == "6"
    assert first["baseline"]["value"] == "0.25"
    assert second["baseline"]["value"] == second["diff"]["value"] == "-"
    assert second["baseline"]["name"] == "y"
    assert told["chartData"]["advice"] == []  # gone in compare mode
    assert told["blockIdList"] == ["0"]


def test_without_loads_in_the_baseline_nothing_is_compared() -> None:
    file = {"subblock_detail": [figure("x", 1.5)], "advice": ["a"]}
    beside = answers(json_block(0x05, {}), place=BASELINE)
    asked = answers(json_block(0x06, file))
    told = body(asked, "source/details/computeworkload", beside, isCompared=True)
    assert told == body(asked, "source/details/computeworkload")
