"""A small file with every block that the API shows, and the real ones."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from ascend_ref.bin import Block, canonical, to_bytes

REAL = Path(__file__).parents[2] / ".." / "shared" / "data" / "bin"
SOURCE, OTHER_SOURCE = "/home/a/add.cpp", "/home/a/tiling.h"
CORES = ["core0.cubecore0", "core0.veccore0"]
STATES = ("IBuf_Empty", "Nop_Cycles", "Scoreboard_Not_Ready", "Others")


def real(name: str) -> Path:
    path = REAL / name
    if not path.exists():
        pytest.skip("needs the real files in ../shared/data/bin")
    return path.resolve()


def handmade(folder: Path) -> Path:
    """The file of every block, in a folder."""
    path = folder / "visualize_data.bin"
    path.write_bytes(everything())
    return path


@cache
def everything() -> bytes:
    return to_bytes([*_hot_spots(), _json(0x02, trace()), *_details()])


def _json(code: int, value: object, version: int = 0x5A) -> Block:
    return Block(code, canonical(value), version=version)


def _hot_spots() -> list[Block]:
    lines = {
        "Cores": CORES,
        "Files Dtype": {"Lines": {"Address Range": 0, "Line": 1, "Cycles": 1, "Hit Rate": 4}},
        "Files": [
            {
                "Source": SOURCE,
                "Lines": [
                    {
                        "Line": number,
                        "Address Range": [["0x1000", f"0x10{number:02d}"]],
                        "Cycles": [10 * number, 20 * number],
                        "Hit Rate": 80.157991 + number,
                    }
                    for number in (10, 2, 7)
                ],
            }
        ],
    }
    instructions = {
        "Cores": CORES,
        "Instructions Dtype": {
            "Instructions": {"Address": 3, "Source": 3, "Pipe": 3, "Cycles": 1, "GPR Status": 5}
        },
        "Instructions": [
            {
                "Address": f"0x{0x1000 + 4 * number:x}",
                "Source": f"MOV_XD_IMM XD:X{number}",
                "Pipe": "SCALAR",
                "AscendC Inner Code": f"{SOURCE}:{number}",
                "Cycles": [number, number + 1],
                "GPR Status": [{"regIndex": "X1", "regStatus": 2, "survivalTime": 3}],
            }
            for number in range(3)
        ],
    }
    return [
        Block(0x01, "#include <x>\n// ä\n".encode(), path=SOURCE.encode()),
        Block(0x01, b"constexpr int tile = 7;\n", path=OTHER_SOURCE.encode()),
        _json(0x03, lines),
        _json(0x04, instructions, version=0),
    ]


def trace() -> dict[str, object]:
    """Two cores, three lanes, a flag with its flow, a counter; times in us."""
    events: list[dict[str, object]] = []
    for place, core in enumerate(CORES):
        events.append(
            {
                "ph": "M",
                "name": "process_sort_index",
                "pid": core,
                "tid": "NA",
                "args": {"sort_index": place + 1},
            }
        )
    for number in range(10):
        events.append(
            {
                "ph": "X",
                "name": ("MOV", "ADD", "LD")[number % 3],
                "pid": CORES[0],
                "tid": "SCALAR",
                "cname": "startup",
                "ts": 1 + number * 0.25,
                "dur": 0.125 + 0.5 * (number % 5 == 0),
                "args": {"code": f"{SOURCE}:{number}", "detail": "XD:X1", "pc_addr": "0x1000"},
            }
        )
        events.append(
            {
                "ph": "X",
                "name": "VADD",
                "pid": CORES[1],
                "tid": "VECTOR",
                "ts": 2 + number,
                "dur": 0.75,
                "args": {"code": "", "detail": "", "pc_addr": "0x2000"},
            }
        )
    for name, tid, start in (("SET_FLAG", "MTE2", 3.0), ("WAIT_FLAG", "VECTOR", 2.75)):
        flag = {"name": name, "pid": CORES[1], "tid": tid, "id": "core0_1", "cname": "black"}
        events.append({**flag, "ph": "B", "ts": start, "args": {"code": SOURCE}})
        events.append({**flag, "ph": "E", "ts": 3.5, "args": {}})
    for phase, tid in (("s", "MTE2"), ("t", "VECTOR")):
        flow = {"name": "flow", "cat": "MTE2ToVECTOR", "id": "core0_1", "pid": CORES[1]}
        events.append({**flow, "ph": phase, "tid": tid, "ts": 3.5})
    for number in range(1, 6):
        value = {"throughput(MB/s)": 100 * number}
        events.append(
            {
                "ph": "C",
                "name": "GM_TO_UB",
                "pid": "MTE Throughput",
                "tid": 0,
                "ts": number,
                "args": value,
            }
        )
    return {
        "displayTimeUnit": "ns",
        "profilingType": "op",
        "schemaVersion": 2,
        "traceEvents": events,
    }


def _details() -> list[Block]:
    blocks, kinds = ("0", "1"), ("cube0", "vector0")
    heads = ["Block ID", "Cube0 Duration (μs)", "Vector0 Duration (μs)"]
    basic = {
        "name": "matmul_custom",
        "soc": "Ascend910B4",
        "op_type": "mix",
        "block_dim": "2",
        "mix_block_dim": "4",
        "device_id": "0",
        "pid": "4711",
        "duration": 300.0660095214844,
        "mix_block_detail": {
            "head_name": heads,
            "size": [len(blocks) + 1, len(heads)],
            "row": [{"value": [block, "290.500000", "120.250000"]} for block in blocks],
        },
        "advice": [],
    }
    figure = [
        {
            "block_id": block,
            "block_type": kind,
            "name": name,
            "unit": 3,
            "value": 12.25 + len(name),
            "origin_value": 1000.0 + len(kind),
        }
        for block in blocks
        for kind in kinds
        for name in ("All Active", "Wait")
    ]
    table = [
        {"block_id": block, "block_type": kind, "name": "All Active", "unit": 1, "value": "3606.0"}
        for block in blocks
        for kind in kinds
    ]
    return [
        _json(0x05, basic),
        _json(0x06, {"subblock_detail": figure, "advice": []}),
        _json(0x07, {"subblock_detail": table, "advice": []}),
        _json(0x08, {"core_memory_map": [_heat_map(block) for block in blocks]}),
        _json(0x09, {"table_per_block": [_tables(block) for block in blocks]}),
        _json(0x0C, _core_load()),
        _json(0x0D, _roofline()),
        _json(
            0x0E,
            {
                "Cacheline Records": [
                    {
                        "Cacheline Id": number,
                        "Hit": {"Value": [3, 0.75], "Address Range": [["0x1000", "0x1004"]]},
                        "Miss": {"Value": [1, 0.25], "Address Range": []},
                    }
                    for number in range(2)
                ]
            },
        ),
        _json(0x0F, {"top_stall_reason_table": {name: len(name) for name in STATES}}),
    ]


def _heat_map(block: str) -> dict[str, object]:
    return {
        "core_no": block,
        "op_type": "mix",
        "soc": "910B",
        "memory_unit": [
            {
                "memory_path": path,
                "request": str(257 + path),
                "bandwidth": "3.637731",
                "peak_ratio": "NA",
                "display": 1,
                "request_suffix": "",
                "bandwidth_suffix": "",
            }
            for path in (0, 1, 12)
        ],
        "L2cache": {"hit": "13", "miss": "64", "total_request": "77", "hit_ratio": "16.883117"},
        **{
            unit: {"cycle": 6656, "total_cycles": 9043, "ratio": 73.6}
            for unit in ("Cube", "Vector", "Vector1")
        },
        "advice": ["aivector compute usage lower than 20%"],
    }


def _tables(block: str) -> dict[str, object]:
    return {
        "block_id": block,
        "table_op_type": "mix",
        "advice": [],
        "table_detail": [
            {
                "table_name": name,
                "size": [2, 2],
                "header_name": ["", "hit", "miss"],
                "row": [{"name": row, "value": ["13", "64"]} for row in ("Read", "Write")],
            }
            for name in ("Cache", "L1")
        ],
    }


def _core_load() -> dict[str, object]:
    return {
        "soc": "Ascend910B4",
        "op_type": "mix",
        "advice": "\t1) vector0 of core[0] take more time than other vector cores.\n",
        "op_detail": [
            {
                "core_id": core,
                "core_detail": [
                    {
                        "subcore_type": kind,
                        "subcore_id": "0",
                        "cycles": str(200_000 + 7_000 * core),
                        "throughput": "2635776",
                        "L2cache_hit_rate": "80.157990",
                    }
                    for kind in ("cube", "vector")
                ],
            }
            for core in range(2)
        ],
    }


def _roofline() -> dict[str, object]:
    line = {
        "bw": 18.440187,
        "bw_name": "L1 Read + Write",
        "computility": 300.5,
        "computility_name": "Cube_FP(100%)",
        "point": [1.5, 20.25],
        "ratio": "0.732300",
    }
    return {
        "advice": "memory bound",
        "multiple_rooflines": [{"title": "Memory Unit(Cube)", "rooflines": [line]}],
    }
