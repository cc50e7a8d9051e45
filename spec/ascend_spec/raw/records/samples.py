"""What the device samples of itself again and again: memory, links, dies.

The unit of a time differs by file (raw-prof 3.5): microseconds since the start of the device,
nanoseconds of its monotonic clock, or ticks of a counter.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from construct import (
    Array,
    BitsInteger,
    Construct,
    Int16ul,
    Int32ul,
    Int64ul,
    Padding,
    Struct,
)

from ascend_spec.core.packed import record

from .forms import DERIVED, UNRECORDED, Shows, bits
from .stars import acc_head, counter, die_head, observed, plain_head

SINCE_START = "When it was sampled, since the start of the device."
MONOTONIC = "When it was sampled, by the monotonic clock of the device."
COUNTED = "When it was sampled, by the counter of the device."

UNIX = "When it was sampled, as Unix time."

DIRECTIONS = "memory_directions"
OWNERS = "memory_owners"
"""Sets of values."""
_DIRECTION = "0 read, 1 write."

_START: Any = {"unit": "us", "clock": "device-start"}
_UNIX: Any = {"unit": "ns", "clock": "unix"}

_ROW = ("raw-prof 4.8",)


def _parts(source: str) -> Any:
    return partial(observed, source=(*_ROW, f"upstream-msprof {source}"))


def _hbm(source: str, size: int, *order: str) -> Struct:
    part = _parts(source)
    fields = {
        "timestamp": part("timestamp", Int64ul, SINCE_START, shows="hbm.time", **_START),
        "absolute": part("timestamp", Int64ul, UNIX, shows="hbm.time", **_UNIX),
        "count": part("count", Int64ul, "Pieces of 32 bytes since the last sample.", shows=DERIVED),
        "event": part("eventType", Int32ul, _DIRECTION, shows="hbm.direction", values=DIRECTIONS),
        "unit": part("hbmId", Int32ul, "Number of the stack.", shows="hbm.unit"),
        "gap": Padding(8),
    }
    return record(size, *(fields[one] for one in order))


HBM = _hbm("HBM_FMT", 24, "timestamp", "count", "event", "unit")
"""Layout 1.0 of ``info.json``."""

HBM_V2 = _hbm("HBM_FMT_V2", 32, "gap", "event", "unit", "count", "absolute")
"""Layout 2.0 of ``info.json``."""

_llc = _parts("LLC_FMT")
_llc_v2 = _parts("LLC_FMT_V2")
_EVENT = "Event, as sample.json chooses them: of reads, writes or capacity."

LLC = record(
    24,
    _llc("timestamp", Int64ul, SINCE_START, shows="llc.time", **_START),
    _llc("count", Int64ul, "Events since the last sample.", shows=DERIVED),
    _llc("eventId", Int32ul, _EVENT, shows=DERIVED),
    _llc("l3tId", Int32ul, "Part of the cache.", shows="llc.unit"),
)
"""Layout 1.0 of ``info.json``."""

LLC_V2 = record(
    24,
    Padding(4),
    _llc_v2("count", Int32ul, "Events since the last sample.", shows=DERIVED),
    _llc_v2("eventId", Int32ul, _EVENT, shows=DERIVED),
    _llc_v2("l3tId", Int32ul, "Part of the cache.", shows="llc.unit"),
    _llc_v2("timestamp", Int64ul, UNIX, shows="llc.time", **_UNIX),
)
"""Layout 2.0 of ``info.json``."""

_ddr = _parts("DDR_FMT")

DDR = record(
    20,
    _ddr("timestamp", Int32ul, SINCE_START, shows="ddr.time", **_START),
    _ddr("count", Int32ul, "Events since the last sample.", shows=DERIVED),
    _ddr("eventType", Int32ul, _DIRECTION, shows=DERIVED, values=DIRECTIONS),
    _ddr("ddrId", Int32ul, "Number of the controller.", shows=UNRECORDED, errata=("U21",)),
    _ddr(
        "masterId",
        Int32ul,
        "Who used the memory; all ones for everybody, whose records alone exporters show.",
        shows=UNRECORDED,
        errata=("U21",),
    ),
)

_pcie = _parts("PCIE_FMT")


def _three(name: str, shown: str, summary: str) -> tuple[Construct, ...]:
    words = {"min": "least", "max": "greatest", "avg": "mean"}
    return tuple(
        _pcie(
            f"{name}_{part}",
            Int32ul,
            f"{summary}, {word} of the interval.",
            shows=f"pcie.{shown}_{part}",
        )
        for part, word in words.items()
    )


PCIE = record(
    96,
    _pcie("timestamp", Int64ul, MONOTONIC, shows="pcie.time", unit="ns", clock="device-monotonic"),
    _pcie("deviceId", Int32ul, "Device.", shows="pcie.device"),
    *_three("tx_p_bandwidth", "tx_post", "Posted writes that were sent"),
    *_three("tx_np_bandwidth", "tx_nonpost", "Reads that were sent"),
    *_three("tx_cpl_bandwidth", "tx_cpl", "Completions that were sent"),
    *_three("tx_np_latency", "tx_nonpost_latency", "Latency of reads that were sent"),
    *_three("rx_p_bandwidth", "rx_post", "Posted writes that came in"),
    *_three("rx_np_bandwidth", "rx_nonpost", "Reads that came in"),
    *_three("rx_cpl_bandwidth", "rx_cpl", "Completions that came in"),
)

QOS_STREAMS = 10
"""Places for bandwidths; those are in use that ``qosEvents`` of ``sample.json`` names."""

_qos = _parts("QOS_FMT")

QOS = record(
    64,
    Padding(16),
    _qos("timestamp", Int64ul, COUNTED, shows="qos.time", unit="tick", clock="device-counter"),
    _qos(
        "bandwidth",
        Array(QOS_STREAMS, Int32ul),
        "Bandwidth of each stream that sample.json names.",
        shows="qos.bandwidth",
        unit="MB/s",
    ),
)


def _npu_mem(source: str, *times: Construct) -> Struct:
    part = _parts(source)
    return record(
        32,
        *times[:1],
        part(
            "event",
            Int32ul,
            "0 the program, 1 the whole device.",
            shows="process_memory.owner",
            values=OWNERS,
        ),
        *times[1:],
        part("ddr", Int64ul, "Memory in use.", shows="process_memory.ddr", unit="Byte"),
        part(
            "hbm", Int64ul, "High bandwidth memory in use.", shows="process_memory.hbm", unit="Byte"
        ),
    )


_npu = _parts("NPU_MEM_FMT")

NPU_MEM = _npu_mem(
    "NPU_MEM_FMT",
    _npu("timestamp", Int32ul, SINCE_START, shows="process_memory.time", **_START),
    Padding(8),
)
"""Layout 1.0 of ``info.json``; the time begins again after 71 minutes."""

NPU_MEM_V2 = _npu_mem(
    "NPU_MEM_FMT",
    Padding(4),
    _npu("timestamp", Int64ul, SINCE_START, shows="process_memory.time", **_START),
)
"""Layout 2.0 of ``info.json``."""

_module = _parts("NPU_MODULE_MEM_FMT")

NPU_MODULE_MEM = record(
    24,
    _module("moduleId", Int32ul, "Module.", shows="module_memory.module", values="ENUM_MODULE"),
    Padding(4),
    _module(
        "timestamp",
        Int64ul,
        "When it was sampled, by the counter of the host.",
        shows="module_memory.time",
        unit="tick",
        clock="host-counter",
    ),
    _module(
        "totalSize", Int64ul, "Memory of the module.", shows="module_memory.reserved", unit="Byte"
    ),
)

_ub = partial(observed, source=(*_ROW, "upstream-msprof UB_FMT", "upstream-msprof UbProcessor"))


def _port(way: str, word: str) -> tuple[Construct, ...]:
    names = ("PortBandwidth", "PacketRate", "Bytes", "Packets", "Errors", "Dropped")
    words = (
        "Bandwidth of the port",
        "Packets in each second",
        "Bytes",
        "Packets",
        "Packets with errors",
        "Packets that were dropped",
    )
    return tuple(
        _ub(f"{way}{name}", Int64ul, f"{text}, {word}.", shows=UNRECORDED)
        for name, text in zip(names, words, strict=True)
    )


UB = record(
    128,
    Padding(4),
    _ub("portId", Int16ul, "Port.", shows="ub.port"),
    Padding(2),
    _ub("timestamp", Int64ul, SINCE_START, shows="ub.time", **_START),
    _ub("udmaRxBind", Int64ul, "Bandwidth of UDMA, received.", shows="ub.received", unit="MB/s"),
    _ub("udmaTxBind", Int64ul, "Bandwidth of UDMA, sent.", shows="ub.sent", unit="MB/s"),
    *_port("rx", "received"),
    *_port("tx", "sent"),
)
"""Ports of the unified bus; chips 15 and 16."""

CCU_RANKS = 16
"""Ranks that one mission waits for at most."""

_ccu = _parts("CCU_MISSION_FMT")

CCU_INSTR = record(
    64,
    _ccu(
        "relEndTime",
        Array(CCU_RANKS, Int16ul),
        "End of the wait for each rank, the last rank first, in fours of ticks after its start.",
        shows="ccu_mission.notify_duration",
    ),
    _ccu("setckebitStartTime", Int64ul, "Start of the wait.", shows=UNRECORDED, unit="tick"),
    _ccu(
        "setckebitInstrId",
        Int16ul,
        "Instruction that waits.",
        shows="ccu_mission.notify_instruction_id",
    ),
    _ccu("lpEndTime", Int64ul, "End of the loop.", shows=DERIVED, unit="tick"),
    _ccu(
        "lpStartTime",
        Int64ul,
        "Start of the loop.",
        shows="ccu_mission.instruction_start_time",
        unit="tick",
    ),
    _ccu("lpInstrId", Int16ul, "Instruction of the loop.", shows="ccu_mission.instruction_id"),
    _ccu("streamId", Int16ul, "Lower half of the task.", shows="ccu_mission.stream_id"),
    _ccu("taskId", Int16ul, "Upper half of the task.", shows="ccu_mission.task_id"),
)
"""A mission of the CCU; chips 15 and 16."""

_stat = partial(
    observed, source=(*_ROW, "upstream-msprof CCU_CHANNEL_FMT", "upstream-msprof CCUChannelViewer")
)

CCU_STAT = record(
    2816,
    _stat(
        "words",
        Array(704, Int32ul),
        "128 channels with their time and the mean, least and greatest delay of a package of 4096 "
        "bytes, at uneven distances.",
        shows=DERIVED,
        unit="tick",
    ),
)
"""Channels of the CCU; chips 15 and 16."""

_SOC = ("raw-prof 4.9",)


def _soc(source: str) -> tuple[tuple[str, ...], Any]:
    sources = (*_SOC, f"upstream-msprof {source}")
    return sources, partial(observed, source=sources)


_ACC, _acc = _soc("AccPmu")

ACC_PMU = record(
    64,
    *plain_head(_ACC, "soc_kinds"),
    Padding(4),
    counter(_ACC, COUNTED, shows="accelerator_level.time"),
    Padding(2),
    _acc("accId", Int16ul, "Accelerator.", shows="accelerator_level.accelerator"),
    Padding(12),
    _acc(
        "writeBandwidth", Int64ul, "Bandwidth, writing.", shows="accelerator_level.write_bandwidth"
    ),
    _acc("readBandwidth", Int64ul, "Bandwidth, reading.", shows="accelerator_level.read_bandwidth"),
    _acc("writeOst", Int64ul, "Open requests to write.", shows="accelerator_level.write_requests"),
    _acc("readOst", Int64ul, "Open requests to read.", shows="accelerator_level.read_requests"),
)
"""funcType 26."""

_INTER, _inter = _soc("InterSoc")

INTER_SOC = record(
    64,
    *acc_head(_INTER),
    Padding(4),
    counter(_INTER, COUNTED, name="sysCnt", shows="soc_level.time"),
    Padding(16),
    _inter(
        "levels",
        bits(
            Padding(5),
            _inter(
                "l2BufferBwLevel",
                BitsInteger(8),
                "Level of the second-level buffer.",
                shows="soc_level.l2_buffer",
                errata=("U5",),
            ),
            _inter(
                "mataBwLevel",
                BitsInteger(3),
                "Level of the memory controller.",
                shows="soc_level.mata",
                errata=("U5",),
            ),
        ),
        "Both levels; the word has no name of its own.",
    ),
    Padding(30),
)
"""funcType 28; chips 5, 7, 8 and 11."""


def _sio(source: str, *between: Construct, gap: Construct | None = None) -> tuple[Construct, ...]:
    part = _soc(source)[1]
    words = {"rx": "received", "tx": "sent"}

    def four(way: str) -> tuple[Construct, ...]:
        return tuple(
            part(
                f"{one}{way.capitalize()}",
                Int32ul,
                f"{word} since the last sample, {words[way]}.",
                shows=f"sio.{way}_{one}",
            )
            for one, word in _SIO.items()
        )

    return (*four("rx"), *([gap] if gap else []), *four("tx"))


_SIO = {"req": "Requests", "rsp": "Responses", "snp": "Snoops", "dat": "Data"}
_SIO_SOURCE, _sio_part = _soc("SioDecoderImpl")

SIO = record(
    64,
    *plain_head(_SIO_SOURCE, "soc_kinds"),
    Padding(4),
    counter(_SIO_SOURCE, COUNTED, name="sysCnt", shows="sio.time"),
    Padding(2),
    _sio_part("accId", Int16ul, "Die.", shows="sio.channel", values="sio_dies"),
    Padding(12),
    *_sio("SioDecoderImpl"),
)
"""funcType 25; chips 5, 7, 8 and 11."""

_SIO_V6 = _soc("SioDecoderV6")[0]

SIO_V6 = record(
    64,
    *die_head(_SIO_V6, die="sio.channel", values="sio_dies_v6"),
    Padding(4),
    counter(_SIO_V6, COUNTED, name="sysCnt", shows="sio.time"),
    Padding(12),
    *_sio("SioDecoderV6", gap=Padding(4)),
)
"""funcType 25; chips 15 and 16."""

_TRANS, _trans = _soc("StarsChipTransBean")

CHIP_TRANS = record(
    64,
    *acc_head(_TRANS),
    Padding(4),
    counter(_TRANS, COUNTED, name="sysCnt", shows="pa_link.time"),
    Padding(2),
    _trans("eventId", Int16ul, "Link, in its lower six bits.", shows="pa_link.link"),
    Padding(12),
    _trans(
        "rxOrWrite",
        Int64ul,
        "Received by a link of PA, or written by PCIe.",
        shows="pa_link.received",
    ),
    _trans("txOrRead", Int64ul, "Sent by a link of PA, or read by PCIe.", shows="pa_link.sent"),
    Padding(16),
)
"""funcType 27; chips 5, 7, 8 and 11. ``accType`` says of which kind the link is."""

PA_LINK, PCIE_LINK = 0b111111, 0b100010
"""``accType`` of a link of PA, and of PCIe."""

LINK_BITS = 6
"""Those of ``eventId`` that hold the link."""

_TRANS_V6, _trans_v6 = _soc("StarsChipTransV6Bean")

CHIP_TRANS_V6 = record(
    64,
    *die_head(_TRANS_V6, die="pcie_link.link"),
    Padding(4),
    counter(_TRANS_V6, COUNTED, name="sysCnt", shows="pcie_link.time"),
    _trans_v6("writeBandwidth", Int64ul, "Written by PCIe.", shows="pcie_link.written"),
    _trans_v6("readBandwidth", Int64ul, "Read by PCIe.", shows="pcie_link.read"),
    Padding(32),
)
"""funcType 27; chips 15 and 16."""

NO_BANDWIDTH = (1 << 64) - 1
"""In place of a bandwidth where the chip failed to report it; readers leave such a record out."""

_POWER, _power = _soc("LowPowerBean")

_POWER_SAMPLES = 20

CORE_CLOCK = 11
"""Where among the samples of power the clock of the cores stands, as the software has set it: the
eleventh sample, exchanged with the twelfth (upstream-msprof LowPowerViewer)."""

CORE_DIES = (0, 1)
"""The dies that have cores; the samples of the others are of other things."""


def _low_power(die: Shows, time: Shows, samples: Shows, summary: str) -> Struct:
    return record(
        64,
        *die_head(_POWER, die=die),
        Padding(4),
        counter(_POWER, COUNTED, name="sysCnt", shows=time),
        Padding(8),
        _power("lpSampleInfo", Array(_POWER_SAMPLES, Int16ul), summary, shows=samples),
    )


_EXCHANGED = "Samples; the two of each pair are exchanged."

LOW_POWER = _low_power(UNRECORDED, UNRECORDED, UNRECORDED, _EXCHANGED)
"""funcType 29; chips 5, 7, 8 and 11."""

LOW_POWER_V6 = _low_power(
    "core_clock.die",
    "core_clock.time",
    "core_clock.frequency",
    f"{_EXCHANGED} The eleventh one is the clock of the cores in MHz.",
)
"""funcType 29; chips 15 and 16."""

_STARS_QOS, _stars_qos = _soc("StarsQosBean")

STARS_QOS_FIRST = 2
"""Where the bandwidths of named streams begin (upstream-msprof QosProcessor)."""

STARS_QOS = record(
    64,
    *die_head(_STARS_QOS, die="qos.die"),
    Padding(4),
    counter(_STARS_QOS, COUNTED, name="sysCnt", shows="qos.time"),
    Padding(8),
    _stars_qos(
        "qosBwData",
        Array(QOS_STREAMS, Int32ul),
        "Bandwidths; from the third one on those of the streams that sample.json names.",
        shows="qos.bandwidth",
        unit="MB/s",
    ),
)
"""funcType 24; chips 15 and 16."""
