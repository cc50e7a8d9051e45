"""Records of host, AI CPUs and adapter against the documents: sizes, offsets, golden vectors.

The numbers are transcribed from raw-prof.md 4.1 to 4.10, ge-profiling.md 5 and consumers.md 2.7, in
part added up there; nothing of them comes from the declarations.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import construct
import numpy as np
import pytest
from test_packed import same

from ascend_spec import catalog, packaged, raw_catalog, recording_catalog
from ascend_spec.core.packed import Field, bit_fields, dtype_of
from ascend_spec.raw import records

Offsets = Mapping[str, tuple[int, int]]
"""Offset and size by the name of the member."""

HEAD: Offsets = {
    "magicNumber": (0, 2),
    "level": (2, 2),
    "type": (4, 4),
    "threadId": (8, 4),
    "dataLen": (12, 4),
    "timeStamp": (16, 8),
}
TASK: Offsets = {
    "deviceId": (24, 2),
    "streamId": (26, 2),
    "taskId": (28, 4),
    "taskType": (32, 8),
    "kernelName": (40, 8),
    "extInfo": (48, 16),
}
HCCL_OP: Offsets = {
    "flags": (24, 1),
    "dataType": (25, 1),
    "algType": (26, 8),
    "count": (34, 8),
    "groupName": (42, 8),
}
HCCL: Offsets = {
    "itemId": (24, 8),
    "cclTag": (32, 8),
    "groupName": (40, 8),
    "localRank": (48, 4),
    "remoteRank": (52, 4),
    "rankSize": (56, 4),
    "workFlowMode": (60, 4),
    "planeID": (64, 4),
    "ctxId": (68, 4),
    "notifyID": (72, 8),
    "stage": (80, 4),
    "role": (84, 4),
    "durationEstimated": (88, 8),
    "srcAddr": (96, 8),
    "dstAddr": (104, 8),
    "dataSize": (112, 8),
    "opType": (120, 4),
    "dataType": (124, 4),
    "linkType": (128, 4),
    "transportType": (132, 4),
    "rdmaType": (136, 4),
}

API: Mapping[str, Offsets] = {
    "API_EVENT": {
        "magicNumber": (0, 2),
        "level": (2, 2),
        "type": (4, 4),
        "threadId": (8, 4),
        "reserve": (12, 4),
        "beginTime": (16, 8),
        "endTime": (24, 8),
        "itemId": (32, 8),
    },
    "EVENT": {
        "magicNumber": (0, 2),
        "level": (2, 2),
        "type": (4, 4),
        "threadId": (8, 4),
        "requestId": (12, 4),
        "timeStamp": (16, 8),
        "eventFlag": (24, 8),
        "itemId": (32, 8),
    },
}

COMPACT: Mapping[str, Offsets] = {
    "TASK_TRACK": TASK,
    "TASK_TRACK_V2": {
        "deviceId": (24, 2),
        "streamId": (28, 4),
        "taskId": (32, 4),
        "taskType": (36, 4),
        "kernelName": (40, 8),
        "extInfo": (48, 16),
    },
    "NODE_BASIC_INFO": {
        "opName": (24, 8),
        "taskType": (32, 4),
        "opType": (36, 8),
        "blockNum": (44, 4),
        "opFlag": (48, 4),
    },
    "NODE_ATTR_INFO": {"opName": (24, 8), "attrType": (32, 4), "hashId": (36, 8)},
    "HCCL_OP_INFO": HCCL_OP,
    "MEMCPY_INFO": {"dataSize": (24, 8), "maxSize": (32, 8), "memcpyDirection": (40, 2)},
    "MEMCPY_EXT_INFO": {
        "bytes": (24, 8),
        "copyKind": (32, 2),
        "deviceId": (34, 2),
        "streamId": (36, 4),
    },
    "MEMSET_INFO": {
        "bytes": (24, 8),
        "value": (32, 4),
        "streamId": (36, 4),
        "deviceId": (40, 2),
    },
    "MEMMNG_INFO": {
        "address": (24, 8),
        "size": (32, 8),
        "memoryType": (40, 4),
        "memMngType": (44, 2),
        "deviceId": (46, 2),
        "streamId": (48, 4),
    },
    "CAPTURE_STREAM_INFO": {
        "captureStatus": (24, 2),
        "modelStreamId": (26, 2),
        "originalStreamId": (28, 2),
        "modelId": (30, 2),
        "deviceId": (32, 2),
    },
    "CAPTURE_STREAM_INFO_V2": {
        "deviceId": (24, 2),
        "captureStatus": (26, 1),
        "streamId": (28, 4),
        "originalStreamId": (32, 4),
        "modelId": (36, 4),
    },
    "STREAM_SQ_INFO": {
        "streamStatus": (24, 2),
        "streamId": (28, 4),
        "rtsqId": (32, 2),
        "deviceId": (34, 2),
        "tsId": (36, 2),
    },
    "EXPAND_STREAM_SPEC": {"expandStatus": (24, 1)},
    "DPU_TRACK": {
        "deviceId": (24, 2),
        "streamId": (26, 2),
        "taskId": (28, 4),
        "taskType": (32, 4),
        "res": (36, 4),
        "startTime": (40, 8),
    },
}

CCU_CHANNELS: Offsets = {
    "version": (24, 1),
    "itemId": (32, 8),
    "groupName": (40, 8),
    "rankId": (48, 4),
    "rankSize": (52, 4),
    "workFlowMode": (56, 1),
    "streamId": (58, 2),
    "taskId": (60, 4),
    "dieId": (64, 1),
    "instrId": (66, 2),
    "missionId": (68, 1),
    "channelId": (80, 32),
    "remoteRankId": (112, 64),
}

CAPTURED: Offsets = {
    "modelId": (24, 4),
    "deviceId": (28, 4),
    "streamId": (32, 4),
    "taskId": (36, 4),
    "taskType": (40, 4),
    "blockNum": (44, 4),
    "nodeId": (48, 8),
    "opType": (56, 8),
    "hashId": (64, 8),
    "opFlag": (80, 4),
    "tensorNum": (84, 4),
    "tensorData": (88, 3 * 44),
}

ADDITIONAL: Mapping[str, Offsets] = {
    "TENSOR_INFO": {"opName": (24, 8), "tensorNum": (32, 4), "tensorData": (36, 5 * 44)},
    "CONTEXT_ID_INFO": {"opName": (24, 8), "ctxIdNum": (32, 4), "ctxIds": (36, 55 * 4)},
    "FUSION_OP_INFO": {
        "opName": (24, 8),
        "fusionOpNum": (32, 4),
        "inputMemsize": (36, 8),
        "outputMemsize": (44, 8),
        "weightMemSize": (52, 8),
        "workspaceMemSize": (60, 8),
        "totalMemSize": (68, 8),
        "fusionOpId": (76, 64),
    },
    "GRAPH_ID_MAP": {"modelName": (24, 8), "graphId": (32, 4), "modelId": (36, 4)},
    "TASK_MEMORY_INFO": {
        "addr": (24, 8),
        "size": (32, 8),
        "nodeId": (40, 8),
        "totalAllocateMemory": (48, 8),
        "totalReserveMemory": (56, 8),
        "deviceId": (64, 4),
        "deviceType": (68, 4),
    },
    "STATIC_OP_MEM": {
        "size": (24, 8),
        "opName": (32, 8),
        "lifeStart": (40, 8),
        "lifeEnd": (48, 8),
        "totalAllocateMemory": (56, 8),
        "dynOpName": (64, 8),
        "graphId": (72, 4),
    },
    "MULTI_THREAD": {"threadNum": (24, 4), "data.threadId": (28, 100)},
    "LOGIC_STREAM_INFO": {
        "logicStreamId": (24, 4),
        "physicStreamNum": (28, 4),
        "physicStreamId": (32, 224),
    },
    "MODEL_EXEOM": {"modelId": (24, 4), "modelName": (32, 8)},
    "MC2_COMM_INFO": {
        "groupName": (24, 8),
        "rankSize": (32, 4),
        "rankId": (36, 4),
        "usrRankId": (40, 4),
        "aicpuKfcStreamId": (44, 4),
        "commStreamSize": (48, 4),
        "commStreamIds": (52, 32),
    },
    "CAPTURE_OP_INFO": CAPTURED,
    "HCCL_INFO": {**HCCL, "reserve2": (140, 4)},
    "DPU_HCCL_INFO": {
        "itemId": (24, 8),
        "cclTag": (32, 8),
        "groupName": (40, 8),
        "localRank": (48, 4),
        "remoteRank": (52, 4),
        "rankSize": (56, 4),
        "stage": (60, 4),
        "notifyID": (64, 8),
        "data.timeStamp": (72, 8),
        "durationEstimated": (80, 8),
        "srcAddr": (88, 8),
        "dstAddr": (96, 8),
        "dataSize": (104, 8),
        "taskId": (112, 4),
        "aicpu_task_id": (116, 4),
        "streamId": (120, 2),
        "planeID": (122, 2),
        "npuDevId": (124, 2),
        "dpuDevId": (126, 2),
        "opType": (128, 1),
        "dataType": (129, 1),
        "linkType": (130, 1),
        "transportType": (131, 1),
        "rdmaType": (132, 1),
        "role": (133, 1),
        "workFlowMode": (134, 1),
    },
    "CCU_TASK_INFO": {
        "version": (24, 1),
        "workFlowMode": (25, 1),
        "itemId": (32, 8),
        "groupName": (40, 8),
        "rankId": (48, 4),
        "rankSize": (52, 4),
        "streamId": (56, 2),
        "taskId": (60, 4),
        "dieId": (64, 1),
        "missionId": (65, 1),
        "instrId": (66, 2),
    },
    "CCU_WAIT_SIGNAL_INFO": {**CCU_CHANNELS, "ckeId": (72, 4), "mask": (76, 4)},
    "CCU_GROUP_INFO": {
        **CCU_CHANNELS,
        "reduceOpType": (69, 1),
        "inputDataType": (70, 1),
        "outputDataType": (71, 1),
        "dataSize": (72, 8),
    },
    "MSPROFTX": {
        "infoType": (24, 2),
        "segment": (26, 2),
        "res1": (28, 4),
        "stampInfo": (32, 224),
    },
    "AICPU_NODE": {
        "streamId": (24, 2),
        "taskId": (26, 2),
        "rev": (28, 4),
        "runStartTime": (32, 8),
        "runStartTick": (40, 8),
        "computeStartTime": (48, 8),
        "memcpyStartTime": (56, 8),
        "memcpyEndTime": (64, 8),
        "runEndTime": (72, 8),
        "runEndTick": (80, 8),
        "data.threadId": (88, 4),
        "deviceId": (92, 4),
        "submitTick": (96, 8),
        "scheduleTick": (104, 8),
        "tickBeforeRun": (112, 8),
        "tickAfterRun": (120, 8),
        "kernelType": (128, 4),
        "dispatchTime": (132, 4),
        "totalTime": (136, 4),
        "fftsThreadId": (140, 2),
        "version": (142, 1),
    },
    "AICPU_DP": {"action": (24, 16), "source": (40, 64), "index": (104, 8), "size": (112, 8)},
    "AICPU_MODEL": {
        "indexId": (24, 8),
        "modelId": (32, 4),
        "tagId": (36, 2),
        "rsv1": (38, 2),
        "eventId": (40, 8),
    },
    "AICPU_MI": {
        "nodeTag": (24, 4),
        "queueSize": (32, 8),
        "runStartTime": (40, 8),
        "runEndTime": (48, 8),
    },
    "KFC_COMM_TURN": {
        "serverStartTime": (24, 8),
        "waitMsgStartTime": (32, 8),
        "kfcAlgExeStartTime": (40, 8),
        "sendTaskStartTime": (48, 8),
        "sendSqeFinishTime": (56, 8),
        "rtsqExeEndTime": (64, 8),
        "serverEndTime": (72, 8),
        "data.dataLen": (80, 8),
        "deviceId": (88, 4),
        "streamId": (92, 2),
        "taskId": (94, 2),
        "version": (96, 1),
        "commTurn": (97, 1),
        "currentTurn": (98, 1),
    },
    "KFC_COMPUTE_TURN": {
        "waitComputeStartTime": (24, 8),
        "computeStartTime": (32, 8),
        "computeExeEndTime": (40, 8),
        "data.dataLen": (48, 8),
        "deviceId": (56, 4),
        "streamId": (60, 2),
        "taskId": (62, 2),
        "version": (64, 1),
        "computeTurn": (65, 1),
        "currentTurn": (66, 1),
    },
    "AICPU_MC2_HCCL_INFO": {**HCCL, "taskId": (140, 4), "streamId": (144, 2)},
    "AICPU_HCCL_OP_INFO": {
        **HCCL_OP,
        "ranksize": (50, 4),
        "streamId": (54, 2),
        "taskId": (56, 4),
    },
    "AICPU_FLIP_TASK": {"streamId": (24, 2), "taskId": (26, 2), "flipNum": (28, 4)},
    "AICPU_MASTER_STREAM_HCCL_TASK": {
        "aicpuStreamId": (24, 2),
        "aicpuTaskId": (26, 2),
        "streamId": (28, 2),
        "taskId": (30, 2),
        "data.type": (32, 2),
    },
    "KFC_HCCL_INFO": {"tasks": (24, 232)},
}

PARTS: Mapping[str, tuple[int, Offsets]] = {
    "TENSOR": (
        44,
        {"tensorType": (0, 4), "format": (4, 4), "dataType": (8, 4), "shape": (12, 32)},
    ),
    "STAMP": (
        224,
        {
            "magicNumber": (0, 2),
            "dataTag": (2, 2),
            "processId": (4, 4),
            "threadId": (8, 4),
            "category": (12, 4),
            "eventType": (16, 4),
            "payloadType": (20, 4),
            "payload": (24, 8),
            "startTime": (32, 8),
            "endTime": (40, 8),
            "markId": (48, 8),
            "domain": (56, 8),
            "messageType": (64, 4),
            "message": (68, 156),
        },
    ),
    "KFC_HCCL_TASK": (
        116,
        {
            "itemId": (0, 8),
            "cclTag": (8, 8),
            "groupName": (16, 8),
            "localRank": (24, 4),
            "remoteRank": (28, 4),
            "rankSize": (32, 4),
            "stage": (36, 4),
            "notifyID": (40, 8),
            "timeStamp": (48, 8),
            "durationEstimated": (56, 8),
            "srcAddr": (64, 8),
            "dstAddr": (72, 8),
            "dataSize": (80, 8),
            "taskId": (88, 4),
            "streamId": (96, 2),
            "planeID": (98, 2),
            "opType": (100, 1),
            "dataType": (101, 1),
            "linkType": (102, 1),
            "transportType": (103, 1),
            "rdmaType": (104, 1),
            "role": (105, 1),
            "workFlowMode": (106, 1),
        },
    ),
    "OP_RANGE": (
        58,
        {
            "start_ns": (0, 8),
            "end_ns": (8, 8),
            "sequence_number": (16, 8),
            "process_id": (24, 8),
            "start_thread_id": (32, 8),
            "end_thread_id": (40, 8),
            "forward_thread_id": (48, 8),
            "scope": (56, 1),
            "is_async": (57, 1),
        },
    ),
    "OP_MARK": (
        40,
        {
            "time_ns": (0, 8),
            "category": (8, 8),
            "correlation_id": (16, 8),
            "thread_id": (24, 8),
            "process_id": (32, 8),
        },
    ),
    "MEMORY_USAGE": (
        77,
        {
            "ptr": (0, 8),
            "time_ns": (8, 8),
            "alloc_size": (16, 8),
            "total_allocated": (24, 8),
            "total_reserved": (32, 8),
            "total_active": (40, 8),
            "stream_ptr": (48, 8),
            "device_type": (56, 1),
            "device_index": (57, 1),
            "component_type": (58, 1),
            "data_type": (59, 1),
            "allocator_type": (60, 1),
            "thread_id": (61, 8),
            "process_id": (69, 8),
        },
    ),
    "GC_RECORD": (24, {"process_id": (0, 8), "start_ns": (8, 8), "end_ns": (16, 8)}),
    "PYTHON_TRACER_FUNC": (
        33,
        {"ts": (0, 8), "tid": (8, 8), "process_id": (16, 8), "key": (24, 8), "tag": (32, 1)},
    ),
    "PYTHON_TRACER_HASH": (8, {"key": (0, 8)}),
    "PARAM_TENSOR_INFO": (8, {"key": (0, 8)}),
}

DOCUMENTED: Mapping[str, tuple[int, Offsets]] = {
    **{name: (40, offsets) for name, offsets in API.items()},
    **{name: (64, {**HEAD, **offsets}) for name, offsets in COMPACT.items()},
    **{name: (256, {**HEAD, **offsets}) for name, offsets in ADDITIONAL.items()},
    **PARTS,
}

VARIABLE = {"CAPTURE_OP_INFO_VARIABLE", "TLV"}
"""What has no fixed size."""

OURS = ("additional", "aicpu", "ccu", "framework", "host", "mstx")


def declared() -> dict[str, construct.Struct]:
    """The declarations of these modules that the package gives away."""
    modules = [getattr(records, name) for name in OURS]
    return {
        name: value
        for name, value in vars(records).items()
        if isinstance(value, construct.Struct)
        and any(vars(module).get(name) is value for module in modules)
    }


def test_every_declaration_is_held_against_a_document() -> None:
    assert declared().keys() - VARIABLE == DOCUMENTED.keys()


@pytest.mark.parametrize("name", DOCUMENTED)
def test_sizes_and_offsets_are_those_of_the_document(name: str) -> None:
    size, offsets = DOCUMENTED[name]
    record = declared()[name]
    assert record.sizeof() == size
    dtype = dtype_of(record)
    assert dtype.itemsize == size
    assert dtype.fields is not None
    found = {member: (at, one.itemsize) for member, (one, at, *_) in dtype.fields.items()}
    assert found == offsets


@pytest.mark.parametrize("name", DOCUMENTED)
def test_numpy_reads_what_construct_reads(name: str) -> None:
    record = declared()[name]
    rows = np.random.default_rng(5).integers(0, 256, (20, record.sizeof()), np.uint8)
    fast = rows.view(dtype_of(record))[:, 0]
    for row, one in zip(rows, fast, strict=True):
        assert same(record, record.parse(row.tobytes()), one)


# --- bits -----------------------------------------------------------------------------------------


def parts(name: str, member: str) -> Mapping[str, tuple[int, int]]:
    """Shift and mask of the parts of a member."""
    (found,) = (one for one in declared()[name].subcons if one.name == member)
    return bit_fields(found)


@pytest.mark.parametrize(
    ("name", "member", "expected"),
    [
        ("TASK_TRACK", "deviceId", {"devType": (12, 0xF), "deviceId": (0, 0xFFF)}),
        ("TASK_TRACK", "taskId", {"batchId": (16, 0xFFFF), "taskId": (0, 0xFFFF)}),
        ("NODE_BASIC_INFO", "blockNum", {"ratio": (16, 0xFFFF), "blockNum": (0, 0xFFFF)}),
        ("HCCL_OP_INFO", "flags", {"retry": (1, 1), "relay": (0, 1)}),
        ("AICPU_HCCL_OP_INFO", "flags", {"retry": (1, 1), "relay": (0, 1)}),
        ("TENSOR", "format", {"subFormat": (8, 0xFF), "format": (0, 0xFF)}),
        ("DPU_TRACK", "deviceId", {"devType": (12, 0xF), "deviceId": (0, 0xFFF)}),
        ("DPU_HCCL_INFO", "dpuDevId", {"devType": (12, 0xF), "dpuDevId": (0, 0xFFF)}),
    ],
)
def test_bits_are_where_the_document_has_them(
    name: str, member: str, expected: Mapping[str, tuple[int, int]]
) -> None:
    assert parts(name, member) == expected


def test_the_extension_of_a_task_is_read_by_its_kind() -> None:
    """Blocks 24, arguments 64 bytes, ratio 2, mode 1; the same bytes as grid and thread block."""
    body = bytes.fromhex("180040000a") + bytes(11)
    task = records.TASK_TRACK.parse(bytes(48) + body)
    kernel, simt = task.extInfo.kernelInfo, task.extInfo.simtKernelInfo
    assert (kernel.numBlocks, kernel.argsSize) == (24, 64)
    assert (kernel.mode.ratio, kernel.mode.schedMode) == (2, 1)
    assert (simt.gridDim.x, simt.gridDim.y, simt.gridDim.z) == (24, 64, 10)
    assert task.extInfo.modelInfo.modelId == 0x400018


# --- golden vectors of ge-profiling 5.9 -----------------------------------------------------------

CONV = 6251491202591237330
GOLDEN: Mapping[str, tuple[str, str, Mapping[str, int]]] = {
    "call": (
        "API_EVENT",
        "5a5a204e01000200921000000000000040420f000000000034440f00000000000000000000000000",
        {
            "magicNumber": 0x5A5A,
            "level": 20000,
            "type": 0x020001,
            "threadId": 4242,
            "reserve": 0,
            "beginTime": 1000000,
            "endTime": 1000500,
            "itemId": 0,
        },
    ),
    "launch": (
        "API_EVENT",
        "5a5a1027050000009210000000000000a4420f000000000008430f0000000000d224ee7e20c2c156",
        {
            "magicNumber": 0x5A5A,
            "level": 10000,
            "type": 5,
            "threadId": 4242,
            "reserve": 0,
            "beginTime": 1000100,
            "endTime": 1000200,
            "itemId": CONV,
        },
    ),
    "event": (
        "EVENT",
        "5a5a983a01000000921000000100000072420f0000000000ffffffffffffffff0700000000000000",
        {
            "magicNumber": 0x5A5A,
            "level": 15000,
            "type": 1,
            "threadId": 4242,
            "requestId": 1,
            "timeStamp": 1000050,
            "eventFlag": 0xFFFFFFFFFFFFFFFF,
            "itemId": 7,
        },
    ),
    "operator": (
        "NODE_BASIC_INFO",
        "5a5a102700000000921000000000000008430f0000000000d224ee7e20c2c15600000000d224ee7e20c2c156"
        "1800000001000000000000000000000000000000",
        {
            "magicNumber": 0x5A5A,
            "level": 10000,
            "type": 0,
            "threadId": 4242,
            "dataLen": 0,
            "timeStamp": 1000200,
            "opName": CONV,
            "taskType": 0,
            "opType": CONV,
            "blockNum": 24,
            "opFlag": 1,
        },
    ),
    "graph": (
        "GRAPH_ID_MAP",
        "5a5a983a00000000921000001000000034440f0000000000000000000000000003000000070000000000000000"
        "000000" + "00" * 208,
        {
            "magicNumber": 0x5A5A,
            "level": 15000,
            "type": 0,
            "threadId": 4242,
            "dataLen": 16,
            "timeStamp": 1000500,
            "modelName": 0,
            "graphId": 3,
            "modelId": 7,
        },
    ),
}


@pytest.mark.parametrize("case", GOLDEN)
def test_golden_vectors_are_read_and_written(case: str) -> None:
    name, text, expected = GOLDEN[case]
    content, record = bytes.fromhex(text), declared()[name]
    assert len(content) == record.sizeof()
    one = np.frombuffer(content, dtype_of(record))
    assert {member: int(one[member][0]) for member in expected} == expected
    made = np.zeros(1, dtype_of(record))
    for member, value in expected.items():
        made[member] = value
    assert made.tobytes() == content
    assert record.build(record.parse(content)) == content


def test_a_call_with_all_ones_for_its_end_is_an_event() -> None:
    event = bytes.fromhex(GOLDEN["event"][1])
    assert records.API_EVENT.parse(event).endTime == records.EVENT_FLAG == (1 << 64) - 1
    assert records.API_EVENT.parse(bytes.fromhex(GOLDEN["call"][1])).endTime != records.EVENT_FLAG


# --- captured operators and the adapter's texts, of any length ------------------------------------


def tensor(kind: int, *shape: int) -> bytes:
    numbers = (kind, 2, 1, *shape, *[0] * (8 - len(shape)))
    return b"".join(number.to_bytes(4, "little") for number in numbers)


def test_a_captured_operator_has_as_many_tensors_as_it_says() -> None:
    tensors = [tensor(0, 128, 256)] * 6 + [tensor(1, 128)]
    content = bytes(84) + (7).to_bytes(4, "little") + b"".join(tensors)
    found = records.CAPTURE_OP_INFO_VARIABLE.parse(content)
    assert len(found.tensorData) == found.tensorNum == 7
    assert list(found.tensorData[0].shape) == [128, 256, 0, 0, 0, 0, 0, 0]
    assert [one.tensorType for one in found.tensorData] == [0] * 6 + [1]
    assert records.CAPTURE_OP_INFO_VARIABLE.build(found) == content
    with pytest.raises(construct.StreamError):
        records.CAPTURE_OP_INFO_VARIABLE.parse(content[:-1])


def test_an_operator_of_the_adapter_is_its_fixed_part_and_its_texts() -> None:
    """A record of torch.op_range by consumers 2.7: tag 1, its size, 58 bytes, name and shapes."""
    fixed = b"".join(
        number.to_bytes(8, "little", signed=True)
        for number in (1000, 2000, -1, 4242, 4243, 4243, 0)
    )
    texts = b"\x02\x00\x05\x00\x00\x00aten:\x04\x00\x07\x00\x00\x002,3;4,5"
    value = fixed + b"\x00\x01" + texts
    content = b"\x01\x00" + len(value).to_bytes(4, "little") + value
    outer = records.TLV.parse(content)
    operator = records.FRAMEWORK_RECORDS["OP_RANGE"]
    assert outer.type == operator.tag == 1
    found = operator.fixed.parse(outer.value)
    assert (found.start_ns, found.end_ns, found.sequence_number) == (1000, 2000, -1)
    assert (found.process_id, found.start_thread_id, found.is_async) == (4242, 4243, 1)
    inner = construct.GreedyRange(records.TLV).parse(outer.value[58:])
    assert {operator.texts[one.type].field.name: one.value for one in inner} == {
        "NAME": b"aten:",
        "INPUT_SHAPES": b"2,3;4,5",
    }
    assert operator.texts[4].encoding == "shapes"
    assert records.TLV.build(outer) == content


def test_the_tags_of_the_adapter_are_those_of_its_readers() -> None:
    """Tags by consumers 2.7; those around records by the order of the adapter's own list."""
    found = {name: sorted(one.texts) for name, one in records.FRAMEWORK_RECORDS.items()}
    assert found == {
        "OP_RANGE": [2, 3, 4, 5, 6, 7, 8, 9, 10],
        "OP_MARK": [1],
        "MEMORY_USAGE": [],
        "GC_RECORD": [],
        "PYTHON_TRACER_FUNC": [],
        "PYTHON_TRACER_HASH": [1],
        "PARAM_TENSOR_INFO": [1, 2],
    }
    tags = [one.tag for one in records.FRAMEWORK_RECORDS.values()]
    assert tags == [1, 2, 3, None, None, 4, 5]
    used = {
        one.encoding for row in records.FRAMEWORK_RECORDS.values() for one in row.texts.values()
    }
    assert used == records.ENCODINGS.keys()


# --- facts ----------------------------------------------------------------------------------------


def fields(form: construct.Construct) -> Iterator[tuple[Field, bool]]:
    """The fields of a form, each with whether it holds others."""
    inner = getattr(form, "subcons", None) or [
        one for one in [getattr(form, "subcon", None)] if one
    ]
    below = [found for one in inner for found in fields(one)]
    if isinstance(form, Field):
        yield form, bool(below)
    yield from below


def all_fields() -> list[tuple[str, Field, bool]]:
    texts = [one for row in records.FRAMEWORK_RECORDS.values() for one in row.texts.values()]
    return [
        *((name, *one) for name, record in declared().items() for one in fields(record)),
        *(("texts", one.field, False) for one in texts),
    ]


def test_every_field_shows_something_or_says_why_not() -> None:
    silent = {
        (name, one.name) for name, one, holds in all_fields() if not holds and not one.facts.shows
    }
    assert silent == set()


def test_what_fields_show_is_in_the_recording() -> None:
    entities = recording_catalog().entities
    shown = {of for _, one, _ in all_fields() if one.facts.shows for of in one.facts.shows.of}
    assert len(shown) > 100
    unknown = {
        of for of in shown if of.partition(".")[2] not in entities[of.partition(".")[0]].columns
    }
    assert unknown == set()


def test_what_fields_cite_is_a_source() -> None:
    known = packaged().loader.sources
    cited = {source.partition(" ")[0] for _, one, _ in all_fields() for source in one.facts.source}
    assert cited <= known.keys()


def test_what_names_a_number_is_known() -> None:
    named = {one.facts.values for _, one, _ in all_fields()} - {None}
    raw = raw_catalog()
    known = {*raw.vocabularies, *raw.grammars, *catalog().enums}
    assert named <= known
