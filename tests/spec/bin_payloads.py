"""Sound payloads, made by hand from what is known of each block; no file of most of them exists."""

from __future__ import annotations

from typing import Any

from ascend_spec import bin_catalog

RANGE = [["0x00001000", "0x00001010"]]
STALLS = {state.value: 3 for state in bin_catalog().enums["stall_states"].members}
SAMPLES = {"Percent": 0.5, "Details": {"IBuf_Empty": 2, "Active": 1}}

TIMELINE = {
    "displayTimeUnit": "ns",
    "profilingType": "op",
    "schemaVersion": 2,
    "traceEvents": [
        {
            "args": {"code": "/a.cpp:3\n/b.h:7", "detail": "XD:X29", "pc_addr": "0x10d0d000"},
            "cname": "startup",
            "dur": 0.001,
            "name": "MOV_XD_IMM",
            "ph": "X",
            "pid": "core0.veccore0",
            "tid": "SCALAR",
            "ts": 3.5,
        },
        {
            "args": {},
            "cname": "black",
            "id": "c_1",
            "name": "SET_FLAG",
            "ph": "B",
            "pid": "core0.cubecore0",
            "tid": "MTE2",
            "ts": "4.5",
        },
        {
            "args": {},
            "cname": "black",
            "id": "c_1",
            "name": "SET_FLAG",
            "ph": "E",
            "pid": "core0.cubecore0",
            "tid": "MTE2",
            "ts": 5,
        },
        {
            "cat": "MTE2ToVECTOR",
            "id": "c_1",
            "name": "flow",
            "ph": "s",
            "pid": "core0.cubecore0",
            "tid": "MTE2",
            "ts": 5.0,
        },
        {
            "cat": "MTE2ToVECTOR",
            "id": "c_1",
            "name": "flow",
            "ph": "t",
            "pid": "core0.cubecore0",
            "tid": "VECTOR",
            "ts": 6.0,
        },
        {
            "args": {"sort_index": 1},
            "name": "process_sort_index",
            "ph": "M",
            "pid": "core0.cubecore0",
            "tid": "NA",
        },
        {
            "args": {"throughput(MB/s)": 12.5},
            "name": "GM_TO_UB",
            "ph": "C",
            "pid": "MTE Throughput",
            "tid": 0,
            "ts": 1,
        },
        {
            "args": {"block_id": 0},
            "dur": 1.5,
            "name": "Warp_0",
            "ph": "X",
            "pid": "warp.core0.veccore0",
            "tid": "Warp 0",
            "ts": 0.5,
        },
    ],
}
LINES = {
    "Cores": ["core0.veccore0", "core0.veccore1"],
    "Files Dtype": {
        "Lines": {"Address Range": 0, "Line": 1, "Cycles": 1, "Instructions Executed": 1}
    },
    "Files": [
        {
            "Source": "/home/a.cpp",
            "Lines": [
                {
                    "Address Range": RANGE,
                    "Line": 10,
                    "Cycles": [5, 6],
                    "Instructions Executed": [1, 1],
                    "GPR Count": [4, 4],
                    "Process Bytes": [-1, 256],
                },
                {
                    "Address Range": RANGE,
                    "Line": 2,
                    "Instructions Executed": [1, 1],
                    "L2Cache Hit Rate": 50.5,
                    "Stall Sampling(All Samples)": SAMPLES,
                    "Stall Sampling(Not Issue)": SAMPLES,
                },
            ],
        }
    ],
}
INSTRUCTIONS = {
    "Cores": ["ALL"],
    "Instructions Dtype": {"Instructions": {"Address": 3, "Pipe": 3, "GPR Status": 5, "Cycles": 1}},
    "Instructions": [
        {
            "Address": "0x00001000",
            "AscendC Inner Code": "",
            "Source": "MOV_XD_IMM XD:X29,IMM",
            "Pipe": "SCALAR",
            "Instructions Executed": [7],
            "GPR Status": [{"regIndex": "X29", "regStatus": 2, "survivalTime": 3}],
            "Vector Utilization Percentage": [99.5],
            "UB Read Conflict": [-1],
            "L2Cache Hit Rate": -1.0,
        }
    ],
}
CACHE_LINES = {
    "Cacheline Records": [
        {
            "Cacheline Id": 0,
            "Hit": {"Value": [3, 0.75], "Address Range": RANGE},
            "Miss": {"Value": [1, 0.25], "Address Range": []},
        }
    ]
}
REASONS = {"top_stall_reason_table": STALLS}
STACKS = [
    {
        "Address": "0x4004be",
        "ModuleName": "inlined.elf",
        "Symbol": [
            {"Column": 18, "Line": 11, "FileName": "/home/test.cpp", "FunctionName": "baz()"}
        ],
    }
]
CORE = {
    "core_no": "0",
    "op_type": "vector",
    "soc": "910B",
    "memory_unit": [
        {
            "memory_path": 12,
            "request": "257",
            "bandwidth": "3.637731",
            "peak_ratio": "N/A",
            "display": 1,
            "request_suffix": "",
            "bandwidth_suffix": "",
        }
    ],
    "L2cache": {"hit": "13", "miss": "64", "total_request": "77", "hit_ratio": "16.883118"},
    "Vector": {"cycle": 6656, "total_cycles": 9043, "ratio": 73.6},
    "advice": [],
}
BASIC = {
    "name": "sin_custom",
    "soc": "Ascend910B4",
    "op_type": "vector",
    "block_dim": "1",
    "mix_block_dim": "-1",
    "device_id": "0",
    "pid": "1",
    "duration": 13.16,
    "cur_freq": "1650",
    "rated_freq": "1650",
    "block_detail": {
        "head_name": ["Block ID", "Core Type", "Duration (μs)"],
        "size": [2, 3],
        "row": [{"value": ["0", "vector", "5.480606"]}],
    },
    "advice": [],
}
SOUND: dict[str, tuple[int, Any]] = {
    "timeline": (0x02, TIMELINE),
    "lines": (0x03, LINES),
    "instructions": (0x04, INSTRUCTIONS),
    "basic": (0x05, BASIC),
    "heat map": (0x08, {"core_memory_map": [CORE]}),
    "stacks": (0x0A, STACKS),
    "stacks by address": (0x0A, {"0x4004be": STACKS[0]}),
    "cache lines": (0x0E, CACHE_LINES),
    "reasons": (0x0F, REASONS),
}
