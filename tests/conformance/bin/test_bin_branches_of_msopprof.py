"""What msopprof writes on its rarer branches is no fault, and what lies next to it still is."""

from __future__ import annotations

from dataclasses import dataclass

import handmade
import pytest
from handmade_edits import changed, only, rewritten, rules_of
from handmade_sources import timeline

from ascend_conformance.media.bin.judge import judge_content
from ascend_conformance.options import Options
from ascend_conformance.ruleset import Selection
from ascend_ref.bin import Block, canonical, parse, read_blocks, to_bytes

NOT_COUNTED = 2**64 - 1
MANY = 258
KEYS = {0x06: "subblock_detail", 0x07: "subblock_detail", 0x08: "core_memory_map"}
KEYS |= {0x09: "table_per_block", 0x0C: "op_detail"}


@dataclass(frozen=True)
class ManyBlocks(handmade.Operator):
    @property
    def blocks(self) -> list[str]:
        return [str(number) for number in range(MANY)]


def wrapped(code: int, payload: dict) -> dict:
    """``uint8_t blockId`` of ComputeLoadBlockDetail and MemMapDetail, data_visualize_const.h."""
    name = {0x08: "core_no", 0x0C: "core_id"}.get(code, "block_id")
    for entry in payload[KEYS[code]]:
        number = int(entry[name]) % 256
        entry[name] = number if code == 0x0C else str(number)
    return payload


def of_many_blocks() -> dict[int, dict]:
    of = ManyBlocks("910B", "vector")
    payloads = {0x06: handmade.loads(0x06, of), 0x08: handmade.heat_map(of)}
    return {0x05: handmade.basic(of)} | {
        code: wrapped(code, payload) for code, payload in payloads.items()
    }


def file_of(payloads: dict[int, dict]) -> bytes:
    return to_bytes(Block(code, canonical(payload)) for code, payload in payloads.items())


def selected(content: bytes, *rules: str) -> set[str]:
    found = judge_content(content, "x.bin", Options(selection=Selection(select=rules))).findings
    return {one.rule for one in found}


def test_numbers_of_blocks_begin_again_behind_255():
    payloads = of_many_blocks()
    assert rules_of(file_of(payloads)) <= {"BIN904"}
    payloads[0x06]["subblock_detail"][257]["origin_value"] += 1_000
    del payloads[0x08]["core_memory_map"][256]
    assert {"BIN501", "BIN902"} <= rules_of(file_of(payloads))


def test_cores_whose_number_stands_twice_are_not_compared():
    """MergeSameCorePmu of occupancy.cpp sorts by the 8 bits: block 256 may stand before block 0."""
    content = only(handmade.device_file("mix"), 0x05, 0x08, 0x0C)
    payloads = {entry: parse(payload) for entry, payload in payloads_of(content).items()}
    of = ManyBlocks("910B", "mix")
    payloads[0x08] = {"core_memory_map": [core_of(of, place) for place in range(MANY)]}
    detail = [sub_cores_of(of, place) for place in range(MANY)]
    detail[0], detail[256] = detail[256], detail[0]
    payloads[0x0C]["op_detail"] = detail
    assert selected(file_of(payloads), "BIN701") == set()
    detail[5]["core_detail"][0]["cycles"] = "1"
    assert selected(file_of(payloads), "BIN701") == {"BIN701"}


def payloads_of(content: bytes) -> dict[int, bytes]:
    file = read_blocks(content, "x.bin")
    return {entry.type: bytes(file.payload(entry)) for entry in file.entries}


def core_of(of: handmade.Operator, place: int) -> dict:
    units = {"Cube": "cube0", "Vector": "vector0", "Vector1": "vector1"}
    figures = {unit: handmade.figures(of, place, kind, unit) for unit, kind in units.items()}
    return {**figures, "core_no": str(place % 256), "op_type": "mix", "soc": "910B"}


def sub_cores_of(of: handmade.Operator, place: int) -> dict:
    cores = [
        {"cycles": str(of.total(place, kind)), "subcore_id": kind[-1], "subcore_type": kind[:-1]}
        for kind in of.kinds
    ]
    return {"core_detail": cores, "core_id": place % 256}


def without_arithmetic(payload: dict) -> None:
    for entry in payload["subblock_detail"]:
        if entry["name"].startswith("Cube"):
            entry["origin_value"], entry["value"] = float(NOT_COUNTED), 0.0


def without_l2(payload: dict) -> None:
    """StorageAccess910B::PreProcess adds two counters that are UINT64_MAX; both sums wrap."""
    cache = {"hit": "18446744073709551614", "miss": "18446744073709551614"}
    cache |= {"total_request": "18446744073709551612", "hit_ratio": "0.000000"}
    for core in payload["core_memory_map"]:
        core["L2cache"] = dict(cache)


def without_l2_rows(payload: dict) -> None:
    for block in payload["table_per_block"]:
        rows = next(one["row"] for one in block["table_detail"] if one["table_name"] == "Cache")
        rows[0]["value"] = rows[1]["value"] = ["NA"] * 4
        rows[2]["value"] = ["0", "0", "0", "0.000000"]


def without_cycles(payload: dict) -> None:
    for core in payload["core_memory_map"]:
        units = [unit for unit in ("Cube", "Vector", "Vector1") if unit in core]
        for unit in units:
            core[unit] |= {"cycle": NOT_COUNTED, "ratio": 0.0}
        core["advice"] = ["aicore compute usage lower than 20%"] * len(units)


def test_counters_of_other_metrics_are_not_there_when_an_application_is_replayed():
    """--replay-mode=application with some --aic-metrics: EMPTY_PMU_VALUE of defs.h."""
    changes = {0x06: without_arithmetic, 0x08: without_l2, 0x09: without_l2_rows}
    assert rules_of(rewritten(handmade.device_file("mix"), changes)) == set()


@pytest.mark.parametrize("case", ["vector", "cube", "950-mix"])
def test_cycles_that_were_not_counted_are_compared_with_nothing(case):
    assert rules_of(changed(case, 0x08, without_cycles)) == set()


def test_a_number_short_of_the_greatest_is_a_counter():
    def wrong(payload: dict) -> None:
        payload["core_memory_map"][0]["L2cache"]["hit"] = str(2**63)

    assert {"BIN602", "BIN605"} <= rules_of(changed("mix", 0x08, wrong))


def one_vector_core(payload: dict) -> None:
    """SetOpVisualizeData of metric_data_handler.cpp: a duration for each sub-block that ran."""
    payload["mix_block_dim"] = payload["block_dim"]
    for row in payload["mix_block_detail"]["row"]:
        row["value"].pop()


def loads_of_one_vector_core(payload: dict) -> None:
    """VEC_INDEX of compute_load_calculator.cpp is a static 0 or 1 that no block resets."""
    entries = [one for one in payload["subblock_detail"] if one["block_type"] != "vector1"]
    active = [one for one in entries if one["name"].startswith("Vector All Active")]
    for place, entry in enumerate(active):
        entry["name"] = f"Vector All Active{place % 2}"
    payload["subblock_detail"] = entries


def test_a_mix_operator_of_one_cube_to_one_vector_core():
    content = only(handmade.device_file("mix"), 0x05, 0x06)
    changes = {0x05: one_vector_core, 0x06: loads_of_one_vector_core}
    assert rules_of(rewritten(content, changes)) <= {"BIN904"}


def test_a_row_of_two_vector_cores_lacks_no_cell():
    def short(payload: dict) -> None:
        payload["mix_block_detail"]["row"][0]["value"].pop()

    def unnumbered(payload: dict) -> None:
        for entry in payload["subblock_detail"]:
            entry["name"] = entry["name"].rstrip("01")

    assert "BIN404" in rules_of(changed("mix", 0x05, short))
    assert "BIN508" in rules_of(changed("mix", 0x06, unnumbered))


def cube_counted_apart(by: float):
    """GetCycleMap of pmu_calculator.cpp takes counter 10, compute_load_calculator.cpp 73 and 74."""

    def change(payload: dict) -> None:
        for core in payload["core_memory_map"]:
            unit = core["Cube"]
            unit["cycle"] = int(unit["cycle"] * by)
            unit["ratio"] = 100 * unit["cycle"] / unit["total_cycles"]

    return change


def test_cycles_of_the_cube_unit_are_another_counter_than_those_of_its_parts():
    assert selected(changed("cube", 0x08, cube_counted_apart(1.02)), "BIN502") == set()
    assert selected(changed("cube", 0x08, cube_counted_apart(0.01)), "BIN502") == {"BIN502"}
    assert selected(changed("950-mix", 0x08, cube_counted_apart(1.02)), "BIN502") == {"BIN502"}


@pytest.mark.parametrize(("rate", "rules"), [("2.1", set()), ("0.91", {"BIN707"})])
def test_misses_without_allocation_are_counted_for_sub_cores_alone(rate, rules):
    """GetSubBlockData of occupancy.cpp counts 1283, 1287 and 1291 as misses; 0x08 does not."""

    def change(payload: dict) -> None:
        for core in payload["op_detail"]:
            for sub_core in core["core_detail"]:
                sub_core["L2cache_hit_rate"] = rate

    assert rules_of(changed("mix", 0x0C, change)) == rules


@pytest.mark.parametrize(("x", "rules"), [(1e-8, set()), (1e-6, {"BIN752"})])
def test_a_roof_that_is_zero_to_a_float_gives_no_ratio(x, rules):
    """IsZero(highPullThroughPoint) of roofline.cpp: kernels that only move data."""

    def change(payload: dict) -> None:
        for line in payload["multiple_rooflines"][0]["rooflines"]:
            line |= {"point": [x, x], "ratio": "NA", "bw": 1.5}

    assert rules_of(changed("vector", 0x0D, change)) == rules


def traced(*events: dict) -> bytes:
    trace = timeline(["core0.veccore0"])
    trace["traceEvents"][:0] = events
    instructions = only(handmade.simulator_file(), 0x04)
    file = read_blocks(instructions, "x.bin")
    listed = [Block(one.type, file.payload(one), version=one.version) for one in file.entries]
    return to_bytes([Block(0x02, canonical(trace)), *listed])


def counter(name: str) -> dict:
    value = {"throughput(MB/s)": 0.0}
    return {"args": value, "name": name, "ph": "C", "pid": "MTE Throughput", "tid": 0, "ts": 0}


def test_the_first_sample_of_a_throughput_is_number_0():
    """Entry of mte_log_visualizer.cpp numbers the samples from 0."""
    assert selected(traced(counter("GM_TO_UB")), "BIN207") == set()
    assert selected(traced(counter("L2_TO_UB")), "BIN207") == {"BIN207"}


def fetched(lane: str) -> dict:
    args = {"code": "", "detail": "", "pc_addr": "0xfff00"}
    event = {"args": args, "cname": "startup", "dur": 0.001, "name": "0x000fff00", "ph": "X"}
    return {**event, "pid": "core0.veccore0", "tid": lane, "ts": 1.0}


def test_the_instruction_cache_fetches_what_does_not_run():
    """ParseLine of real_time_data_parser.cpp; the list of sim_pc_to_code.cpp is of executions."""
    assert selected(traced(fetched("CACHEMISS")), "BIN217") == set()
    assert selected(traced(fetched("SCALAR")), "BIN217") == {"BIN217"}


def test_lines_of_files_that_cannot_be_read_are_left_out():
    """GenCodeFiles of hotspot_function_generator.cpp: Files is empty, and there is no source."""

    def without_files(payload: dict) -> None:
        payload["Files"] = []

    content = only(handmade.device_file("vector"), 0x04, 0x05)
    lines = payloads_of(only(handmade.device_file("vector"), 0x03))[0x03]
    whole = to_bytes([Block(0x03, lines), *blocks_of(content)])
    assert selected(whole, "BIN904") == {"BIN904"}
    assert selected(rewritten(whole, {0x03: without_files}), "BIN904") == set()


def blocks_of(content: bytes) -> list[Block]:
    file = read_blocks(content, "x.bin")
    return [Block(one.type, file.payload(one), version=one.version) for one in file.entries]


@pytest.mark.parametrize(("registers", "rules"), [(-1, set()), (-2, {"BIN124"})])
def test_marks_of_the_user_have_no_registers(registers, rules):
    """MergeUserMark of instr_log_parser.cpp, Statistic of sim_code_to_pc.cpp."""

    def mark(payload: dict) -> None:
        entries = payload.get("Instructions") or payload["Files"][0]["Lines"]
        entries[0]["GPR Count"] = [registers] * len(payload["Cores"])

    content = rewritten(handmade.simulator_file(), {0x03: mark, 0x04: mark})
    assert rules_of(content) == rules


@pytest.mark.parametrize(("clock", "rules"), [("NA", set()), ("fast", {"BIN125"})])
def test_a_replayed_range_may_have_no_clock(clock, rules):
    """GetRangeFreq of device_data_parse.cpp."""

    def change(payload: dict) -> None:
        payload["cur_freq"] = payload["rated_freq"] = clock

    assert rules_of(changed("vector", 0x05, change)) == rules


@pytest.mark.parametrize(("detail", "rules"), [("1", set()), ("0", {"BIN608"})])
def test_with_memory_detail_requests_from_ub_to_l1_have_128_bytes(detail, rules):
    """GetMixMap of storage_access.cpp takes UB_TO_L1 from another table then."""

    def change(payload: dict) -> None:
        for core in payload["core_memory_map"]:
            core["memory_detail"] = detail
            path = next(one for one in core["memory_unit"] if one["memory_path"] == 46)
            path["bandwidth"] = f"{float(path['bandwidth']) / 2:.6f}"

    assert selected(changed("950-mix", 0x08, change), "BIN608") == rules


@pytest.mark.parametrize(("shares", "rules"), [((3, 2, 1), set()), ((9, 9, 9), {"BIN608"})])
def test_with_kernel_scale_the_sub_blocks_have_times_of_their_own(shares, rules):
    """LoadMapData of storage_access.cpp adds the bandwidths of the three on 950."""
    of = handmade.Operator(*handmade.CASES["950-mix"])

    def change(payload: dict) -> None:
        for place, core in enumerate(payload["core_memory_map"]):
            path = core["memory_unit"][0]
            bandwidth = sum(
                share * 1_000 * 128 / of.lasted(place, kind) * 1e6 / handmade.GIB
                for share, kind in zip(shares, of.kinds, strict=True)
            )
            path |= {"request": "6000", "bandwidth": f"{bandwidth:.6f}"}

    assert selected(changed("950-mix", 0x08, change), "BIN608") == rules
