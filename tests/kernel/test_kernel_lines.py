"""Source lines and instructions: the same costs twice, ordered and typed as documented."""

from __future__ import annotations

from collections import defaultdict

import pytest
from kernel_bytes import ADD, CUBE, GATHER, MIX, NEAR, SIMULATED, VECTOR, Written, written

from ascend_spec import bin_catalog

DEVICE = (VECTOR, ADD, CUBE, MIX, GATHER, NEAR)
NUMBERS = {1: int, 2: float, 4: float}
HIT_RATE = "L2Cache Hit Rate"


@pytest.mark.parametrize("text", [*DEVICE, *SIMULATED])
def test_both_blocks_speak_of_the_same_cores(text: str) -> None:
    file = written(text)
    lines, instructions = file.json(0x03), file.json(0x04)
    assert lines["Cores"] == instructions["Cores"] == sorted(set(lines["Cores"]))
    for row in instructions["Instructions"]:
        for name, cell in row.items():
            if isinstance(cell, list) and name != "GPR Status":
                assert len(cell) == len(lines["Cores"]), name


@pytest.mark.parametrize("text", [*DEVICE, *SIMULATED])
def test_every_source_is_in_the_file(text: str) -> None:
    file = written(text)
    for one in file.json(0x03)["Files"]:
        code = next(block for block in file.blocks if block.path == one["Source"])
        count = len(code.payload.decode().splitlines())
        assert all(1 <= line["Line"] <= count for line in one["Lines"])
    assert file.block(0x04).version == 0


def ends(file: Written) -> list[int]:
    return [
        int(end, 16)
        for one in file.json(0x03)["Files"]
        for line in one["Lines"]
        for pair in line["Address Range"]
        for end in pair
    ]


@pytest.mark.parametrize("text", [*DEVICE, *SIMULATED])
def test_ranges_lead_from_instruction_to_instruction(text: str) -> None:
    file = written(text)
    addresses = {int(row["Address"], 16) for row in file.json(0x04)["Instructions"]}
    assert set(ends(file)) <= addresses
    covered = 0
    for one in file.json(0x03)["Files"]:
        for line in one["Lines"]:
            pairs = [(int(low, 16), int(high, 16)) for low, high in line["Address Range"]]
            assert pairs == sorted(pairs)
            assert all(low <= high for low, high in pairs)
            covered += sum((high - low) // 4 + 1 for low, high in pairs)
    assert covered == len(addresses)  # each instruction lies on one line


@pytest.mark.parametrize("text", [*DEVICE, *SIMULATED])
def test_addresses_and_lines_ascend_as_text(text: str) -> None:
    file = written(text)
    rows = [row["Address"] for row in file.json(0x04)["Instructions"]]
    assert rows == sorted(set(rows))
    for one in file.json(0x03)["Files"]:
        lines = [str(line["Line"]) for line in one["Lines"]]
        assert lines == sorted(lines)


@pytest.mark.parametrize("text", [*DEVICE, *SIMULATED])
def test_declared_columns_hold_their_type(text: str) -> None:
    file = written(text)
    lines = file.json(0x03)
    tables = [
        (0x03, lines["Files Dtype"]["Lines"], lines["Files"][0]["Lines"]),
        (
            0x04,
            file.json(0x04)["Instructions Dtype"]["Instructions"],
            file.json(0x04)["Instructions"],
        ),
    ]
    for code, declared, rows in tables:
        for name, dtype in declared.items():
            assert dtype == bin_catalog().columns[code][name].dtype
            if dtype in NUMBERS:
                for row in rows:
                    cells = row[name] if isinstance(row[name], list) else [row[name]]
                    assert {type(cell) for cell in cells} == {NUMBERS[dtype]}, name


@pytest.mark.parametrize("text", [*DEVICE, *SIMULATED])
def test_lines_are_the_sums_of_their_instructions(text: str) -> None:
    file = written(text)
    names = ["Instructions Executed"] + (["Cycles"] if "simulator" in text else [])
    sums: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for row in file.json(0x04)["Instructions"]:
        line = row["AscendC Inner Code"].rpartition(":")[2]
        for name in names:
            old = sums[line, name] or [0] * len(row[name])
            sums[line, name] = [one + other for one, other in zip(old, row[name], strict=True)]
    for line in file.json(0x03)["Files"][0]["Lines"]:
        for name in names:
            assert line[name] == sums[str(line["Line"]), name]


@pytest.mark.parametrize("text", SIMULATED)
def test_head_phases_add_up(text: str) -> None:
    for row in written(text).json(0x04)["Instructions"]:
        heads = zip(row["ICacheCycles"], row["CcuCycles"], strict=True)
        assert row["ScalarCycles"] == [one + other for one, other in heads]


def test_hit_rates_are_those_of_the_instructions_that_access_memory() -> None:
    file = written("operator: {kind: matmul, shape: [256, 128, 512]}\ndevice: {block_dim: 2}")
    rates = {
        row["Source"].split()[0]: row[HIT_RATE]
        for row in file.json(0x04)["Instructions"]
        if row["Pipe"] in ("MTE2", "FIXP", "CUBE") and "FLAG" not in row["Source"]
    }
    assert rates["MMAD"] == -1.0
    assert 0 <= rates["FIX_L0C_TO_OUT"] < rates["MOV_OUT_TO_L1_MULTI_ND2NZ"] <= 100


def test_instrumented_runs_declare_the_bytes_that_they_counted() -> None:
    plain, instrumented = written(ADD), written(f"{ADD}\ncapture: {{memory_detail: true}}")
    name = "Process Bytes"
    declared = [name in file.json(0x03)["Files Dtype"]["Lines"] for file in (plain, instrumented)]
    assert declared == [False, True]
    moved = [row[name] for row in instrumented.json(0x04)["Instructions"] if row[name] >= 0]
    assert moved == [90000 * 2] * 3
