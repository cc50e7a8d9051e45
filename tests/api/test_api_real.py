"""Every command on the real files."""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from api_files import ask, body, real, send

from ascend_ref.bin import open_file, parse
from ascend_ref.tools.serve import Answers, Session, open_answers
from ascend_ref.tools.serve.answers import COMMANDS

FILES = ["mix.bin", "roofline_data.bin", "base_info.bin"]
ANY = {"blockId": "0", "sourceName": "/a.cpp", "coreName": "c", "processId": "p", "id": "1"}


@pytest.fixture(scope="module", params=FILES)
def every(request: pytest.FixtureRequest) -> Iterator[Answers]:
    with open_answers(real(request.param)) as found:
        yield found


@pytest.fixture(scope="module")
def mix() -> Iterator[Answers]:
    with open_answers(real("mix.bin")) as found:
        yield found


@pytest.fixture(scope="module")
def many_blocks() -> Iterator[Answers]:
    with open_answers(real("roofline_data.bin")) as found:
        yield found


def payload(name: str, code: int) -> Any:
    with open_file(real(name)) as file:
        return parse(next(file.payload(entry) for entry in file.entries if entry.type == code))


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("is_compared", [False, True])
def test_every_command_answers_in_the_form_of_its_schema(
    every: Answers, command: str, is_compared: bool
) -> None:
    needed = {"source/details/computeworkload": 0x06, "source/details/interCoreLoadAnalysis": 0x0C}
    baseline = every if is_compared else None
    answer = ask(every, command, baseline, **ANY, isCompared=is_compared)
    assert answer.result == (command not in needed or needed[command] in every.blocks)
    assert answer.error is None


def test_import_tells_what_is_in_the_file(every: Answers) -> None:
    session = Session(every)
    name = Path(every.card).name
    answer, *events = send(session, "import/action", path=[name], projectName="p", projectAction=1)
    told = answer["body"]
    assert (told["isBinary"], told["coreList"], told["sourceList"]) == (True, [], [])
    assert told["result"][0]["rankId"] == every.card
    assert told["result"][0]["cardPath"] == f"Directory: {Path(every.card).parts[-3]}"
    assert [event["event"] for event in events] == ["parse/success", "parse/unitCompleted"]


def test_basic_information_of_a_mix_operator(mix: Answers) -> None:
    told = body(mix, "source/details/baseInfo")["compare"]
    assert told["soc"] == "Ascend910B4"
    assert told["opType"] == "mix"
    assert (told["blockDim"], told["mixBlockDim"]) == ("2", "4")
    assert (told["deviceId"], told["pid"]) == ("0", "1112422")
    assert told["duration"] == "300.0660095214844"
    assert told["blockDetail"]["size"] == ["3", "4"]
    assert [row["value"][0] for row in told["blockDetail"]["row"]] == ["0", "1"]
    assert told["blockDetail"]["headerName"][1] == "Cube0 Duration (μs)"


def test_a_list_of_blocks_shows_no_table() -> None:
    """The file of epoch E0 has a list where the viewer wants a table."""
    with open_answers(real("base_info.bin")) as old:
        told = body(old, "source/details/baseInfo")["compare"]
    assert told["name"] == "sin_custom"
    assert (told["blockDim"], told["deviceId"], told["pid"]) == ("32", "", "")
    assert told["blockDetail"] == {"headerName": [], "size": [], "row": []}


def test_loads_are_those_of_the_blocks_with_numbers_as_written(mix: Answers) -> None:
    told = body(mix, "source/details/computeworkload")
    assert told["blockIdList"] == ["0", "1"]
    chart, table = told["chartData"]["detailDataList"], told["tableData"]["detailDataList"]
    assert (len(chart), len(table)) == (12, 68)
    assert {entry["compare"]["unit"] for entry in chart} == {"PRE"}
    with open_file(real("mix.bin")) as file:
        raw = bytes(file.view)
    for entry in chart:
        figure = entry["compare"]
        assert f'"value":{figure["value"]}'.encode() in raw
        assert f'"origin_value":{figure["originValue"]}'.encode() in raw
        assert (
            entry["baseline"]
            == entry["diff"]
            == {
                "blockId": "",
                "blockType": "",
                "name": "",
                "unit": "",
                "value": "-",
                "originValue": "-",
            }
        )


def test_the_heat_map_of_each_block_is_that_of_the_file(many_blocks: Answers) -> None:
    for element in payload("roofline_data.bin", 0x08)["core_memory_map"]:
        (told,) = body(many_blocks, "source/details/memoryGraph", blockId=element["core_no"])[
            "coreMemory"
        ]
        paths = [unit["compare"] for unit in told["memoryUnit"]]
        assert [path["memoryPath"] for path in paths] == [
            str(path["memory_path"]) for path in element["memory_unit"]
        ]
        assert [path["request"] for path in paths] == [
            path["request"] for path in element["memory_unit"]
        ]
        assert all(path["display"] for path in paths)
        assert told["l2Cache"]["compare"]["hit"] == element["L2cache"]["hit"]
        assert told["vector1"]["compare"]["cycle"] == str(element["Vector1"]["cycle"])
        assert told["advice"] == list(dict.fromkeys(element["advice"]))


def test_the_memory_tables_of_a_block_are_those_of_the_file(mix: Answers) -> None:
    element = payload("mix.bin", 0x09)["table_per_block"][1]
    (told,) = body(mix, "source/details/memoryTable", blockId="1")["memoryTable"]
    assert len(told["tableDetail"]) == 16
    for table, shown in zip(element["table_detail"], told["tableDetail"], strict=True):
        assert shown["tableName"] == table["table_name"]
        assert shown["size"] == [str(number) for number in table["size"]]
        assert [row["compare"] for row in shown["row"]] == table["row"]
        assert all(row["diff"] == {"name": "", "value": []} for row in shown["row"])


def test_no_block_of_that_number_gives_an_empty_list(mix: Answers) -> None:
    assert body(mix, "source/details/memoryGraph", blockId="2") == {"coreMemory": []}
    assert body(mix, "source/details/memoryTable", blockId="2") == {"memoryTable": []}


def test_levels_of_cores_follow_from_mean_and_deviation(mix: Answers) -> None:
    told = body(mix, "source/details/interCoreLoadAnalysis")
    parts = [part for core in told["opDetails"] for part in core["subCoreDetails"]]
    assert [part["subCoreName"] for part in parts] == ["vector0", "vector1", "cube0"] * 2
    checked = 0
    for kind in ("vector", "cube"):
        of_kind = [part for part in parts if part["subCoreName"].startswith(kind)]
        for figure in ("cycles", "throughput", "cacheHitRate"):
            values = [part[figure]["value"]["compare"] for part in of_kind]
            mean, deviation = statistics.mean(values), statistics.stdev(values)
            for part, value in zip(of_kind, values, strict=True):
                share = 1 / (1 + math.exp(-(value - mean) / deviation)) if deviation else 0
                assert part[figure]["level"] == int(10 * share)
                checked += 1
    assert checked == 18


def test_rooflines_are_those_of_the_file(many_blocks: Answers) -> None:
    told = body(many_blocks, "source/details/roofline")
    charts = payload("roofline_data.bin", 0x0D)["multiple_rooflines"]
    assert told["soc"] == "Ascend910B4"
    assert [chart["title"] for chart in told["data"]] == [chart["title"] for chart in charts]
    for chart, shown in zip(charts, told["data"], strict=True):
        for line, drawn in zip(chart["rooflines"], shown["rooflines"], strict=True):
            assert float(drawn["bw"]) == line["bw"]
            assert [float(number) for number in drawn["point"]] == line["point"]
            assert (drawn["bwName"], drawn["ratio"]) == (line["bw_name"], line["ratio"])


def test_a_file_compared_with_itself_differs_in_nothing(mix: Answers) -> None:
    graph = body(mix, "source/details/memoryGraph", mix, blockId="0", isCompared=True)
    table = body(mix, "source/details/memoryTable", mix, blockId="0", isCompared=True)
    load = body(mix, "source/details/computeworkload", mix, isCompared=True)
    cores = body(mix, "source/details/interCoreLoadAnalysis", mix, isCompared=True)
    differences = [
        *(unit["diff"]["request"] for unit in graph["coreMemory"][0]["memoryUnit"]),
        *(
            cell
            for shown in table["memoryTable"][0]["tableDetail"]
            for row in shown["row"]
            for cell in row["diff"]["value"]
        ),
        *(figure["diff"]["value"] for figure in load["chartData"]["detailDataList"]),
        *(
            part["cycles"]["value"]["diff"]
            for core in cores["opDetails"]
            for part in core["subCoreDetails"]
        ),
    ]
    assert len(differences) > 200
    assert {str(difference) for difference in differences} == {"0"}


def test_answers_are_the_same_every_time(every: Answers) -> None:
    def everything() -> str:
        told = [every.answer(command, ANY).body for command in COMMANDS]
        return json.dumps([every.import_body(), *told])

    assert everything() == everything()
