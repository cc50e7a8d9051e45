"""Records of the graph engine against the tables and golden vectors of the evidence."""

from __future__ import annotations

import re
from collections.abc import Mapping

import construct
import pytest
from ge_evidence import Member, members_of, section, sizes_of

from ascend_ref.derive.text_hash import name_id
from ascend_spec.core.packed import dtype_of
from ascend_spec.ge import TRACE_DATA
from ascend_spec.raw import records

HEAD = 24
COMPACT: Mapping[str, str] = {
    "NodeBasicInfo": "NODE_BASIC_INFO",
    "AttrInfo": "NODE_ATTR_INFO",
    "HCCLOPInfo": "HCCL_OP_INFO",
    "RuntimeTrack ": "TASK_TRACK",
    "RuntimeTrackV2": "TASK_TRACK_V2",
    "CaptureStreamInfo ": "CAPTURE_STREAM_INFO",
    "CaptureStreamInfoV2": "CAPTURE_STREAM_INFO_V2",
    "StreamSqInfo": "STREAM_SQ_INFO",
    "memcpy_info": "MEMCPY_INFO",
    "MsprofMemcpyInfo": "MEMCPY_EXT_INFO",
    "MemsetInfo": "MEMSET_INFO",
    "MemMngInfo": "MEMMNG_INFO",
    "DpuTrack": "DPU_TRACK",
    "StreamExpandSpecInfo": "EXPAND_STREAM_SPEC",
}
ADDITIONAL: Mapping[str, str] = {
    "TensorInfo": "TENSOR_INFO",
    "FusionOpInfo": "FUSION_OP_INFO",
    "ContextIdInfo": "CONTEXT_ID_INFO",
    "MemoryInfo": "TASK_MEMORY_INFO",
    "StaticOpMem": "STATIC_OP_MEM",
    "Mc2CommInfo": "MC2_COMM_INFO",
    "GraphIdInfo": "GRAPH_ID_MAP",
    "LogicStreamInfo": "LOGIC_STREAM_INFO",
    "ExeomLoadInfo": "MODEL_EXEOM",
    "HcclInfo": "HCCL_INFO",
    "MultiThread": "MULTI_THREAD",
    "AicTimeStampInfo": "AIC_TIMESTAMP_INFO",
    "Aicpu model": "AICPU_MODEL",
    "AicpuHCCLOPInfo": "AICPU_HCCL_OP_INFO",
}
SPELLED: Mapping[str, str] = {
    "blockDim": "blockNum",
    "direction": "memcpyDirection",
    "threadId": "data.threadId",
    "estimated": "durationEstimated",
}
"""Members that the declarations call as exporters do."""

APART = {
    *("opState", "each", "tensorType", "format", "dataType", "shape", "rsv", "res", "type"),
    *("as", "first", "ext", "bytes", "retry"),
}
"""Words of the tables that are no member of a record on disk, or one within a tensor."""


def offsets(record: construct.Struct) -> Mapping[str, tuple[int, int]]:
    """Offset behind the head and size by the name of a field."""
    fields = dtype_of(record).fields
    assert fields is not None
    return {name: (at - HEAD, form.itemsize) for name, (form, at, *_) in fields.items()}


def wrong(record: str, stated: list[Member]) -> list[Member]:
    declared = offsets(getattr(records, record))
    found = []
    for one in stated:
        name = one.name if one.name in declared else SPELLED.get(one.name, one.name)
        if name == "threadId" or (one.name in APART and name not in declared):
            continue
        at, size = declared.get(name, (-1, -1))
        if at != one.at or one.size not in (None, size):
            found.append(one)
    return found


@pytest.mark.parametrize("name", COMPACT)
def test_g135_g145_g167_members_of_compact_records_lie_where_the_evidence_has_them(
    name: str,
) -> None:
    record = COMPACT[name]
    stated = members_of("5.3", name)
    assert stated
    assert wrong(record, stated) == []
    assert getattr(records, record).sizeof() == records.COMPACT_SIZE == 64


@pytest.mark.parametrize("name", ADDITIONAL)
def test_g136_g137_g167_members_of_additional_records_lie_where_the_evidence_has_them(
    name: str,
) -> None:
    record = ADDITIONAL[name]
    stated = members_of("5.4", name)
    assert stated
    assert wrong(record, stated) == []
    assert getattr(records, record).sizeof() == records.ADDITIONAL_SIZE == 256


def test_g167_the_bodies_have_the_sizes_of_the_evidence() -> None:
    """The last field of a packed body ends where the body does; others have padding behind it."""
    for number, names in (("5.3", COMPACT), ("5.4", ADDITIONAL)):
        sizes = sizes_of(number)
        for name, record in names.items():
            size = sizes.get(name.strip())
            if size is None:
                continue
            end = max(at + length for at, length in offsets(getattr(records, record)).values())
            assert size - 8 < end <= size, name


def test_g134_g167_calls_and_events_are_of_one_size() -> None:
    assert records.API_EVENT.sizeof() == records.EVENT.sizeof() == 40
    for number, record in (("5.1", records.API_EVENT), ("5.2", records.EVENT)):
        text = re.sub(r"\*\*.*", "", section(number), flags=re.DOTALL)
        text = text.replace("magic @", "magicNumber @")
        stated = re.findall(r"(\w+)(?: u\d+)? @(\d+)", text)
        declared = {name: str(at + HEAD) for name, (at, _) in offsets(record).items()}
        assert stated
        assert dict(stated).items() <= declared.items()


# --- golden vectors -------------------------------------------------------------------------------


def vectors() -> list[tuple[str, bytes]]:
    found = re.findall(r"^- (.*?): `([0-9a-f]+)`$", section("5.9"), re.MULTILINE)
    assert len(found) == 7
    return [(words, bytes.fromhex(text)) for words, text in found]


EXPECTED: Mapping[str, tuple[construct.Struct, Mapping[str, int]]] = {
    "API aclmdlExecute": (
        records.API_EVENT,
        {"level": 20000, "type": 0x20001, "threadId": 4242, "beginTime": 10**6, "endTime": 1000500},
    ),
    "API launch": (
        records.API_EVENT,
        {"level": 10000, "type": 5, "beginTime": 1000100, "itemId": name_id("Conv2D")},
    ),
    "Event ModelExecute": (
        records.EVENT,
        {"level": 15000, "type": 1, "requestId": 1, "timeStamp": 1000050, "itemId": 7},
    ),
    "node_basic_info": (
        records.NODE_BASIC_INFO,
        {"opName": name_id("Conv2D"), "taskType": 0, "opFlag": 1, "timeStamp": 1000200},
    ),
    "graph_id_map": (records.GRAPH_ID_MAP, {"graphId": 3, "modelId": 7, "timeStamp": 1000500}),
    "trace user data": (TRACE_DATA, {"id": 1, "model_id": 7, "tag_id": 4}),
    "step trace": (
        records.STEP_TRACE,
        {"mode": 1, "tag": 10, "size": 40, "indexId": 1, "modelId": 7, "streamId": 9, "tagId": 4},
    ),
}


@pytest.mark.parametrize("case", EXPECTED)
def test_g134_g135_g148_g167_golden_vectors_are_read_and_written_byte_for_byte(case: str) -> None:
    record, expected = EXPECTED[case]
    ((_, content),) = [one for one in vectors() if one[0].startswith(case)]
    content = content.ljust(record.sizeof(), b"\0")
    found = record.parse(content)
    assert {name: found[name] for name in expected} == expected
    assert record.build(found) == content


def test_g139_g165_golden_hashes_are_those_of_the_evidence() -> None:
    found = re.findall(r"^\| `(.+?)`(.*?) \| (\d+) \| (?:0x(\w+)|-) \|$", section("5.7"), re.M)
    assert len(found) == 15
    for text, words, number, digits in found:
        made = name_id(text, signed="unsigned" not in words, small_device="small" in words)
        assert made == int(number), (text, words)
        assert not digits or made == int(digits, 16)
    assert {"(UTF-8, unsigned char)", "(UTF-8, signed char)", "small-device variant"} == {
        words.strip() for _, words, _, _ in found if words
    }


def test_g165_the_hash_of_small_devices_is_the_same_up_to_four_characters_of_ascii() -> None:
    def plain(text: str) -> int:
        high = sum(ord(one) * 29 ** (len(text) - 1 - at) for at, one in enumerate(text))
        low = sum(ord(one) * 131 ** (len(text) - 1 - at) for at, one in enumerate(text))
        return ((high << 32) | low) % 2**64

    for text in ("a", "Add", "ReLU", "zzzz", "MatMul", "gradients/AddN_70", "x" * 300):
        same = name_id(text) == name_id(text, small_device=True)
        assert same is (len(text) <= 4), text
        if len(text) <= 8:
            assert name_id(text, small_device=True) == plain(text)
