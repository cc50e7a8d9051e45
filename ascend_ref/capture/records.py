"""Records: what text deliverables show and no database has a table for, by the name of the file.

Their columns are our own names, declared here once; the files show what follows from them. Facts:
seed 001 and text-outputs.md 3 (files), raw-prof.md 4 and ge-profiling.md 3.4 (what is recorded).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy.typing as npt

Records: TypeAlias = Mapping[str, Mapping[str, npt.NDArray[Any]]]
"""Columns by record and name; all int64, of equal length within a record."""

TOTAL = "TOTAL"
"""The name of the memory of a whole graph in ``static_op_mem`` (upstream-msprof
StaticOpMemParser)."""
WHOLE_GRAPH = "0"
"""In place of the name of a part of a graph there."""
NEXT_BATCH = "GetNext_dequeue_wait"
"""The name of readings of prepared data in ``aicpu_mi`` (upstream-msprof AicpuMiBean)."""

FIRST_VECTOR_CORE = 25
"""The number of the first vector core in ``biu_cycles`` (raw-prof 2.2)."""
VECTOR_CORES = 2
"""Of a group of cores."""

Kind = Literal["device", "text", "time", "length", "size", "number"]
"""What a column holds: a device (NONE is the host), a number of Capture.texts (NONE without one),
Unix ns (NONE: unknown), ns, Byte, or a plain number."""


class Record(NamedTuple):
    """What one record holds. Rows are in order of time, or as the summary says."""

    summary: str
    columns: Mapping[str, Kind]

    @property
    def texts(self) -> tuple[str, ...]:
        """The columns that hold numbers of texts."""
        return tuple(name for name, kind in self.columns.items() if kind == "text")


def _record(summary: str, names: Mapping[Kind, str]) -> Record:
    """A record from the names of its columns, by kind, of which ``device`` is usual."""
    every: dict[Kind, str] = {"device": "device", **names}
    return Record(summary, {one: kind for kind, own in every.items() for one in own.split()})


_OF_UNITS = "stream_id task_id die mission instruction rank size"
"""What the host states of every instruction: rank and size are those of the group."""

RECORDS: Mapping[str, Record] = {
    "l2_cache": _record(
        "Requests of a kernel to the L2 cache, in lines: how many there were, hit, and drove out "
        "another line. Of a session's first kernel stars chips have no row.",
        {"text": "name", "number": "stream number request hit victim"},
    ),
    "soc_pmu": _record(
        "Translations of addresses for a kernel: how many there were, and were found in the TLB "
        "or not.",
        {"text": "name", "number": "stream number request hit miss"},
    ),
    "page_fault": _record(
        "Pages that were touched for the first time, by a kernel.",
        {"text": "name", "number": "stream number faults"},
    ),
    "aicpu": _record(
        "Runs of AI CPU kernels. time: the kernel begins; task: its own length, preparation, "
        "computing and copying; total: dispatching and scheduling, too. A task ends a bit later.",
        {
            "text": "name",
            "time": "time",
            "length": "compute memcpy task dispatch total",
            "number": "stream number",
        },
    ),
    "aicpu_mi": _record(
        "Batches taken from the queue of prepared data: from asking until having one; size: "
        "batches in the queue when asked.",
        {"text": "name", "time": "start end", "number": "size"},
    ),
    "dp": _record(
        "What the preparation of data on the device did; buffered: batches that it then holds.",
        {"text": "action source", "time": "time", "number": "buffered"},
    ),
    "dvpp": _record(
        "Work of each engine for images and video, in order of type and number; utilization: of "
        "the sampled time, in thousandths of a percent.",
        {"text": "type", "length": "busy", "number": "group engine frames utilization"},
    ),
    "fusion_op": _record(
        "Operators of a compiled graph (model), in its order; originals: those that became one, "
        "joined by ';'.",
        {
            "device": "",
            "text": "model_name name originals",
            "size": "input output weight workspace",
            "number": "model",
        },
    ),
    "static_op_mem": _record(
        "Memory of a compiled graph's operators, from node start until node end (NONE: as long as "
        "the graph); model_name: '0' of a graph without parts. Ends with TOTAL of each graph.",
        {"device": "", "text": "name model_name", "size": "size", "number": "graph start end"},
    ),
    "step_trace": _record(
        "Iterations of a graph, in order of their ends: from its start until its end; fp_start, "
        "bp_end: first forward and last backward operator, NONE where nothing is trained.",
        {"time": "start fp_start bp_end end", "number": "model iteration"},
    ),
    "step_trace_reduce": _record(
        "Sums of gradients in an iteration of step_trace, in order of start.",
        {"time": "start end", "number": "model iteration"},
    ),
    "step_trace_get_next": _record(
        "Readings of data in an iteration of step_trace.",
        {"time": "start end", "number": "model iteration"},
    ),
    "sys_mem": _record(
        "Memory of a device's or the host's system, sampled.",
        {
            "time": "time",
            "size": "total free buffers cached shared commit_limit committed",
            "number": "huge_total huge_free",
        },
    ),
    "process_mem": _record(
        "Memory of the processes on a device or the host, sampled, in pages.",
        {"text": "name", "time": "time", "number": "pid size resident shared"},
    ),
    "cpu_usage": _record(
        "How long each processor has been in each state since its system started, in ticks of "
        "10 ms. type: 'aicpu', 'ctrlcpu', or 'host'.",
        {
            "text": "type",
            "time": "time",
            "number": "cpu user nice sys idle iowait irq soft steal guest guest_nice",
        },
    ),
    "process_cpu_usage": _record(
        "How long each process has run, in ticks of 10 ms; system: what all processors have spent "
        "in all states.",
        {
            "text": "name",
            "time": "time",
            "number": "pid user sys children_user children_sys system",
        },
    ),
    "ai_cpu_top_function": _record(
        "Cycles of AI CPU by function, the most first.",
        {"text": "function module", "number": "cycles"},
    ),
    "ctrl_cpu_top_function": _record(
        "Cycles of Ctrl CPU by function, the most first.",
        {"text": "function module", "number": "cycles"},
    ),
    "ts_cpu_top_function": _record(
        "Cycles of TS CPU by function, the most first; it has no modules.",
        {"text": "function module", "number": "cycles"},
    ),
    "ai_cpu_pmu_events": _record(
        "Counted events of AI CPU.", {"text": "name", "number": "event count"}
    ),
    "ctrl_cpu_pmu_events": _record(
        "Counted events of Ctrl CPU.", {"text": "name", "number": "event count"}
    ),
    "ts_cpu_pmu_events": _record(
        "Counted events of TS CPU.", {"text": "name", "number": "event count"}
    ),
    "biu_flow": _record(
        "What the bus interface of a group of cores (a cube core and two vector cores) did in a "
        "period that begins at time: Byte that it moved, and cycles that were waited for them.",
        {
            "time": "time",
            "number": "group read_bandwidth write_bandwidth read_latency write_latency",
        },
    ),
    "biu_cycles": _record(
        "Cycles that the pipes of a core worked in a period that begins at time. type: 'aic' or "
        "'aiv'; core: cube cores from 0, vector cores from 25; period: its cycles, length: its "
        "ns.",
        {
            "text": "type",
            "time": "time",
            "length": "length",
            "number": "group core period vector scalar cube mte1 mte2 mte3",
        },
    ),
    "biu_perf": _record(
        "When a pipe of a core worked, in order of group, core and end. core: 'aic', 'aiv0' or "
        "'aiv1'; instruction: the pipe; block: what the core worked on; checkpoint: what the "
        "program had set there, NONE where a pipe worked.",
        {
            "text": "core instruction",
            "time": "time",
            "length": "length",
            "number": "group block checkpoint",
        },
    ),
    "ccu_mission": _record(
        "What the units for collective communication ran for a task: loops over channels, and for "
        "each wait a row for each rank, in order of dies and times. Rows of a wait name the loop "
        "before it, NONE without one; a loop has NONE in the columns of waits.",
        {
            "time": "instruction_start_time wait_start",
            "length": "instruction_duration notify_duration",
            "number": "stream_id task_id die instruction_id notify_instruction_id notify_rank_id",
        },
    ),
    "ccu_channel": _record(
        "How long packages took in the channels of the units, sampled, in order of dies and times; "
        "0 where there was none.",
        {
            "time": "time",
            "length": "max_delay min_delay avg_delay",
            "number": "die channel_id",
        },
    ),
    "ccu_task_info": _record(
        "What the host reported of a task on the units: its first instruction.",
        {"device": "", "text": "item group", "number": _OF_UNITS},
    ),
    "ccu_group_info": _record(
        "What the host reported of a loop, for each channel with the rank at its other end.",
        {
            "device": "",
            "text": "item group",
            "size": "data",
            "number": f"{_OF_UNITS} reduction input output channel peer",
        },
    ),
    "ccu_wait_signal_info": _record(
        "What the host reported of a wait, for each channel with the rank at its other end; event: "
        "what is waited for, mask: its bits.",
        {
            "device": "",
            "text": "item group",
            "number": f"{_OF_UNITS} event mask channel peer",
        },
    ),
    "voltage": _record(
        "Voltages in mV as exporters state them: at the start of the session, at each change, and "
        "at its end. supply: 'Aicore Voltage' or 'Bus Voltage'.",
        {"text": "supply", "time": "time", "number": "millivolts"},
    ),
    "pa_link": _record(
        "Load of each link to other chips, sampled, in steps of a coarse scale.",
        {"time": "time", "number": "link received sent"},
    ),
    "pcie_link": _record(
        "Load of each link of PCIe, sampled, in steps of a coarse scale. link: the die of chips "
        "that sample dies apart.",
        {"time": "time", "number": "link written read"},
    ),
    "host_cpu_usage": _record("Processors of the host.", {"number": "processors"}),
    "host_mem_usage": _record("Memory of the host.", {"size": "total"}),
    "host_network_usage": _record(
        "Speed of the host's network card, in Byte/s.", {"number": "speed"}
    ),
}
"""Every record, by name: that of its file, or a name of its own where several make one file."""
