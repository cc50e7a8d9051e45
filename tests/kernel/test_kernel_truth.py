"""truth.json: each figure of it, counted again in the bytes of the file."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import numpy as np
import pytest
from jsonschema import Draft202012Validator
from kernel_bytes import (
    ADD,
    ATTENTION,
    CUBE,
    DEVICE,
    EVERYTHING,
    GATHER,
    MIX,
    NEAR,
    SIMULATED,
    UNIFIED,
    VECTOR,
    tables,
    written,
)

from ascend_ref.bin.records import CACHE_DTYPE, TRACE_DTYPE
from ascend_simulator.operator.truth import truth_schema
from ascend_spec import bin_catalog

WITH_CORES = tuple(text for text in DEVICE if text != UNIFIED)
"""On 310P the pages speak of all cores together."""
UNITS = {"cubecore0": "Cube", "veccore0": "Vector", "veccore1": "Vector1"}
TABLES = {"Cube": "Pipe Cube", "Vector": "Pipe Vector Core0", "Vector1": "Pipe Vector Core1"}
LOAD, STORE = 3, 4
GM = 1
SPACES = {"L1": 2, "L0A": 3, "L0B": 4, "L0C": 5, "UB": 6}
FULL = (
    "operator: {kind: matmul, shape: [200, 64, 512], data_type: float32}\ndevice: {block_dim: 1}\n"
    "capture: {mode: everything}"
)
"""Each of its tiles fills L0C."""


def pages(text: str) -> list[tuple[dict[str, Any], dict[str, dict[str, list[str]]]]]:
    """Heat map and tables of each block."""
    file = written(text)
    memory = file.json(0x09)
    return [
        (core, tables(memory, number))
        for number, core in enumerate(file.json(0x08)["core_memory_map"])
    ]


def pipe_rows(rows: dict[str, dict[str, list[str]]], unit: str) -> dict[str, list[str]]:
    return rows.get("Pipe") or rows[TABLES[unit]]


@pytest.mark.parametrize("text", [*DEVICE, *SIMULATED, *EVERYTHING])
def test_it_is_what_its_schema_says(text: str) -> None:
    Draft202012Validator(truth_schema()).validate(written(text).truth)


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(truth_schema())


@pytest.mark.parametrize("text", [*WITH_CORES, *SIMULATED])
def test_executed_instructions_are_the_sum_of_the_instruction_page(text: str) -> None:
    file = written(text)
    rows = file.json(0x04)["Instructions"]
    assert sum(sum(row["Instructions Executed"]) for row in rows) == file.truth["executed"]


@pytest.mark.parametrize("text", DEVICE)
def test_the_task_lasts_as_long_as_basic_info_says(text: str) -> None:
    file = written(text)
    basic = file.json(0x05)
    assert int(basic["cur_freq"]) == file.truth["frequency"]
    assert basic["duration"] * file.truth["frequency"] == pytest.approx(
        file.truth["task_cycles"], rel=1e-6
    )
    assert int(basic["block_dim"]) == file.truth["blocks"]


@pytest.mark.parametrize("text", WITH_CORES)
def test_cores_and_their_pipes_are_those_of_the_pages(text: str) -> None:
    found = pages(text)
    for one in written(text).truth["cores"]:
        core, rows = found[one["block"]]
        unit = UNITS[one["core"].partition(".")[2]]
        if unit not in core:  # operators of vector cores alone have one such core per block
            unit = "Vector"
        assert core[unit]["total_cycles"] == one["cycles"]
        assert core[unit]["cycle"] == one["busy"].get("CUBE" if unit == "Cube" else "VECTOR", 0)
        cells = pipe_rows(rows, unit)
        for pipe, cycles in one["busy"].items():
            if pipe in cells:
                assert int(cells[pipe][1]) == cycles
                assert int(cells[pipe][2]) == one["waits"][pipe]


@pytest.mark.parametrize("text", DEVICE)
def test_the_bottleneck_is_the_busiest_pipe_of_any_core(text: str) -> None:
    shares: Counter[str] = Counter()
    for core, rows in pages(text):
        for unit in TABLES:
            if unit in core:
                own = {"CUBE" if unit == "Cube" else "VECTOR": core[unit]["ratio"]}
                for pipe, cells in pipe_rows(rows, unit).items():
                    own[pipe] = float(cells[3])
                for pipe, share in own.items():
                    if pipe != "Scalar":
                        shares[pipe] = max(shares[pipe], share)
    truth = written(text).truth["bottleneck"]
    (pipe, share), *_ = shares.most_common()
    assert pipe == truth["pipe"]
    assert share == pytest.approx(truth["share"], rel=1e-6)


@pytest.mark.parametrize("text", WITH_CORES)
def test_imbalance_is_the_slowest_core_by_the_mean(text: str) -> None:
    file = written(text)
    lengths: dict[str, list[int]] = defaultdict(list)
    for block in file.json(0x0C)["op_detail"]:
        for core in block["core_detail"]:
            lengths[core["subcore_type"]].append(int(core["cycles"]))
    truth = file.truth["imbalance"]
    assert set(truth) == set(lengths)
    for kind, own in lengths.items():
        mean = sum(own) / len(own)
        assert truth[kind]["slowest"] == max(own)
        assert truth[kind]["mean"] == pytest.approx(mean)
        assert truth[kind]["ratio"] == pytest.approx(max(own) / mean)


@pytest.mark.parametrize("text", DEVICE)
def test_hits_and_misses_are_those_of_the_cache_page(text: str) -> None:
    sums: Counter[str] = Counter()
    for _, rows in pages(text):
        for name, cells in rows["Cache"].items():
            sums[f"{name} hit"] += int(cells[0])
            sums[f"{name} miss"] += int(cells[1])
    truth = written(text).truth["cache"]
    hits, misses = (truth[f"read_{what}"] + truth[f"write_{what}"] for what in ("hits", "misses"))
    assert (hits, misses) == (sums["L2 Cache Total hit"], sums["L2 Cache Total miss"])
    assert truth["hit_rate"] == pytest.approx(100 * hits / (hits + misses))
    if text != UNIFIED:
        for name in ("Read", "Write"):
            assert truth[f"{name.lower()}_hits"] == sums[f"L2 Cache {name} hit"]
            assert truth[f"{name.lower()}_misses"] == sums[f"L2 Cache {name} miss"]


@pytest.mark.parametrize("text", DEVICE)
def test_bytes_of_paths_are_those_of_the_heat_map(text: str) -> None:
    catalog = bin_catalog()
    names = {one.value: one.name for one in catalog.enums["memory_paths"].members}
    family = {"910B": "910B", "310P": "310P", "910A5": "950"}
    sums: dict[str, int | None] = {}
    for core, _ in pages(text):
        for one in core["memory_unit"]:
            name = str(names[one["memory_path"]])
            size = catalog.memory.request_bytes(family[core["soc"]], one["memory_path"], "E3")
            if one["request"] == "NA":
                sums[name] = None
            else:
                sums[name] = (sums.get(name) or 0) + int(one["request"]) * size
    assert sums == written(text).truth["paths"]


@pytest.mark.parametrize("text", [VECTOR, ADD, CUBE, MIX, ATTENTION, UNIFIED, NEAR, GATHER])
def test_the_point_is_that_of_the_last_chart(text: str) -> None:
    file = written(text)
    page, truth = file.json(0x0D), file.truth["roofline"]
    lines = page["multiple_rooflines"][-1]["rooflines"]
    assert truth["bound"] == page["advice"]
    roofs = {line["computility_name"]: line["computility"] for line in lines}
    assert truth["computility"] == pytest.approx(sum(roofs.values()))
    # One chart has one point per kind of unit; together they make what the operator does.
    reached = {line["computility_name"]: line["point"][1] for line in lines}
    assert truth["operations_per_second"] == pytest.approx(sum(reached.values()), rel=1e-6)
    duration = file.json(0x05)["duration"]
    assert truth["operations"] == pytest.approx(sum(reached.values()) * duration * 1e6, rel=1e-6)


@pytest.mark.parametrize("text", EVERYTHING)
def test_records_of_accesses_hold_every_byte_and_are_numbered(text: str) -> None:
    file = written(text)
    payload = file.block(0x0A).payload
    length = int.from_bytes(payload[:8], "little")
    records = np.frombuffer(payload[8 : 8 + length], TRACE_DTYPE)
    count = len(records)
    assert (records["recordId"] == np.arange(count)).all()
    assert (records["memSize"] > 0).all()
    asked = file.run.world.scenario.capture.access_bytes
    program = file.run.world.program
    for kind, store in ((LOAD, False), (STORE, True)):
        own = records[(records["type"] == kind) & (records["space"] == GM)]
        assert own["memSize"].max(initial=0) <= asked
        moved = sum(
            int(np.broadcast_to(one.size, len(tape.blocks)).sum())
            for tape in program.tapes
            for step in tape.steps
            for one in step.transfers
            if one.store is store
        )
        assert int(own["memSize"].sum()) == moved
    inside = np.zeros(count, np.bool_)
    for one in program.tensors:
        ends = records["addr"] + records["memSize"]
        inside |= (records["addr"] >= one.address) & (ends <= one.address + one.size)
    assert inside[(records["space"] == GM)].all()


@pytest.mark.parametrize("text", [*EVERYTHING, FULL])
def test_no_record_reaches_beyond_the_memory_of_its_core(text: str) -> None:
    file = written(text)
    payload = file.block(0x0A).payload
    records = np.frombuffer(payload[8 : 8 + int.from_bytes(payload[:8], "little")], TRACE_DTYPE)
    ends = records["addr"] + records["memSize"]
    for name, room in file.run.world.chip.buffers.items():
        assert int(ends[records["space"] == SPACES[name]].max(initial=0)) <= room, name


@pytest.mark.parametrize("text", EVERYTHING)
def test_sets_of_the_cache_add_up_to_its_totals(text: str) -> None:
    file = written(text)
    records = np.frombuffer(file.block(0x0B).payload, CACHE_DTYPE)
    assert (records["cacheLineId"] == np.arange(len(records))).all()
    asked = records["loadCount"].astype(int) + records["storeCount"]
    assert (asked == records["hit"].astype(int) + records["miss"]).all()
    assert (records["evictAndWrite"] + records["evictWithoutWrite"] <= records["miss"]).all()
    truth = file.truth["cache"]
    assert int(asked.sum()) == truth["lines"]
    assert int(records["hit"].sum()) == truth["line_hits"]
    assert int(records["evictAndWrite"].sum()) == truth["written_back"]
    page = file.json(0x0E)["Cacheline Records"]
    assert [one["Hit"]["Value"][0] for one in page] == records["hit"].tolist()
    assert [one["Miss"]["Value"][0] for one in page] == records["miss"].tolist()
