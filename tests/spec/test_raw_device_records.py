"""Bits of the records that devices write against the document, and a real file.

The numbers are transcribed from raw-prof.md 4.7 to 4.9; nothing of them comes from the
declarations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from raw_device_offsets import DEVICE

from ascend_spec.core.packed import bit_fields, dtype_of
from ascend_spec.raw import records

HALF, WORD, TRAFFIC = 0xFFF, 0xFFFF, 0xFFFFFF
FLOW: Sequence[tuple[str, Mapping[str, tuple[int, int]]]] = (
    (
        "flow0",
        {
            "stat_rcmd_num": (0, WORD),
            "stat_wcmd_num": (16, WORD),
            "stat_rlat_raw": (32, TRAFFIC),
            "stat_wlat_raw_low": (56, 0xFF),
        },
    ),
    (
        "flow1",
        {
            "stat_wlat_raw_high": (0, WORD),
            "stat_flux_rd": (16, TRAFFIC),
            "stat_flux_wr": (40, TRAFFIC),
        },
    ),
    (
        "flow2",
        {
            "stat_flux_rd_l2": (0, TRAFFIC),
            "stat_flux_wr_l2": (24, TRAFFIC),
            "timestamp_low": (48, WORD),
        },
    ),
    ("flow3", {"timestamp_high": (0, 0xFFFFFFFFFFFF), "l2_cache_hit": (48, WORD)}),
)
"""HHTTTTTTQH of upstream's FLOW_FMT, where T has 24 bits; a quarter ends within a number."""
CYCLES: Sequence[tuple[str, Mapping[str, tuple[int, int]]]] = (
    (
        "cycles0",
        {
            "vector_cycles": (0, HALF),
            "scalar_cycles": (12, HALF),
            "cube_cycles": (24, HALF),
            "lsu1_cycles": (36, HALF),
            "lsu2_cycles": (48, HALF),
            "lsu3_cycles_low": (60, 0xF),
        },
    ),
    (
        "cycles1",
        {"lsu3_cycles_high": (0, 0xFF), "timestamp_lsb0": (20, HALF), "timestamp_lsb1": (32, HALF)},
    ),
    ("cycles2", {"timestamp_msb0": (40, HALF), "timestamp_msb1": (52, HALF)}),
    ("cycles3", {"timestamp_msb2": (48, WORD)}),
)
"""Ten pairs of 12 bits and one number of 16 in upstream's CYCLES_FMT; CyclesBean names the
numbers 0 to 5, 7, 8, 14, 15 and 20.
"""
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
    **{
        (record, word): parts
        for record, words in (("BIU_CUBE", (*FLOW, *CYCLES)), ("BIU_VECTOR", CYCLES))
        for word, parts in words
    },
    ("ACC_PMU", "head"): {"funcType": (0, 63), "cnt": (6, 15)},
    ("INTER_SOC", "head"): {"funcType": (0, 63), "cnt": (6, 15), "accType": (10, 63)},
    ("INTER_SOC", "levels"): {"mataBwLevel": (0, 7), "l2BufferBwLevel": (3, 255)},
    ("SIO", "head"): {"funcType": (0, 63), "cnt": (6, 15)},
    ("SIO_V6", "head"): {"funcType": (0, 63), "cnt": (6, 15), "dieId": (10, 63)},
    ("CHIP_TRANS", "head"): {"funcType": (0, 63), "cnt": (6, 15), "accType": (10, 63)},
    ("CHIP_TRANS_V6", "head"): {"funcType": (0, 63), "cnt": (6, 15), "dieId": (10, 63)},
    ("LOW_POWER", "head"): {"funcType": (0, 63), "cnt": (6, 15), "dieId": (10, 63)},
    ("LOW_POWER_V6", "head"): {"funcType": (0, 63), "cnt": (6, 15), "dieId": (10, 63)},
    ("STARS_QOS", "head"): {"funcType": (0, 63), "cnt": (6, 15), "dieId": (10, 63)},
}


def test_bits_are_where_the_document_has_them() -> None:
    found: dict[tuple[str, str], Mapping[str, tuple[int, int]]] = {}
    for name in DEVICE:
        for one in getattr(records, name).subcons:
            try:
                found[name, one.name] = bit_fields(one)
            except ValueError:
                continue
    assert found == BITS


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
