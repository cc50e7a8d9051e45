"""Cores, rooflines, cache lines and stalls, of blocks made by hand."""

from __future__ import annotations

from typing import Any

import pytest
from api_files import answers, ask, body, compared, json_block, text_block

from ascend_ref.tools.serve import Answers

# --- 0x0C ----------------------------------------------------------------------------------------


def cores(op_type: str, *cycles: int, first: int = 0) -> dict[str, object]:
    """Cores with one part each."""
    return {
        "soc": "s",
        "op_type": op_type,
        "advice": "a",
        "op_detail": [
            {"core_id": first + number, "core_detail": [part(op_type, count)]}
            for number, count in enumerate(cycles)
        ],
    }


def part(kind: str, cycles: object, number: object = "0", **more: object) -> dict[str, object]:
    return {"subcore_type": kind, "subcore_id": number, "cycles": cycles, **more}


def core_load(document: object) -> Any:
    return body(answers(json_block(0x0C, document)), "source/details/interCoreLoadAnalysis")


def levels(told: Any, figure_: str = "cycles") -> list[int]:
    return [one[figure_]["level"] for core in told["opDetails"] for one in core["subCoreDetails"]]


@pytest.mark.parametrize(
    ("cycles", "expected"),
    [
        ((7,), [0]),  # one sample
        ((7, 7, 7), [0, 0, 0]),  # no deviation
        ((1, 2, 3), [2, 5, 7]),  # z = -1, 0, 1: 0.27, 0.5, 0.73
        ((0, 10), [3, 6]),  # z = -0.71, 0.71: 0.33, 0.67
        ((0,) * 99 + (100,), [4] * 99 + [9]),  # z = 9.9
    ],
)
def test_levels_are_tenths_of_the_logistic_function(
    cycles: tuple[int, ...], expected: list[int]
) -> None:
    assert levels(core_load(cores("cube", *cycles))) == expected


def test_the_parts_of_each_type_have_their_own_mean() -> None:
    mixed = {
        "op_type": "mix",
        "op_detail": [
            {
                "core_id": 0,
                "core_detail": [part("cube", 1000), part("vector", 1), part("vector", 2, "1")],
            },
            {
                "core_id": 1,
                "core_detail": [part("cube", 1000), part("vector", 3), part("vector", 2, "1")],
            },
        ],
    }
    told = core_load(mixed)
    assert levels(told) == [0, 2, 5, 0, 7, 5]
    names = [one["subCoreName"] for one in told["opDetails"][0]["subCoreDetails"]]
    assert names == ["cube0", "vector0", "vector1"]


def test_vector_cores_are_put_together_in_pairs_by_number() -> None:
    document = cores("vector", 10, 20, 30)
    document["op_detail"] = list(reversed(document["op_detail"]))  # type: ignore[call-overload]
    told = core_load(document)
    assert [core["coreId"] for core in told["opDetails"]] == [0, 1]
    shown = [
        [(one["subCoreName"], one["cycles"]["value"]["compare"]) for one in core["subCoreDetails"]]
        for core in told["opDetails"]
    ]
    assert shown == [[("vector0", 10), ("vector1", 20)], [("vector0", 30)]]


def test_numbers_of_cores_are_not_cut_to_8_bits() -> None:
    assert [c["coreId"] for c in core_load(cores("cube", 1, 2, first=255))["opDetails"]] == [
        255,
        256,
    ]
    many = core_load(cores("vector", *range(270)))
    assert [core["coreId"] for core in many["opDetails"]] == list(range(135))


def test_figures_of_a_part_are_read_from_numbers_and_texts() -> None:
    one = part(
        "cube",
        "12",
        throughput=256,
        L2cache_hit_rate="80.157990",
        simt_vf_instructions={"instructions": 7, "instruction_per_cycle": 0.1},
    )
    told = core_load({"op_type": "cube", "op_detail": [{"core_id": "4", "core_detail": [one]}]})
    (core,) = told["opDetails"]
    (found,) = core["subCoreDetails"]
    assert core["coreId"] == 4
    assert found["cycles"]["value"] == {"compare": 12, "baseline": 0, "diff": 0}
    assert found["throughput"]["value"]["compare"] == 256
    assert found["cacheHitRate"]["value"]["compare"] == 80.15798950195312  # 32 bits
    assert found["simtVfInstructions"]["value"]["compare"] == 7
    assert found["simtVfInstructionPerCycle"]["value"]["compare"] == 0.10000000149011612


@pytest.mark.parametrize("odd", [-5, "-5", "x", None, [], 1 << 64, "9" * 5000, 0])
def test_odd_figures_of_a_part_count_as_none(odd: object) -> None:
    told = core_load({"op_detail": [{"core_id": odd, "core_detail": [part("cube", odd, odd)]}]})
    (core,) = told["opDetails"]
    assert core["coreId"] == 0
    assert core["subCoreDetails"][0]["cycles"]["value"]["compare"] == 0
    assert core["subCoreDetails"][0]["subCoreName"] == "cube0"


def test_cores_are_compared_with_the_sign_of_the_difference() -> None:
    """The viewer's differences are 0 (A15); what it means to show is this."""
    told = compared(
        "source/details/interCoreLoadAnalysis", 0x0C, cores("cube", 10, 20), cores("cube", 14)
    )
    values = [core["subCoreDetails"][0]["cycles"]["value"] for core in told["opDetails"]]
    assert values == [
        {"compare": 10, "baseline": 14, "diff": -4},
        {"compare": 20, "baseline": 0, "diff": 0},
    ]


@pytest.mark.parametrize("text", ["{}", "[]", "{", '{"op_detail":{}}'])
def test_core_loads_that_cannot_be_read_fail_without_an_error(text: str) -> None:
    answer = ask(answers(text_block(0x0C, text)), "source/details/interCoreLoadAnalysis")
    assert (answer.result, answer.error) == (False, None)


# --- 0x0D, 0x0E, 0x0F ----------------------------------------------------------------------------

ROOFLINES = {
    "advice": "memory bound",
    "multiple_rooflines": [
        {
            "title": "t",
            "rooflines": [{"bw": 1.25, "bw_name": "n", "point": [1, 2.5], "ratio": "NA"}],
        },
        {"title": "u", "rooflines": [{"point": [1]}, {"point": [1, 2, 3]}]},
        {"title": "v"},
    ],
}


def roofline(asked: Answers) -> Any:
    return body(asked, "source/details/roofline")


def test_rooflines_are_passed_on_as_texts() -> None:
    told = roofline(answers(json_block(0x05, {"soc": "chip"}), json_block(0x0D, ROOFLINES)))
    assert (told["soc"], told["advice"]) == ("chip", "memory bound")
    assert told["data"][0]["rooflines"] == [
        {
            "bw": "1.25",
            "bwName": "n",
            "computility": "",
            "computilityName": "",
            "point": ["1", "2.5"],
            "ratio": "NA",
        }
    ]
    assert [line["point"] for line in told["data"][1]["rooflines"]] == [[], []]
    assert told["data"][2]["rooflines"] == []


def test_rooflines_need_the_basic_information() -> None:
    nothing = {"soc": "", "advice": "", "data": []}
    assert roofline(answers(json_block(0x0D, ROOFLINES))) == nothing
    assert roofline(answers(json_block(0x05, {"soc": "chip"}))) == nothing
    assert roofline(answers(json_block(0x05, {}), json_block(0x0D, {}))) == nothing


def test_cachelines_are_passed_on_as_they_are() -> None:
    access = {"Value": [3, 0.75], "Address Range": [["0x1", "0x2"]]}
    records = {"Cacheline Records": [{"Cacheline Id": 0, "Hit": access, "Miss": access}]}
    asked = answers(json_block(0x05, {}), json_block(0x0E, records))
    assert body(asked, "source/cache/cachelineRecords") == records
    assert asked.import_body()["hasCachelineRecords"] is True


def stalls(**reasons: object) -> dict[str, object]:
    return {"top_stall_reason_table": reasons}


def test_stall_reasons_without_a_baseline_differ_by_themselves() -> None:
    asked = answers(json_block(0x0F, stalls(IBuf_Empty=3, Others=2.5, Nop_Cycles="4", x=True)))
    assert body(asked, "source/queryTopWarpStallReason") == {
        "unit": "count",
        "data": [
            {
                "compare": {"name": "IBuf_Empty", "value": 3},
                "baseline": {"name": "IBuf_Empty", "value": 0},
                "diff": {"name": "IBuf_Empty", "value": 3},
            }
        ],
    }


def test_stall_reasons_are_compared_by_name() -> None:
    told = compared("source/queryTopWarpStallReason", 0x0F, stalls(a=3, b=1), stalls(b=5, c=2))
    found = {
        one["compare"]["name"]: (
            one["compare"]["value"],
            one["baseline"]["value"],
            one["diff"]["value"],
        )
        for one in told["data"]
    }
    assert found == {"a": (3, 0, 3), "b": (1, 5, -4), "c": (0, 2, -2)}


def test_no_stall_reasons_give_no_data() -> None:
    for asked in (answers(json_block(0x05, {})), answers(json_block(0x0F, stalls()))):
        told = body(asked, "source/queryTopWarpStallReason")
        assert told == {"unit": "count", "data": []}
