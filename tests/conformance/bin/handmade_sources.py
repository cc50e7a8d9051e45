"""Clean sources, instructions, timelines, cache lines and records, by hand."""

from __future__ import annotations

import numpy as np

from ascend_ref.bin import Block, canonical
from ascend_ref.bin.records import (
    CACHE_DTYPE,
    TRACE_DTYPE,
    cache_payload,
    memory_trace_payload,
)
from ascend_spec import bin_catalog

SOURCE = "/home/a/add.cpp"
ADDRESSES = [0x10D05000 + 4 * at for at in range(6)]


def cachelines() -> dict:
    def accesses(count: int, total: int, address: str) -> dict:
        share = count / total if total else 0.0
        return {"Address Range": [[address, address]], "Value": [count, share]}

    pairs = [(30, 10), (0, 0), (5, 5)]
    return {
        "Cacheline Records": [
            {
                "Cacheline Id": at,
                "Hit": accesses(hit, hit + miss, "0x10d05000"),
                "Miss": accesses(miss, hit + miss, "0x10d05004"),
            }
            for at, (hit, miss) in enumerate(pairs)
        ]
    }


def stall_reasons() -> dict:
    states = [member.value for member in bin_catalog().enums["stall_states"].members]
    return {"top_stall_reason_table": {state: at for at, state in enumerate(states)}}


def instruction(address: int, cores: int, *, simulated: bool) -> dict:
    at = (address - 0x10D05000) // 4
    common = {
        "Address": f"0x{address:x}" if simulated else f"0x{address:08x}",
        "AscendC Inner Code": f"{SOURCE}:{8 + at % 3}",
        "Instructions Executed": [3 + at] * cores,
        "Pipe": "SCALAR" if at % 2 else "VECTOR",
        "Source": "MOV_XD_IMM XD:X29,IMM",
    }
    if not simulated:
        return {
            **common,
            "GPR Count": 4,
            "GPR Status": [{"regIndex": "R0", "regStatus": 2, "survivalTime": 3}],
            "L2Cache Hit Rate": 87.5 if at else -1.0,
            "Process Bytes": -1,
        }
    return {
        **common,
        "CcuCycles": [2] * cores,
        "Cycles": [10 + at] * cores,
        "GPR Count": [0] * cores,
        "ICacheCycles": [5] * cores,
        "Process Bytes": [-1] * cores,
        "RealStallCycles": [1] * cores,
        "ScalarCycles": [7] * cores,
        "UB Read Conflict": [-1] * cores,
        "UB Write Conflict": [0] * cores,
        "Vector Utilization Percentage": [-1.0, 62.5, *[0.0] * cores][:cores],
    }


def dtypes(code: int, writer: str, leave_out: tuple[str, ...] = ()) -> dict[str, int]:
    return {
        name: column.dtype
        for name, column in bin_catalog().columns[code].items()
        if writer in column.shape and "950" not in column.chips and name not in leave_out
    }


def hot_spots(cores: list[str]) -> list[Block]:
    """Blocks 0x01, 0x03 and 0x04."""
    simulated = cores != ["ALL"]
    writer = "simulator" if simulated else "device"
    count = len(cores)
    texts = [f"0x{address:08x}" for address in ADDRESSES]
    lines = []
    for number, ranges in (
        (10, [[texts[2], texts[3]]]),
        (8, [[texts[0], texts[0]], [texts[5], texts[5]]]),
        (9, [[texts[1], texts[1]]]),
    ):
        line = {
            "Address Range": ranges,
            "Instructions Executed": [number] * count,
            "Line": number,
        }
        if simulated:
            line |= {
                "Cycles": [100 * number] * count,
                "GPR Count": [0] * count,
                "Process Bytes": [-1] * count,
            }
        else:
            line |= {"GPR Count": 4, "L2Cache Hit Rate": 50.0, "Process Bytes": -1}
        lines.append(line)
    source = {
        "Cores": cores,
        "Files": [{"Lines": lines, "Source": SOURCE}],
        "Files Dtype": {"Lines": dtypes(0x03, writer)},
    }
    listing = {
        "Cores": cores,
        "Instructions": [instruction(address, count, simulated=simulated) for address in ADDRESSES],
        "Instructions Dtype": {"Instructions": dtypes(0x04, writer)},
    }
    text = b"#include <kernel_operator.h>\n" * 12
    return [
        Block(0x01, text, path=SOURCE.encode()),
        Block(0x03, canonical(source)),
        Block(0x04, canonical(listing), version=0),
    ]


def timeline(cores: list[str]) -> dict:
    events: list[dict] = []
    colours = {member.value: member.colour for member in bin_catalog().enums["lanes"].members}
    for at, core in enumerate(cores):
        names = {"pid": core, "tid": "VECTOR"}
        for place, address in enumerate((ADDRESSES[0], ADDRESSES[-1])):
            events.append(
                {
                    "args": {"code": f"{SOURCE}:8", "detail": "", "pc_addr": f"0x{address:x}"},
                    "cname": colours["VECTOR"],
                    "dur": 0.5,
                    "name": "VADD",
                    "ph": "X",
                    "ts": 1.25 + 2 * place,
                    **names,
                }
            )
        events += [
            *flags(f"{core}_{at}", core, colours),
            {"args": {"sort_index": 7}, "name": "thread_sort_index", "ph": "M", **names},
        ]
    return {
        "displayTimeUnit": "ns",
        "profilingType": "op",
        "schemaVersion": 2,
        "traceEvents": events,
    }


def flags(identity: str, core: str, colours: dict) -> list[dict]:
    pairs = [("SET_FLAG", 2.0, "MTE2"), ("WAIT_FLAG", 2.5, "VECTOR")]
    events = []
    for name, begin, lane in pairs:
        shared = {"id": identity, "name": name, "pid": core, "tid": lane}
        shared["cname"] = colours[name]
        events.append({"args": {"detail": ""}, "ph": "B", "ts": begin, **shared})
        events.append({"args": {}, "ph": "E", "ts": begin + 0.5, **shared})
    for phase, lane, moment in (("s", "MTE2", 2.5), ("t", "VECTOR", 3.0)):
        events.append(
            {
                "cat": "MTE2ToVECTOR",
                "id": identity,
                "name": "flow",
                "ph": phase,
                "pid": core,
                "tid": lane,
                "ts": moment,
            }
        )
    return events


def records() -> list[Block]:
    accesses = np.zeros(4, TRACE_DTYPE)
    accesses["type"] = [0, 3, 4, 1]
    accesses["space"] = [1, 1, 6, 1]
    accesses["recordId"] = range(4)
    accesses["addr"] = 0x12C0_0000
    accesses["memSize"] = 256
    accesses["pc"] = 0x10D05004
    stacks = [
        {
            "Address": "0x10d05004",
            "ModuleName": "add.o",
            "Symbol": [{"Column": 4, "FileName": SOURCE, "FunctionName": "Add()", "Line": 9}],
        }
    ]
    lines = np.zeros(3, CACHE_DTYPE)
    lines["loadCount"] = [10, 0, 4]
    lines["storeCount"] = [2, 0, 4]
    lines["cacheLineId"] = range(3)
    lines["hit"] = [9, 0, 4]
    lines["miss"] = [3, 0, 4]
    lines["allocate"] = [3, 0, 2]
    return [
        Block(0x0A, memory_trace_payload(accesses, canonical(stacks))),
        Block(0x0B, cache_payload(lines)),
    ]
