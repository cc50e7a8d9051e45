"""The raw tree of raw-prof.md 6.4, written byte by byte from the document's offsets.

Nothing here comes from the spec of the project: it is what the document's own generator wrote,
whose tree the exporter of the field accepted with the values of the document's tables.
"""

from __future__ import annotations

import struct
from pathlib import Path

from raw_trees import api, device_ticks, host_ticks, stars, write_tree

THREAD = 4243
MATMUL, ADD, RELU = "MatMul", "Add", "Relu"
OPERATORS = (
    (MATMUL, "MatMul_0", 24),
    (ADD, "Add_0", 40),
    (MATMUL, "MatMul_1", 20),
    (RELU, "Relu_0", 48),
)
ALL_REDUCE, GROUP = "hcom_allReduce__123_0_1", "hccl_world_group"
TRANSFERS = ("Notify_Record", "Notify_Wait", "Memcpy", "Notify_Record")
TYPES = {(10000, 5): "launch", (20000, 0x50001): "aclnnOp", (5000, 1003): "KernelLaunch"}
TASKS = {
    **{0: "KERNEL_AICORE", 66: "KERNEL_AIVEC"},
    **{14: "NOTIFY_WAIT", 15: "NOTIFY_RECORD", 5: "MEMCPY_ASYNC"},
}
TASK_OF = {"Notify_Record": 15, "Notify_Wait": 14, "Memcpy": 5}


def text_hash(text: str) -> int:
    """raw-prof.md 3.6."""
    high = low = 0
    for byte in text.encode():
        high, low = (high * 29 + byte) % 2**32, (low * 131 + byte) % 2**32
    return high << 32 | low


def call(level: int, kind: int, begin: float, end: float, item: int = 0) -> bytes:
    """raw-prof.md 4.1."""
    return api(level, kind, THREAD, host_ticks(begin), host_ticks(end), item)


def head(level: int, kind: int, moment: float) -> bytes:
    """raw-prof.md 4.2."""
    return struct.pack("<HHIIIQ", 0x5A5A, level, kind, THREAD, 0, host_ticks(moment))


def track(moment: float, stream: int, task: int, kind: int, name: int = 0) -> bytes:
    return head(5000, 802, moment) + struct.pack("<HHIQQ16x", 0, stream, task, kind, name)


def node(moment: float, name: str, kind: int, op_type: str, blocks: int) -> bytes:
    body = struct.pack("<QIQII", text_hash(name), kind, text_hash(op_type), blocks, 0)
    return (head(10000, 0, moment) + body).ljust(64, b"\0")


def tensors(moment: float, name: str) -> bytes:
    """Two inputs and one output, FLOAT16 in ND of 128 x 256."""
    found = b"".join(
        struct.pack("<III8I", kind, 2, 1, 128, 256, 0, 0, 0, 0, 0, 0) for kind in (0, 0, 1)
    )
    body = struct.pack("<QI", text_hash(name), 3) + found
    return (head(10000, 1, moment) + body).ljust(256, b"\0")


def hccl(moment: float, name: str) -> bytes:
    """raw-prof.md 4.5."""
    body = struct.pack(
        "<QQQIIIIIIQIIdQQQIIIIIi",
        *(text_hash(name), 0, text_hash(GROUP), 0, 1, 2, 0, 0, 0xFFFFFFFF),
        *(2**64 - 1, 0, 0, 1.0, 0, 0, 4096, 0, 4, 1, 0, 255, 0),
    )
    return (head(5500, 0x10001, moment) + body).ljust(256, b"\0")


def counters(number: int, at: int, task: int, ticks: int, *, vector: bool) -> bytes:
    """raw-prof.md 4.7 and 6.4: a million cycles and tenths of them, as often as the operator's
    number.
    """
    cycles = 10**6 * (at + 1)
    head = struct.pack("<HHHHQ", 40 | (number % 16) << 6, 0x6BD3, 2, task, ticks)
    kind = struct.pack("<HHHH8x", 0, 0, int(vector) << 13, 0)
    events = (cycles * (event + 1) // 10 for event in range(8))
    return head + kind + struct.pack("<QQ8QQQ", cycles, 0, *events, ticks, ticks)


def write_document_tree(prof: Path) -> None:
    """Four operators and one AllReduce on chip 5."""
    apis, tracks, nodes, shapes, infos, logs = [], [], [], [], [], []
    runs: list[tuple[float, float, int, int, int]] = []
    pmu = []
    for at, (op_type, name, blocks) in enumerate(OPERATORS):
        start = 10_000 + 200 * at
        vector = op_type != MATMUL
        apis += [
            call(20000, 0x50001, start, start + 60),
            call(10000, 5, start + 5, start + 55, text_hash(name)),
            call(5000, 1003, start + 20, start + 40),
        ]
        tracks.append(track(start + 30, 2, at + 1, 66 if vector else 0, text_hash(name)))
        nodes.append(node(start + 52, name, 2 if vector else 0, op_type, blocks))
        shapes.append(tensors(start + 52, name))
        runs.append((start + 70.1, 20 * (at + 1), 2, at + 1, 0))
        end = device_ticks(start + 70.1 + 20 * (at + 1))
        pmu.append(counters(at, at, at + 1, end, vector=vector))
    apis += [
        call(20000, 0x50001, 10_800, 10_960),
        call(10000, 5, 10_805, 10_950, text_hash(ALL_REDUCE)),
    ]
    nodes.append(node(10_948, ALL_REDUCE, 9, "hcom_allReduce_", 0))
    for at, name in enumerate(TRANSFERS):
        begin = 10_810 + 30 * at
        apis.append(call(5500, 0x10001, begin, begin + 20, text_hash(name)))
        infos.append(hccl(begin + 10, name))
        tracks.append(track(begin + 10, 5, 5 + at, TASK_OF[name]))
        runs.append((11_100.1 + 20 * at, 15, 5, 5 + at, 11))
    operation = struct.pack("<BBQQQ", 0, 4, text_hash("MESH"), 1024, text_hash(GROUP))
    for at, (start, length, stream, task, entry) in enumerate(runs):
        logs.append(stars(0, 2 * at, stream, task, device_ticks(start), entry))
        logs.append(stars(1, 2 * at + 1, stream, task, device_ticks(start + length), entry))
    texts = [MATMUL, ADD, RELU, ALL_REDUCE, GROUP, "hcom_allReduce_", "MESH", *TRANSFERS]
    texts += [name for _, name, _ in OPERATORS]
    kinds = TYPES | {(5000, number): name for number, name in TASKS.items()}
    kinds[5500, 0x10001] = "master"
    dictionary = [f"{text_hash(one)}:{one}\n".encode() for one in dict.fromkeys(texts)]

    host = {
        "unaging.api_event.data": apis,
        "aging.compact.task_track": tracks,
        "unaging.compact.node_basic_info": nodes,
        "unaging.additional.tensor_info": shapes,
        "unaging.additional.hccl_info": infos,
        "unaging.compact.hccl_op_info": [(head(10000, 10, 10_948) + operation).ljust(64, b"\0")],
        "unaging.additional.hash_dic": dictionary,
        "unaging.additional.type_info_dic": [
            f"{level}_{kind}:{name}\n".encode() for (level, kind), name in kinds.items()
        ],
    }
    frequency = struct.pack("<II", 1, 0) + struct.pack("<QII", device_ticks(9_000), 1650, 0)
    device = {
        "stars_soc.data.0": logs,
        "ffts_profile.data.0": pmu,
        "lpmFreqConv.data.0": [frequency.ljust(888, b"\0")],
    }
    slices = [
        {f"{name}.slice_0": b"".join(records) for name, records in files.items()}
        for files in (host, device)
    ]
    write_tree(prof, *slices)
