"""Sizes and offsets of what devices write.

Transcribed from raw-prof.md 4.7 to 4.9; nothing of them comes from the declarations.
"""

from __future__ import annotations

from collections.abc import Mapping

from raw_host_offsets import Offsets

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

DEVICE: Mapping[str, tuple[int, Offsets]] = {
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
    # Erratum U16: BiuCoreParser splits these into two records, a quarter of each in turn.
    "BIU_CUBE": (
        96,
        {f"flow{at}": (32 + 16 * at, 8) for at in range(4)}
        | {f"cycles{at}": (40 + 16 * at, 8) for at in range(4)},
    ),
    "BIU_VECTOR": (64, {f"cycles{at}": (32 + 8 * at, 8) for at in range(4)}),
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
            # Erratum U21: raw-prof 4.8 has these the other way round.
            "ddrId": (12, 4),
            "masterId": (16, 4),
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
    "LOW_POWER_V6": (64, {**SOC, "lpSampleInfo": (24, 40)}),
    "STARS_QOS": (64, {**SOC, "qosBwData": (24, 40)}),
}
