"""What the counters of cores, caches and the chip have counted, by task, by block and by time.

Which events the counters count stands in ``sample.json``, in the order of the counters.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from construct import (
    Array,
    BitsInteger,
    BitStruct,
    Construct,
    Int8ul,
    Int16ul,
    Int32ul,
    Int64ul,
    Padding,
    Struct,
)

from ascend_spec.core.packed import record

from .forms import CONSTANT, DERIVED, UNRECORDED, bits
from .stars import (
    PMU_COUNTERS,
    PMU_COUNTERS_V6,
    core,
    counter,
    device_magic,
    ffts_mode,
    observed,
    plain_head,
    task_ids,
    unique_task,
)

LPM_SAMPLES = 55
"""Places for samples in a record of frequencies; its first number states how many are in use."""

_CYCLES = "Cycles of the core while it ran the task."
_START = "When the core began."
_END = "When the core ended."

_CONTEXT = ("raw-prof 4.7", "upstream-msprof ContextPmu")
_context = partial(observed, source=_CONTEXT)


def _pmu(source: tuple[str, ...], number: int) -> Construct:
    return observed(
        "pmuList",
        Array(number, Int64ul),
        "Events, in the order of the list in sample.json.",
        source=source,
        shows="counter.value",
    )


def _span(source: tuple[str, ...]) -> tuple[Construct, ...]:
    """First and last time of a core; upstream has them as one list, timeList."""
    return (
        counter(source, _START, name="startTime", shows=UNRECORDED),
        counter(source, _END, name="endTime", shows=UNRECORDED),
    )


CONTEXT_PMU = record(
    128,
    *plain_head(_CONTEXT, "profile_kinds"),
    *task_ids(_CONTEXT),
    Padding(8),
    _context(
        "subTask",
        bits(
            Padding(5),
            _context("ovFlag", BitsInteger(1), "1 where a counter overflowed.", shows=UNRECORDED),
            Padding(2),
            _context(
                "subTaskType",
                BitsInteger(8),
                "Kind of the sub-task.",
                shows=DERIVED,
                values="sub_tasks",
                errata=("U2",),
            ),
        ),
        "Kind and overflow; the word has no name of its own.",
    ),
    _context(
        "subTaskId", Int16ul, "Sub-task, where the task is one of FFTS+.", shows="task.context"
    ),
    ffts_mode(_CONTEXT, "Kind of core, or how the task is made of sub-tasks."),
    _context("threadId", Int16ul, "Thread of the sub-task.", shows=UNRECORDED),
    Padding(8),
    _context("totalCycle", Int64ul, _CYCLES, shows="counter.value"),
    _context("ovCycle", Int64ul, "Cycles until a counter overflowed.", shows=UNRECORDED),
    _pmu(_CONTEXT, PMU_COUNTERS),
    *_span(_CONTEXT),
)
"""funcType 40: the counters of a task; chips 5, 7, 8 and 11."""

_BLOCK = ("raw-prof 4.7", "upstream-msprof BlockPmu")
_block = partial(observed, source=_BLOCK)

BLOCK_PMU = record(
    128,
    *plain_head(_BLOCK, "profile_kinds"),
    *task_ids(_BLOCK),
    Padding(8),
    _block("subTaskType", Int8ul, "Kind of the sub-task.", shows=DERIVED, values="sub_tasks"),
    Padding(1),
    _block("subTaskId", Int16ul, "Number of the sub-task.", shows="task.context"),
    _block(
        "core",
        BitStruct(
            _block("coreId", BitsInteger(7), "Number of the core.", shows=UNRECORDED),
            _block("coreType", BitsInteger(1), "0 cube, 1 vector.", shows=UNRECORDED),
        ),
        "The core; the byte has no name of its own.",
    ),
    _block(
        "mode",
        BitStruct(
            _block(
                "fftsType",
                BitsInteger(3),
                "Kind of core, or how the task is made of sub-tasks.",
                shows=DERIVED,
                values="ffts_types",
            ),
            Padding(5),
        ),
        "Way of threading; the byte has no name of its own.",
    ),
    Padding(6),
    _block("subBlockId", Int16ul, "Part of the block.", shows=UNRECORDED),
    _block("blockId", Int16ul, "Number of the block.", shows=UNRECORDED),
    _block(
        "totalCycle", Int64ul, "Cycles of the core while it ran the block.", shows="counter.value"
    ),
    Padding(8),
    _pmu(_BLOCK, PMU_COUNTERS),
    *_span(_BLOCK),
)
"""funcType 41: the counters of a block; chips 5, 7, 8 and 11.

Exporters add those of the other kind of core than the task's own.
"""

_V6 = ("raw-prof 4.7", "upstream-msprof PmuBeanV6")
_v6 = partial(observed, source=_V6)

PMU_V6 = record(
    128,
    *plain_head(_V6, "profile_kinds"),
    unique_task(_V6),
    _v6("totalCycle", Int64ul, _CYCLES, shows="counter.value"),
    _v6("cxtType", Int8ul, "Kind of the context.", shows=UNRECORDED),
    _v6(
        "flags",
        BitStruct(
            Padding(5),
            _v6(
                "ovFlag",
                BitsInteger(1),
                "1 where a counter overflowed.",
                shows=UNRECORDED,
                errata=("U2",),
            ),
            _v6("mix", BitsInteger(1), "1 of a kernel on both kinds of cores.", shows=DERIVED),
            _v6("mst", BitsInteger(1), "1 of the main block.", shows=UNRECORDED),
        ),
        "Overflow and kind of block; the byte has no name of its own.",
    ),
    Padding(2),
    *core(_V6),
    Padding(2),
    _v6("subBlockId", Int16ul, "Part of the block.", shows=UNRECORDED),
    _v6("blockId", Int16ul, "Number of the block.", shows=UNRECORDED),
    Padding(4),
    _pmu(_V6, PMU_COUNTERS_V6),
    *_span(_V6),
)
"""funcType 42: the counters of a task; chips 15 and 16."""

_AICORE = ("raw-prof 4.7", "upstream-msprof AicPmuBean")
_aicore = partial(observed, source=_AICORE)

AICORE_PMU = record(
    128,
    _aicore(
        "head",
        BitStruct(
            _aicore(
                "cnt",
                BitsInteger(4),
                "Number of the record in its file, modulo 16; a gap means lost records.",
                shows=DERIVED,
            ),
            Padding(4),
        ),
        "Number of the record; the byte has no name of its own.",
    ),
    Padding(1),
    device_magic(_AICORE),
    _aicore("blockId", Int16ul, "Number of the block.", shows=UNRECORDED),
    _aicore("taskId", Int16ul, "Task in its stream.", shows="task.number"),
    Padding(8),
    _aicore("totalCycle", Int64ul, _CYCLES, shows="counter.value"),
    _aicore("ovCycle", Int64ul, "Cycles until a counter overflowed.", shows=UNRECORDED),
    _pmu(_AICORE, PMU_COUNTERS),
    _aicore("streamId", Int32ul, "Stream of the task.", shows="task.stream"),
    Padding(28),
)
"""The counters of a task; chips 1 to 4."""


def _sample(source: str, size: int, counters: int, **time: Any) -> Struct:
    """The counters of a core at one moment. Readers stop at a record whose first byte is 0."""
    sources = ("raw-prof 4.7", f"upstream-msprof {source}")
    part = partial(observed, source=sources)
    return record(
        size,
        part("mode", Int8ul, "Never 0.", shows=CONSTANT),
        Padding(1),
        device_magic(sources),
        Padding(4),
        part(
            "eventCount",
            Array(counters, Int64ul),
            "Events since the last sample, in the order of the list in sample.json.",
            shows="core_summary.value",
        ),
        part("taskCyc", Int64ul, "Cycles in which the core worked.", shows="core_load.cycles"),
        part(
            "timestamp",
            Int64ul,
            "When it was sampled.",
            shows="core_load.time",
            **time,
        ),
        part("countNum", Int8ul, "Counters in use.", shows=CONSTANT),
        part("coreId", Int8ul, "Number of the core, cubes before vectors.", shows="core_load.core"),
        Padding(6),
    )


SAMPLE_PMU = _sample("AICORE_SAMPLE_FMT", 96, PMU_COUNTERS, unit="ns", clock="device-monotonic")
SAMPLE_PMU_V6 = _sample(
    "AICORE_SAMPLE_V6_FMT", 112, PMU_COUNTERS_V6, unit="tick", clock="device-counter"
)

_L2 = ("raw-prof 4.7", "upstream-msprof L2_CACHE_STRUCT_FMT")
_l2 = partial(observed, source=_L2)

L2_CACHE = record(
    72,
    _l2("taskType", Int16ul, "Kind of the task.", shows=UNRECORDED),
    _l2("streamId", Int16ul, "Stream of the task.", shows="l2_cache.stream"),
    _l2("taskId", Int16ul, "Task in its stream.", shows="l2_cache.number"),
    Padding(2),
    _l2(
        "events",
        Array(PMU_COUNTERS, Int64ul),
        "Events of the cache, in the order of the list in sample.json.",
        shows=DERIVED,
    ),
)
"""Events of the second-level cache during a task."""

_SOC = ("raw-prof 4.7", "upstream-msprof SOC_PMU_FMT")
_soc = partial(observed, source=_SOC)
_SOC_TYPES = (
    _soc("taskType", Int16ul, "Kind of the task.", shows=UNRECORDED),
    _soc("streamId", Int16ul, "Stream of the task.", shows="soc_pmu.stream"),
)
CACHE_DATA, TLB_DATA, FAULT_DATA = 1, 2, 4
"""Kinds of records of ``socpmu.data``: of the L2 cache, of the TLB, of page faults, whose number
is the first event (upstream-msprof SocPmuParser, PageFaultProcessor)."""
_SOC_DATA = _soc("dataType", Int16ul, "Kind of the record.", shows=CONSTANT)
_SOC_EVENTS = _soc(
    "events", Array(PMU_COUNTERS, Int64ul), "Events of the memory management.", shows=DERIVED
)

SOC_PMU = record(
    80,
    Padding(8),
    *_SOC_TYPES,
    _soc("taskId", Int16ul, "Task in its stream.", shows="soc_pmu.number"),
    _SOC_DATA,
    _SOC_EVENTS,
)
SOC_PMU_V6 = record(
    80,
    Padding(6),
    _SOC_DATA,
    *_SOC_TYPES,
    _soc("taskId", Int32ul, "Task.", shows="soc_pmu.number"),
    _SOC_EVENTS,
)


def _lpm(source: str, second: Construct, *sample: Construct) -> Struct:
    """A number of samples, something of four bytes, and 55 places of 16 bytes."""
    part = partial(observed, source=("raw-prof 4.7", f"upstream-msprof {source}"))
    return record(
        888,
        part("count", Int32ul, "Samples in use, at most 55.", shows=DERIVED),
        second,
        part("lpmDataS", Array(LPM_SAMPLES, Struct(*sample)), "The samples, earliest first."),
    )


_FREQ = ("raw-prof 4.7", "upstream-msprof FreqData")
_freq = partial(observed, source=_FREQ)

LPM_FREQ = _lpm(
    "FreqData",
    Padding(4),
    counter(_FREQ, "When the frequency changed.", name="sysCnt", shows="core_clock.time"),
    _freq("freq", Int32ul, "Clock of the cores.", shows="core_clock.frequency", unit="MHz"),
    Padding(4),
)
"""Clock of the cores; before the first sample that of ``info.json`` holds."""

_INFO = ("raw-prof 4.7", "upstream-msprof LPM_INFO_FMT")
_info = partial(observed, source=_INFO)

LPM_INFO = _lpm(
    "LPM_INFO_FMT",
    _info("type", Int32ul, "What the samples measure.", shows="voltage.supply", values="lpm_types"),
    counter(_INFO, "When it changed.", name="sysCnt", shows="voltage.time"),
    _info("value", Int32ul, "Voltage in mV, or the clock in MHz.", shows="voltage.millivolts"),
    Padding(4),
)
"""Voltages of the chip; the same bytes as :data:`LPM_FREQ` but for the type."""

SCHEDULER_MAGIC = 0xABABABAB
"""Of the records of the scheduler's CPU."""

BACKTRACE = 20
"""Addresses of one call stack."""

_TSCPU = ("raw-prof 4.7", "upstream-msprof TSCPU_FMT")
_tscpu = partial(observed, source=_TSCPU)

TSCPU = record(
    304,
    _tscpu("header", Int32ul, "0xABABABAB.", shows=CONSTANT),
    Padding(4),
    _tscpu(
        "perfBacktrace", Array(BACKTRACE, Int64ul), "Call stack, as addresses.", shows=UNRECORDED
    ),
    Padding(8),
    _tscpu("pc", Int64ul, "Address of the instruction.", shows="ts_cpu_top_function.function"),
    _tscpu("timestamp", Int64ul, "When it was taken.", shows=UNRECORDED),
    _tscpu(
        "pmuData",
        Array(14, Int64ul),
        "Numbers of events, each with how often it occurred.",
        shows="ts_cpu_pmu_events.count",
    ),
)
"""Counters of the CPU of the task scheduler."""

_BIU = ("raw-prof 2.2", "upstream-msprof BIU_PERF_FMT", "upstream-msprof BiuPerfChip6Parser")
_biu = partial(observed, source=_BIU, shows=UNRECORDED)

BIU_INSTR_V6 = record(
    4,
    _biu("sysCnt", Int16ul, "Cycles of the core that passed, or bits of the counter."),
    _biu(
        "instruction",
        bits(
            _biu("ctrlType", BitsInteger(4), "Kind of the word.", values="traced_words"),
            _biu("events", BitsInteger(12), "Pipes that work, or what the program has set."),
        ),
        "Kind and events; the word has no name of its own.",
    ),
)
"""One word of the trace of instructions; chips 15 and 16."""

_MONITOR_FLOW = ("raw-prof 2.2", "upstream-msprof BiuCoreParser", "upstream-msprof FLOW_FMT")
_MONITOR_CYCLES = ("raw-prof 2.2", "upstream-msprof BiuCoreParser", "upstream-msprof CYCLES_FMT")
_WORD = "A quarter of the record; the word has no name of its own."
CYCLE_BITS, FLOW_BITS = 12, 24
"""Of a counter of cycles, which goes on from sample to sample, and of traffic in a period."""


def _parts(name: str, source: tuple[str, ...], *parts: tuple[str, int, str] | int) -> Construct:
    """A word of 64 bits by its parts, the highest first; a number is so many bits of no meaning."""
    return observed(
        name,
        bits(
            *(
                Padding(one)
                if isinstance(one, int)
                else observed(one[0], BitsInteger(one[1]), one[2], source=source, shows=UNRECORDED)
                for one in parts
            )
        ),
        _WORD,
        source=source,
        shows=UNRECORDED,
    )


_TRAFFIC = (
    _parts(
        "flow0",
        _MONITOR_FLOW,
        ("stat_wlat_raw_low", 8, "Cycles that writing was waited for, the lowest bits."),
        ("stat_rlat_raw", 24, "Cycles that reading was waited for."),
        ("stat_wcmd_num", 16, "Requests to write."),
        ("stat_rcmd_num", 16, "Requests to read."),
    ),
    _parts(
        "flow1",
        _MONITOR_FLOW,
        ("stat_flux_wr", 24, "Data written."),
        ("stat_flux_rd", 24, "Data read."),
        ("stat_wlat_raw_high", 16, "Cycles that writing was waited for, the other bits."),
    ),
    _parts(
        "flow2",
        _MONITOR_FLOW,
        ("timestamp_low", 16, "When it was measured, the lowest bits."),
        ("stat_flux_wr_l2", 24, "Data written to the L2 cache."),
        ("stat_flux_rd_l2", 24, "Data read from the L2 cache."),
    ),
    _parts(
        "flow3",
        _MONITOR_FLOW,
        ("l2_cache_hit", 16, "Hits of the L2 cache."),
        ("timestamp_high", 48, "When it was measured, the other bits."),
    ),
)
_PIPES = (
    _parts(
        "cycles0",
        _MONITOR_CYCLES,
        ("lsu3_cycles_low", 4, "Cycles of transfers out of the core, the lowest bits."),
        ("lsu2_cycles", 12, "Cycles of transfers from memory on the chip."),
        ("lsu1_cycles", 12, "Cycles of transfers from L1."),
        ("cube_cycles", 12, "Cycles of the matrix unit."),
        ("scalar_cycles", 12, "Cycles of the scalar unit."),
        ("vector_cycles", 12, "Cycles of the vector unit."),
    ),
    _parts(
        "cycles1",
        _MONITOR_CYCLES,
        20,
        ("timestamp_lsb1", 12, "When it was measured, bits 12 to 23."),
        ("timestamp_lsb0", 12, "When it was measured, bits 0 to 11."),
        12,
        ("lsu3_cycles_high", 8, "Cycles of transfers out of the core, the other bits."),
    ),
    _parts(
        "cycles2",
        _MONITOR_CYCLES,
        ("timestamp_msb1", 12, "When it was measured, bits 36 to 47."),
        ("timestamp_msb0", 12, "When it was measured, bits 24 to 35."),
        40,
    ),
    _parts(
        "cycles3",
        _MONITOR_CYCLES,
        ("timestamp_msb2", 16, "When it was measured, bits 48 to 63."),
        48,
    ),
)

BIU_CUBE = record(
    96,
    Padding(32),
    *(word for pair in zip(_TRAFFIC, _PIPES, strict=True) for word in pair),
)
"""Traffic and cycles of a group's cube core, two records of 32 bytes, a quarter of each in turn;
chips 5 to 11. The time of the cycles is that of the traffic.
"""

BIU_VECTOR = record(64, Padding(32), *_PIPES)
"""Cycles of a vector core of a group; chips 5 to 11."""
