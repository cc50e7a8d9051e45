"""Records of host, AI CPUs and adapter against the documents: sizes, offsets, golden vectors.

The numbers are transcribed from raw-prof.md 4.1 to 4.10, ge-profiling.md 5 and consumers.md 2.7, in
part added up there; nothing of them comes from the declarations.
"""

from __future__ import annotations

from collections.abc import Mapping

import construct
import numpy as np
import pytest

from ascend_spec.core.packed import bit_fields, dtype_of
from ascend_spec.raw import records

# --- bits -----------------------------------------------------------------------------------------


def parts(name: str, member: str) -> Mapping[str, tuple[int, int]]:
    """Shift and mask of the parts of a member."""
    (found,) = (one for one in getattr(records, name).subcons if one.name == member)
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
    content, record = bytes.fromhex(text), getattr(records, name)
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
