"""Heat map and tables of memory, of blocks made by hand."""

from __future__ import annotations

import pytest
from api_files import answers, ask, body, compared, json_block, text_block

# --- 0x08 ----------------------------------------------------------------------------------------


def element(core: str = "0", **more: object) -> dict[str, object]:
    return {"core_no": core, "op_type": "cube", "soc": "910B", **more}


def path(number: int, **more: object) -> dict[str, object]:
    return {"memory_path": number, "request": "10", "bandwidth": "1.5", "display": 1, **more}


@pytest.mark.parametrize(
    ("display", "is_drawn"),
    [(1, True), ("1", True), (1.9, True), (0, False), (True, False), (2, False)],
)
def test_only_the_integer_one_draws_a_path(display: object, is_drawn: bool) -> None:
    document = {"core_memory_map": [element(memory_unit=[path(4, display=display)])]}
    (told,) = body(answers(json_block(0x08, document)), "source/details/memoryGraph", blockId="0")[
        "coreMemory"
    ]
    assert told["memoryUnit"][0]["compare"]["display"] is is_drawn


def test_advice_of_the_heat_map_stands_once() -> None:
    document = {"core_memory_map": [element(advice=["b", "a", "b"])]}
    asked = answers(json_block(0x08, document))
    (told,) = body(asked, "source/details/memoryGraph", blockId="0")["coreMemory"]
    assert told["advice"] == ["b", "a"]


def test_a_block_is_matched_as_text() -> None:
    asked = answers(json_block(0x08, {"core_memory_map": [{"core_no": 3}, element("NA")]}))
    assert len(body(asked, "source/details/memoryGraph", blockId="3")["coreMemory"]) == 1
    assert len(body(asked, "source/details/memoryGraph", blockId="NA")["coreMemory"]) == 1
    assert len(body(asked, "source/details/memoryGraph", blockId="03")["coreMemory"]) == 0


def test_heat_maps_are_compared_by_path() -> None:
    file = element(
        memory_unit=[path(1, request="5", peak_ratio="NA"), path(2)],
        L2cache={"hit": "3", "miss": "1", "total_request": "4", "hit_ratio": "75.000000"},
        Cube={"cycle": 50, "total_cycles": 100, "ratio": 50.0},
        advice=["a"],
    )
    baseline = element(
        memory_unit=[path(1, request="9", peak_ratio="2.5", bandwidth="1.4"), path(3)],
        L2cache={"hit": "4", "miss": "0", "total_request": "4", "hit_ratio": "100.000000"},
    )
    told = compared(
        "source/details/memoryGraph",
        0x08,
        {"core_memory_map": [file]},
        {"core_memory_map": [baseline]},
        blockId="0",
    )["coreMemory"][0]
    first, second, third = told["memoryUnit"]
    assert first["diff"] == {
        "request": "-4",
        "requestSuffix": "",
        "display": True,
        "peakRatio": "-2.5",  # NA counts as 0
        "bandwidth": "0.1",
        "bandwidthSuffix": "",
        "memoryPath": "1",
    }
    assert second["baseline"]["request"] == second["diff"]["request"] == ""
    assert third["compare"]["memoryPath"] == ""
    assert third["baseline"]["memoryPath"] == "3"
    assert told["l2Cache"]["diff"] == {
        "hitRatio": "-25",
        "hit": "-1",
        "totalRequest": "0",
        "miss": "1",
    }
    assert told["cube"]["diff"]["cycle"] == ""  # one of them is missing
    assert told["advice"] == []


def test_a_block_of_the_baseline_alone_is_kept_in_the_heat_map() -> None:
    told = compared(
        "source/details/memoryGraph",
        0x08,
        {"core_memory_map": []},
        {"core_memory_map": [element("0", memory_unit=[path(1)])]},
        blockId="0",
    )["coreMemory"][0]
    assert (told["blockId"], told["blockType"], told["chipType"]) == ("0", "cube", "910B")
    assert told["memoryUnit"][0]["compare"]["request"] == ""
    assert told["memoryUnit"][0]["baseline"]["request"] == "10"


@pytest.mark.parametrize(
    ("command", "code"),
    [("source/details/memoryGraph", 0x08), ("source/details/memoryTable", 0x09)],
)
@pytest.mark.parametrize("text", ["{}", "[]", "{", '{"core_memory_map":{},"table_per_block":{}}'])
def test_memory_blocks_without_a_list_fail_without_an_error(
    command: str, code: int, text: str
) -> None:
    answer = ask(answers(text_block(code, text)), command, blockId="0")
    assert (answer.result, answer.error) == (False, None)


@pytest.mark.parametrize("command", ["source/details/memoryGraph", "source/details/memoryTable"])
def test_a_block_must_be_named(command: str) -> None:
    answer = ask(answers(json_block(0x05, {})), command)
    assert not answer.result
    assert answer.error is not None
    assert (answer.error.code, answer.error.message) == (9999, "blockId is empty")


# --- 0x09 ----------------------------------------------------------------------------------------


def table(name: str, rows: dict[str, list[str]]) -> dict[str, object]:
    listed = [{"name": row, "value": cells} for row, cells in rows.items()]
    return {"table_name": name, "size": [2, 1], "header_name": ["", "hit"], "row": listed}


def tables(*listed: object, block: str = "0") -> dict[str, object]:
    one = {
        "block_id": block,
        "table_op_type": "cube",
        "table_detail": list(listed),
        "advice": ["a"],
    }
    return {"table_per_block": [one]}


def test_memory_tables_are_compared_by_table_and_row() -> None:
    file = tables(table("Cache", {"L2": ["5", "x"], "i": ["7"]}), table("GM", {"r": ["1"]}))
    baseline = tables(table("Cache", {"L2": ["3"], "gone": ["1"]}), table("UB", {"r": ["1"]}))
    told = compared("source/details/memoryTable", 0x09, file, baseline, blockId="0")
    cache, gm = told["memoryTable"][0]["tableDetail"]
    assert cache["size"] == ["2", "2"]  # columns, rows
    assert cache["row"][0] == {
        "compare": {"name": "L2", "value": ["5", "x"]},
        "baseline": {"name": "L2", "value": ["3"]},
        "diff": {"name": "L2", "value": ["2", "-"]},
    }
    assert cache["row"][1]["baseline"] == {"name": "i", "value": ["-"]}
    assert gm["size"] == ["2", "1"]  # as in the file
    assert gm["row"][0]["diff"] == {"name": "r", "value": ["-"]}
    assert told["memoryTable"][0]["advice"] == ["a"]


def test_compared_without_a_baseline_rows_show_dashes() -> None:
    asked = answers(json_block(0x09, tables(table("Cache", {"L2": ["5"]}))))
    told = body(asked, "source/details/memoryTable", blockId="0", isCompared=True)
    row = told["memoryTable"][0]["tableDetail"][0]["row"][0]
    assert row["baseline"] == row["diff"] == {"name": "L2", "value": ["-"]}


def test_a_block_of_the_baseline_alone_shows_no_tables() -> None:
    told = compared(
        "source/details/memoryTable",
        0x09,
        {"table_per_block": []},
        tables(table("Cache", {"L2": ["5"]})),
        blockId="0",
    )
    assert told["memoryTable"] == [
        {"advice": [], "blockId": "0", "tableOpType": "cube", "tableDetail": []}
    ]


def test_a_table_without_rows_is_left_out() -> None:
    document = tables({"table_name": "a"}, {"table_name": "b", "row": []})
    told = body(answers(json_block(0x09, document)), "source/details/memoryTable", blockId="0")
    assert [one["tableName"] for one in told["memoryTable"][0]["tableDetail"]] == ["b"]
