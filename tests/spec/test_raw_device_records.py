"""Records that devices write against the documents: sizes, offsets, bits, and a real file.

The numbers are transcribed from raw-prof.md 4.7 to 4.9; nothing of them comes from the
declarations.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import construct
import numpy as np
import pytest
from test_packed import same

from ascend_spec import packaged, recording_catalog
from ascend_spec.core.packed import Field, bit_fields, dtype_of
from ascend_spec.raw import records

Offsets = Mapping[str, tuple[int, int]]
"""Offset and size by the name of the member."""

STARS: Offsets = {"head": (0, 2), "magic": (2, 2), "streamId": (4, 2), "taskId": (6, 2)}
STARS_V6: Offsets = {"head": (0, 2), "magic": (2, 2), "taskId": (4, 4)}
PMU_END: Offsets = {"pmuList": (48, 64), "startTime": (112, 8), "endTime": (120, 8)}
TRACK: Offsets = {"mode": (0, 1), "tag": (1, 1), "size": (2, 2), "timestamp": (8, 8)}
TRACK_TASK: Offsets = {**TRACK, "streamId": (16, 2), "taskId": (18, 2)}
SOC: Offsets = {"head": (0, 2), "magic": (2, 2), "sysCnt": (8, 8)}

WAYS = (
    *("tx_p_bandwidth", "tx_np_bandwidth", "tx_cpl_bandwidth", "tx_np_latency"),
    *("rx_p_bandwidth", "rx_np_bandwidth", "rx_cpl_bandwidth"),
)
"""The document: tx p, tx np, tx cpl, tx np latency, rx p, rx np, rx cpl; least, most, mean each."""

DOCUMENTED: Mapping[str, tuple[int, Offsets]] = {
    "STARS_LOG": (64, {**STARS, "timestamp": (8, 8), "acc": (18, 2)}),
    "FFTS_LOG": (
        64,
        {
            **STARS,
            "timestamp": (8, 8),
            "subTaskType": (16, 1),
            "subTaskId": (18, 2),
            "mode": (20, 2),
            "threadId": (22, 2),
        },
    ),
    "STARS_LOG_V6": (32, {**STARS_V6, "timestamp": (8, 8), "acc": (18, 2)}),
    "FUSION_LOG_V6": (
        32,
        {**STARS_V6, "timestamp": (8, 8), "fusion": (16, 2), "accId": (18, 2)},
    ),
    "BLOCK_LOG_V6": (
        32,
        {
            **STARS_V6,
            "timestamp": (8, 8),
            "cxtType": (16, 1),
            "flags": (17, 1),
            "coreType": (20, 1),
            "coreId": (21, 1),
            "blockId": (26, 2),
        },
    ),
    "HWTS_LOG": (
        64,
        {
            "head": (0, 1),
            "taskType": (1, 1),
            "magic": (2, 2),
            "blockId": (4, 2),
            "taskId": (6, 2),
            "sysCnt": (8, 8),
            "streamId": (16, 4),
        },
    ),
    "NANO_TASK": (
        64,
        {
            "head": (0, 1),
            "modelId": (1, 1),
            "taskId": (6, 2),
            "timeLow": (8, 4),
            "duration": (12, 4),
            "totalCycleLow": (16, 4),
            "timeMiddle": (20, 2),
            "timeHigh": (22, 1),
            "totalCycleHigh": (23, 1),
            "pmu": (24, 40),
        },
    ),
    "STEP_TRACE": (
        40,
        {
            **TRACK,
            "indexId": (16, 8),
            "modelId": (24, 8),
            "streamId": (32, 2),
            "taskId": (34, 2),
            "tagId": (36, 2),
        },
    ),
    "STEP_TRACE_V6": (
        40,
        {
            **TRACK,
            "indexId": (16, 8),
            "modelId": (24, 8),
            "tagId": (32, 2),
            "streamId": (34, 2),
            "taskId": (36, 4),
        },
    ),
    "TS_MEMCPY": (40, {**TRACK_TASK, "taskStatus": (20, 1)}),
    "TS_TASK_TYPE": (40, {**TRACK_TASK, "taskType": (20, 2), "taskStatus": (22, 1)}),
    "TS_FLIP": (40, {**TRACK, "streamId": (16, 2), "flipNum": (18, 2), "taskId": (22, 2)}),
    "TS_BLOCK_NUM": (40, {**TRACK_TASK, "blockNum": (20, 4)}),
    "CONTEXT_PMU": (
        128,
        {
            **STARS,
            "subTask": (16, 2),
            "subTaskId": (18, 2),
            "mode": (20, 2),
            "threadId": (22, 2),
            "totalCycle": (32, 8),
            "ovCycle": (40, 8),
            **PMU_END,
        },
    ),
    "BLOCK_PMU": (
        128,
        {
            **STARS,
            "subTaskType": (16, 1),
            "subTaskId": (18, 2),
            "core": (20, 1),
            "mode": (21, 1),
            "subBlockId": (28, 2),
            "blockId": (30, 2),
            "totalCycle": (32, 8),
            **PMU_END,
        },
    ),
    "PMU_V6": (
        128,
        {
            **STARS_V6,
            "totalCycle": (8, 8),
            "cxtType": (16, 1),
            "flags": (17, 1),
            "coreType": (20, 1),
            "coreId": (21, 1),
            "subBlockId": (24, 2),
            "blockId": (26, 2),
            "pmuList": (32, 80),
            "startTime": (112, 8),
            "endTime": (120, 8),
        },
    ),
    "AICORE_PMU": (
        128,
        {
            "head": (0, 1),
            "magic": (2, 2),
            "blockId": (4, 2),
            "taskId": (6, 2),
            "totalCycle": (16, 8),
            "ovCycle": (24, 8),
            "pmuList": (32, 64),
            "streamId": (96, 4),
        },
    ),
    "SAMPLE_PMU": (
        96,
        {
            "mode": (0, 1),
            "magic": (2, 2),
            "eventCount": (8, 64),
            "taskCyc": (72, 8),
            "timestamp": (80, 8),
            "countNum": (88, 1),
            "coreId": (89, 1),
        },
    ),
    "SAMPLE_PMU_V6": (
        112,
        {
            "mode": (0, 1),
            "magic": (2, 2),
            "eventCount": (8, 80),
            "taskCyc": (88, 8),
            "timestamp": (96, 8),
            "countNum": (104, 1),
            "coreId": (105, 1),
        },
    ),
    "L2_CACHE": (
        72,
        {"taskType": (0, 2), "streamId": (2, 2), "taskId": (4, 2), "events": (8, 64)},
    ),
    "SOC_PMU": (
        80,
        {
            "taskType": (8, 2),
            "streamId": (10, 2),
            "taskId": (12, 2),
            "dataType": (14, 2),
            "events": (16, 64),
        },
    ),
    "SOC_PMU_V6": (
        80,
        {
            "dataType": (6, 2),
            "taskType": (8, 2),
            "streamId": (10, 2),
            "taskId": (12, 4),
            "events": (16, 64),
        },
    ),
    "LPM_FREQ": (888, {"count": (0, 4), "lpmDataS": (8, 880)}),
    "LPM_INFO": (888, {"count": (0, 4), "type": (4, 4), "lpmDataS": (8, 880)}),
    "TSCPU": (
        304,
        {
            "header": (0, 4),
            "perfBacktrace": (8, 160),
            "pc": (176, 8),
            "timestamp": (184, 8),
            "pmuData": (192, 112),
        },
    ),
    "BIU_INSTR_V6": (4, {"sysCnt": (0, 2), "instruction": (2, 2)}),
    "BIU_CUBE": (96, {"monitors": (32, 64)}),
    "BIU_VECTOR": (64, {"cycles": (32, 32)}),
    "HBM": (24, {"timestamp": (0, 8), "count": (8, 8), "eventType": (16, 4), "hbmId": (20, 4)}),
    "HBM_V2": (
        32,
        {"eventType": (8, 4), "hbmId": (12, 4), "count": (16, 8), "timestamp": (24, 8)},
    ),
    "LLC": (24, {"timestamp": (0, 8), "count": (8, 8), "eventId": (16, 4), "l3tId": (20, 4)}),
    "LLC_V2": (24, {"count": (4, 4), "eventId": (8, 4), "l3tId": (12, 4), "timestamp": (16, 8)}),
    "DDR": (
        20,
        {
            "timestamp": (0, 4),
            "count": (4, 4),
            "eventType": (8, 4),
            "masterId": (12, 4),
            "ddrId": (16, 4),
        },
    ),
    "PCIE": (
        96,
        {
            "timestamp": (0, 8),
            "deviceId": (8, 4),
            **{
                f"{way}_{part}": (12 + 4 * (3 * at + place), 4)
                for at, way in enumerate(WAYS)
                for place, part in enumerate(("min", "max", "avg"))
            },
        },
    ),
    "QOS": (64, {"timestamp": (16, 8), "bandwidth": (24, 40)}),
    "NPU_MEM": (32, {"timestamp": (0, 4), "event": (4, 4), "ddr": (16, 8), "hbm": (24, 8)}),
    "NPU_MEM_V2": (32, {"event": (4, 4), "timestamp": (8, 8), "ddr": (16, 8), "hbm": (24, 8)}),
    "NPU_MODULE_MEM": (24, {"moduleId": (0, 4), "timestamp": (8, 8), "totalSize": (16, 8)}),
    "UB": (
        128,
        {
            "portId": (4, 2),
            "timestamp": (8, 8),
            "udmaRxBind": (16, 8),
            "udmaTxBind": (24, 8),
            **{
                f"{way}{what}": (32 + 48 * turn + 8 * at, 8)
                for turn, way in enumerate(("rx", "tx"))
                for at, what in enumerate(
                    ("PortBandwidth", "PacketRate", "Bytes", "Packets", "Errors", "Dropped")
                )
            },
        },
    ),
    "CCU_INSTR": (
        64,
        {
            "relEndTime": (0, 32),
            "setckebitStartTime": (32, 8),
            "setckebitInstrId": (40, 2),
            "lpEndTime": (42, 8),
            "lpStartTime": (50, 8),
            "lpInstrId": (58, 2),
            "streamId": (60, 2),
            "taskId": (62, 2),
        },
    ),
    "CCU_STAT": (2816, {"words": (0, 2816)}),
    "ACC_PMU": (
        64,
        {
            "head": (0, 2),
            "magic": (2, 2),
            "timestamp": (8, 8),
            "accId": (18, 2),
            "writeBandwidth": (32, 8),
            "readBandwidth": (40, 8),
            "writeOst": (48, 8),
            "readOst": (56, 8),
        },
    ),
    "INTER_SOC": (64, {**SOC, "levels": (32, 2)}),
    "SIO": (
        64,
        {
            **SOC,
            "accId": (18, 2),
            **{
                f"{one}{way}": (32 + 16 * turn + 4 * at, 4)
                for turn, way in enumerate(("Rx", "Tx"))
                for at, one in enumerate(("req", "rsp", "snp", "dat"))
            },
        },
    ),
    "SIO_V6": (
        64,
        {
            **SOC,
            **{
                f"{one}{way}": (28 + 20 * turn + 4 * at, 4)
                for turn, way in enumerate(("Rx", "Tx"))
                for at, one in enumerate(("req", "rsp", "snp", "dat"))
            },
        },
    ),
    "CHIP_TRANS": (64, {**SOC, "eventId": (18, 2), "rxOrWrite": (32, 8), "txOrRead": (40, 8)}),
    "CHIP_TRANS_V6": (64, {**SOC, "writeBandwidth": (16, 8), "readBandwidth": (24, 8)}),
    "LOW_POWER": (64, {**SOC, "lpSampleInfo": (24, 40)}),
    "STARS_QOS": (64, {**SOC, "qosBwData": (24, 40)}),
}

BITS: Mapping[tuple[str, str], Mapping[str, tuple[int, int]]] = {
    ("STARS_LOG", "head"): {"funcType": (0, 63), "cnt": (6, 15), "taskType": (10, 63)},
    ("STARS_LOG", "acc"): {"accId": (0, 63), "acsqId": (6, 127)},
    ("FFTS_LOG", "head"): {"funcType": (0, 63), "cnt": (6, 15), "taskType": (10, 63)},
    ("FFTS_LOG", "mode"): {"fftsType": (13, 7)},
    ("STARS_LOG_V6", "head"): {"funcType": (0, 63), "cnt": (6, 15), "taskType": (10, 63)},
    ("STARS_LOG_V6", "acc"): {"accId": (0, 63), "acsqId": (6, 127)},
    ("FUSION_LOG_V6", "head"): {"funcType": (0, 63), "cnt": (6, 15), "taskType": (10, 63)},
    ("FUSION_LOG_V6", "fusion"): {"fusionTaskType": (0, 31), "missionId": (5, 15)},
    ("BLOCK_LOG_V6", "head"): {"funcType": (0, 63), "cnt": (6, 15), "taskType": (10, 63)},
    ("BLOCK_LOG_V6", "flags"): {"mst": (0, 1), "mix": (1, 1)},
    ("HWTS_LOG", "head"): {"sysTag": (0, 7), "cnt": (4, 15)},
    ("NANO_TASK", "head"): {"taskType": (1, 7)},
    ("CONTEXT_PMU", "head"): {"funcType": (0, 63), "cnt": (6, 15)},
    ("CONTEXT_PMU", "subTask"): {"subTaskType": (0, 255), "ovFlag": (10, 1)},
    ("CONTEXT_PMU", "mode"): {"fftsType": (13, 7)},
    ("BLOCK_PMU", "head"): {"funcType": (0, 63), "cnt": (6, 15)},
    ("BLOCK_PMU", "core"): {"coreType": (0, 1), "coreId": (1, 127)},
    ("BLOCK_PMU", "mode"): {"fftsType": (5, 7)},
    ("PMU_V6", "head"): {"funcType": (0, 63), "cnt": (6, 15)},
    ("PMU_V6", "flags"): {"mst": (0, 1), "mix": (1, 1), "ovFlag": (2, 1)},
    ("AICORE_PMU", "head"): {"cnt": (4, 15)},
    ("BIU_INSTR_V6", "instruction"): {"events": (0, 0xFFF), "ctrlType": (12, 15)},
    ("ACC_PMU", "head"): {"funcType": (0, 63), "cnt": (6, 15)},
    ("INTER_SOC", "head"): {"funcType": (0, 63), "cnt": (6, 15), "accType": (10, 63)},
    ("INTER_SOC", "levels"): {"mataBwLevel": (0, 7), "l2BufferBwLevel": (3, 255)},
    ("SIO", "head"): {"funcType": (0, 63), "cnt": (6, 15)},
    ("SIO_V6", "head"): {"funcType": (0, 63), "cnt": (6, 15), "dieId": (10, 63)},
    ("CHIP_TRANS", "head"): {"funcType": (0, 63), "cnt": (6, 15), "accType": (10, 63)},
    ("CHIP_TRANS_V6", "head"): {"funcType": (0, 63), "cnt": (6, 15), "dieId": (10, 63)},
    ("LOW_POWER", "head"): {"funcType": (0, 63), "cnt": (6, 15), "dieId": (10, 63)},
    ("STARS_QOS", "head"): {"funcType": (0, 63), "cnt": (6, 15), "dieId": (10, 63)},
}

OURS = ("device", "counters", "samples")


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
    assert declared().keys() == DOCUMENTED.keys()


@pytest.mark.parametrize("name", DOCUMENTED)
def test_sizes_and_offsets_are_those_of_the_document(name: str) -> None:
    size, offsets = DOCUMENTED[name]
    dtype = dtype_of(declared()[name])
    assert (declared()[name].sizeof(), dtype.itemsize) == (size, size)
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


def test_bits_are_where_the_document_has_them() -> None:
    found: dict[tuple[str, str], Mapping[str, tuple[int, int]]] = {}
    for name, record in declared().items():
        for one in record.subcons:
            try:
                found[name, one.name] = bit_fields(one)
            except ValueError:
                continue
    assert found == BITS


def test_fields_name_sets_of_numbers_that_exist() -> None:
    catalog = packaged()
    known = {*catalog.raw.vocabularies, *catalog.db.enums}
    for name, record in declared().items():
        for one in _fields(record):
            if one.facts.values is not None:
                assert one.facts.values in known, (name, one.name)


def test_fields_show_values_of_the_recording() -> None:
    entities = recording_catalog().entities
    for name, record in declared().items():
        for one in _fields(record):
            for place in one.facts.shows.of if one.facts.shows else ():
                entity, _, column = place.partition(".")
                assert column in entities[entity].columns, (name, one.name, place)


def _fields(form: construct.Construct) -> list[Field]:
    """The fields of a form, those inside of others as well."""
    inside = [one for part in getattr(form, "subcons", ()) for one in _fields(part)]
    if hasattr(form, "subcon"):
        inside += _fields(form.subcon)
    return [form, *inside] if isinstance(form, Field) else inside


# --- a real file ----------------------------------------------------------------------------------

HWTS = "mindspore/mindinsight/JOB3/hwts.log.data.45.dev.profiler_default_tag.1.slice_0"


@pytest.fixture(scope="module")
def hwts() -> bytes:
    """The log of the tasks of a 910A, of which raw-prof.md 4.7 states figures."""
    path = Path(__file__).resolve().parents[3] / "shared" / "data" / HWTS
    if not path.is_file():
        pytest.skip(f"no real data: {path} is absent")
    return path.read_bytes()


def test_a_real_log_is_what_the_document_counts(hwts: bytes) -> None:
    rows = np.frombuffer(hwts, dtype_of(records.HWTS_LOG))
    (head,) = (one for one in records.HWTS_LOG.subcons if one.name == "head")
    bits = {name: rows["head"] >> by & mask for name, (by, mask) in bit_fields(head).items()}
    assert len(rows) == 62_847
    assert set(rows["magic"].tolist()) == {records.DEVICE_MAGIC}
    assert np.bincount(bits["sysTag"]).tolist() == [31_462, 31_385]
    assert int(np.sum(np.diff(bits["cnt"].astype(int)) % 16 == 1)) == 62_846
    assert set(rows["taskType"].tolist()) == {0}
    assert rows["streamId"].min() == 513


def test_a_real_log_is_written_as_it_was_read(hwts: bytes) -> None:
    rows = np.frombuffer(hwts, dtype_of(records.HWTS_LOG))
    again = np.zeros(len(rows), rows.dtype)  # zeros_like leaves the gaps as they are
    for name in rows.dtype.names or ():
        again[name] = rows[name]
    assert again.tobytes() == hwts
