"""The identities of bin-blocks.md 6, recomputed from the bytes of whole files."""

from __future__ import annotations

from typing import Any

import pytest
from kernel_bytes import (
    ADD,
    CUBE,
    DEVICE,
    GATHER,
    GIBI,
    MIX,
    NEAR,
    UNIFIED,
    VECTOR,
    tables,
    written,
)

from ascend_spec import bin_catalog

FLOAT32 = 2e-6
"""Relative: one rounding to single precision and six decimals."""

UNIT_TABLES = {"Cube": "cube0", "Vector": "vector0", "Vector1": "vector1"}


def close(found: float, expected: float, absolute: float = 1e-6) -> bool:
    return abs(found - expected) <= max(abs(expected) * FLOAT32, absolute)


def families(document: dict[str, Any]) -> tuple[str, str]:
    core = document["core_memory_map"][0]
    return {"910B": "910B", "310P": "310P", "910A5": "950"}[core["soc"]], core["op_type"]


@pytest.mark.parametrize("text", DEVICE)
def test_basic_info_counts_its_blocks_and_lasts_longer_than_each(text: str) -> None:
    basic = written(text).json(0x05)
    mixed = basic["op_type"] == "mix"
    assert ("mix_block_detail" in basic, "block_detail" in basic) == (mixed, not mixed)
    detail = basic["mix_block_detail" if mixed else "block_detail"]
    heads, rows = detail["head_name"], [row["value"] for row in detail["row"]]
    assert detail["size"] == [len(rows) + 1, len(heads)]
    assert {len(row) for row in rows} == {len(heads)}
    if basic["op_type"] != "AiCore":
        assert [row[0] for row in rows] == [str(one) for one in range(int(basic["block_dim"]))]
    if mixed:
        assert int(basic["mix_block_dim"]) == 2 * int(basic["block_dim"])
    longest = max(float(one) for row in rows for one in row[1 if mixed else -1 :])
    assert 0 < longest <= basic["duration"]


@pytest.mark.parametrize("text", DEVICE)
def test_cycles_and_durations_give_one_clock(text: str) -> None:
    file = written(text)
    basic = file.json(0x05)
    detail = basic.get("mix_block_detail") or basic["block_detail"]
    for row, core in zip(detail["row"], file.json(0x08)["core_memory_map"], strict=True):
        units = [core[name] for name in ("Cube", "Vector", "Vector1") if name in core]
        durations = row["value"][-len(units) :] if basic["op_type"] == "mix" else row["value"][-1:]
        for unit, duration in zip(units, durations, strict=False):
            assert close(float(duration) * int(basic["cur_freq"]), unit["total_cycles"], 2e-3)


@pytest.mark.parametrize("text", DEVICE)
def test_loads_are_shares_of_the_cycles_in_the_heat_map(text: str) -> None:
    file = written(text)
    cores = {one["core_no"]: one for one in file.json(0x08)["core_memory_map"]}
    for load in file.json(0x06)["subblock_detail"]:
        name = load["name"].split()[0] + ("1" if load["name"].endswith("1") else "")
        unit = cores[load["block_id"]][name]
        assert close(load["value"], 100 * load["origin_value"] / unit["total_cycles"])
        if load["name"].removesuffix("0").removesuffix("1").endswith("All Active"):
            assert load["origin_value"] == unit["cycle"]
            assert close(unit["ratio"], load["value"])


@pytest.mark.parametrize("text", DEVICE)
def test_what_was_active_is_the_sum_of_its_kinds(text: str) -> None:
    file = written(text)
    family, _ = families(file.json(0x08))
    for code in (0x06, 0x07):
        sums: dict[tuple[str, str, str], dict[str, float]] = {}
        for load in file.json(code)["subblock_detail"]:
            core, _, name = load["name"].partition(" ")
            key = (load["block_id"], load["block_type"], core)
            value = load["origin_value"] if code == 0x06 else float(load["value"])
            if "Wait" not in name:
                sums.setdefault(key, {})[name] = value
        for (_, _, core), values in sums.items():
            if core == "Cube":
                assert values["All Active"] == values["FP"] + values["INT"]
            elif code == 0x07 and family == "950":
                kinds = [value for name, value in values.items() if name != "All Active"]
                assert values["All Active"] == sum(kinds)
            elif code == 0x07:
                blocks = [value for name, value in values.items() if name.endswith(" Block")]
                assert values["All Block"] == sum(blocks) - values["All Block"]
                kinds = ["S32", "FP32", "FP16", "S16", "Misc", "Fusion", "DB Para"]
                assert values["All Active"] == sum(values[name] for name in kinds)


@pytest.mark.parametrize("text", DEVICE)
def test_pages_speak_of_the_same_blocks(text: str) -> None:
    file = written(text)
    ids = {
        0x06: {one["block_id"] for one in file.json(0x06)["subblock_detail"]},
        0x07: {one["block_id"] for one in file.json(0x07)["subblock_detail"]},
        0x08: {one["core_no"] for one in file.json(0x08)["core_memory_map"]},
        0x09: {one["block_id"] for one in file.json(0x09)["table_per_block"]},
    }
    assert len({frozenset(one) for one in ids.values()}) == 1


@pytest.mark.parametrize("text", DEVICE)
def test_paths_are_those_of_the_chip_and_equal_their_rows(text: str) -> None:
    file = written(text)
    heat, memory = file.json(0x08), file.json(0x09)
    family, op_type = families(heat)
    known = bin_catalog().memory.path_set(family, op_type, "E3")
    assert known is not None
    for number, core in enumerate(heat["core_memory_map"]):
        units = core["memory_unit"]
        assert [one["memory_path"] for one in units] == list(known.paths)
        rows = tables(memory, number)
        for one in units:
            assert one["display"] == 1
            assert not isinstance(one["display"], bool)
            if one["memory_path"] in known.rows:
                table, place = known.rows[one["memory_path"]]
                if place < len(rows[table]):
                    cells = list(rows[table].values())[place]
                    assert [one["request"], one["bandwidth"]] == cells[:2]


@pytest.mark.parametrize("text", DEVICE)
def test_bandwidths_are_requests_over_time(text: str) -> None:
    file = written(text)
    basic, heat = file.json(0x05), file.json(0x08)
    family, op_type = families(heat)
    for core in heat["core_memory_map"]:
        unit = core.get("Cube") or core["Vector"]
        time = unit["total_cycles"] / int(basic["cur_freq"])
        time = basic["duration"] if op_type == "mix" else time
        for one in core["memory_unit"]:
            size = bin_catalog().memory.request_bytes(family, one["memory_path"], "E3")
            if one["request"] != "NA":
                expected = int(one["request"]) * size * 1e6 / time / GIBI
                assert close(float(one["bandwidth"]), expected)


@pytest.mark.parametrize("text", DEVICE)
def test_caches_add_up(text: str) -> None:
    file = written(text)
    memory = file.json(0x09)
    for number, core in enumerate(file.json(0x08)["core_memory_map"]):
        rows = tables(memory, number)["Cache"]
        for hit, miss, total, rate in rows.values():
            assert int(hit) + int(miss) == int(total)
            assert close(float(rate), 100 * int(hit) / int(total) if int(total) else 0)
        if "L2 Cache Read" in rows:
            both = zip(rows["L2 Cache Read"], rows["L2 Cache Write"], strict=True)
            sums = [int(one) + int(other) for one, other in list(both)[:3]]
            assert [int(one) for one in rows["L2 Cache Total"][:3]] == sums
        cache = core["L2cache"]
        keys = ("hit", "miss", "total_request", "hit_ratio")
        assert [cache[key] for key in keys] == rows["L2 Cache Total"]


@pytest.mark.parametrize("text", DEVICE)
def test_tables_have_the_size_that_they_say(text: str) -> None:
    file = written(text)
    heat = file.json(0x08)
    expected = bin_catalog().memory.tables(*families(heat), "E3")
    for block in file.json(0x09)["table_per_block"]:
        names = [one["table_name"] for one in block["table_detail"]]
        assert names == sorted(expected) == list(expected)
        for table in block["table_detail"]:
            known = expected[table["table_name"]]
            rows = [row["name"] for row in table["row"]]
            assert tuple(table["header_name"]) == known.headers
            assert tuple(rows[: len(known.rows)]) == known.rows
            assert set(rows[len(known.rows) :]) <= set(known.optional_rows)
            assert table["size"] == [len(rows), len(known.headers) - 1]
            assert {len(row["value"]) for row in table["row"]} == {len(known.headers) - 1}


@pytest.mark.parametrize("text", [VECTOR, CUBE, MIX, UNIFIED, NEAR])
def test_pipes_are_active_for_a_share_of_their_core(text: str) -> None:
    file = written(text)
    memory = file.json(0x09)
    totals = {"Pipe Cube": "Cube", "Pipe Vector Core0": "Vector", "Pipe Vector Core1": "Vector1"}
    for number, core in enumerate(file.json(0x08)["core_memory_map"]):
        for name, rows in tables(memory, number).items():
            if not name.startswith("Pipe"):
                continue
            unit = core.get(totals.get(name, "Cube")) or core["Vector"]
            for cells in rows.values():
                cycle = int(cells[1])
                assert cycle <= unit["total_cycles"]
                assert close(float(cells[3]), 100 * cycle / unit["total_cycles"])


def test_scalar_time_is_the_cycle_of_the_scalar_pipe() -> None:
    found = tables(written(MIX).json(0x09))
    for core in ("Cube", "Vector Core0", "Vector Core1"):
        assert found[f"Scalar {core}"]["Scalar Time"][0] == found[f"Pipe {core}"]["Scalar"][1]
        assert found[f"Scalar {core}"]["Scalar Wait"][0] == found[f"Pipe {core}"]["Scalar"][2]


def test_to_wait_is_no_work_of_the_scalar_unit() -> None:
    """As in mix.bin, where it works for 20,779 of the 219,790 cycles of a vector core."""
    file = written(MIX)
    core, rows = file.json(0x08)["core_memory_map"][0], tables(file.json(0x09))
    for unit, name in (("Cube", "Cube"), ("Vector", "Vector Core0"), ("Vector1", "Vector Core1")):
        cycles, waits = (int(cell) for cell in rows[f"Pipe {name}"]["Scalar"][1:3])
        assert 0 < cycles <= core[unit]["total_cycles"] - waits


@pytest.mark.parametrize("text", [VECTOR, CUBE, MIX, GATHER, NEAR])
def test_inter_core_load_repeats_cycles_and_traffic(text: str) -> None:
    file = written(text)
    basic, load, memory = file.json(0x05), file.json(0x0C), file.json(0x09)
    assert (load["soc"], load["op_type"]) == (basic["soc"], basic["op_type"])
    for number, core in enumerate(file.json(0x08)["core_memory_map"]):
        detail = load["op_detail"][number]
        assert detail["core_id"] == number
        rows = tables(memory, number)
        for one in detail["core_detail"]:
            mixed = basic["op_type"] == "mix"
            cube = one["subcore_type"] == "cube"
            name = "Cube" if cube else "Vector1" if one["subcore_id"] == "1" else "Vector"
            assert int(one["cycles"]) == core[name]["total_cycles"]
            table = "GM"
            if mixed:
                table = "GM Cube" if cube else f"GM Vector Core{one['subcore_id']}"
            requests = [int(cells[0]) for cells in rows[table].values()]
            assert int(one["throughput"]) == 128 * sum(requests)


@pytest.mark.parametrize("text", [VECTOR, ADD, CUBE, MIX, UNIFIED, NEAR, GATHER])
def test_rooflines_are_what_their_points_say(text: str) -> None:
    file = written(text)
    charts = file.json(0x0D)["multiple_rooflines"]
    assert charts
    for chart in charts:
        lines = chart["rooflines"]
        names = [line["bw_name"] for line in lines]
        if file.json(0x08)["core_memory_map"][0]["soc"] != "910A5":
            assert names == sorted(names)
            assert len({(line["computility"], line["point"][1]) for line in lines}) == 1
        for line in lines:
            x, y = line["point"]
            if line["ratio"] != "NA":
                roof = min(x * line["bw"], line["computility"])
                assert close(float(line["ratio"]), y / roof, 1.1e-6)


@pytest.mark.parametrize("kind", ["add", "gelu"])
@pytest.mark.parametrize("rate", [0, 500, 1000])
def test_no_memory_moves_more_than_it_can(kind: str, rate: int) -> None:
    """Loads and stores of all cores together: above the roof, a ratio would be NA."""
    shape = [48, 10, 16384]  # ten tiles on each core
    text = f"operator: {{kind: {kind}, shape: {shape}}}\nconditions: {{l2_hit_rate: {rate}}}"
    for chart in written(text).json(0x0D)["multiple_rooflines"]:
        for line in chart["rooflines"]:
            x, y = line["point"]
            assert y <= x * line["bw"] * (1 + FLOAT32), line["bw_name"]
            assert line["ratio"] != "NA"


def test_operations_are_those_of_the_matrix_product() -> None:
    file = written("operator: {kind: matmul, shape: [256, 512, 512]}\ndevice: {block_dim: 4}")
    point = file.json(0x0D)["multiple_rooflines"][0]["rooflines"][0]["point"]
    operations = point[1] * file.json(0x05)["duration"] * 1e6
    assert operations == pytest.approx(2 * 256 * 512 * 512, rel=1e-6)


@pytest.mark.parametrize("text", [VECTOR, MIX])
def test_sets_of_the_cache_are_all_there_with_their_shares(text: str) -> None:
    records = written(text).json(0x0E)["Cacheline Records"]
    assert [one["Cacheline Id"] for one in records] == list(range(8192))
    for one in records:
        (hits, hit_share), (misses, miss_share) = one["Hit"]["Value"], one["Miss"]["Value"]
        total = hits + misses
        assert close(hit_share, hits / total if total else 0)
        assert close(miss_share, misses / total if total else 0)
        assert bool(one["Hit"]["Address Range"]) == bool(hits)


def test_stall_reasons_are_the_eight_and_the_sum_of_the_samples() -> None:
    file = written(GATHER)
    table = file.json(0x0F)["top_stall_reason_table"]
    states = [one.value for one in bin_catalog().enums["stall_states"].members]
    assert sorted(table) == sorted(states)
    column = "Stall Sampling(Not Issue)"
    sums = dict.fromkeys(table, 0)
    shares = 0.0
    for row in file.json(0x04)["Instructions"]:
        shares += row[column]["Percent"]
        for state, count in row[column]["Details"].items():
            sums[state] += count
    assert sums == table
    assert shares == pytest.approx(1, abs=1e-5)
