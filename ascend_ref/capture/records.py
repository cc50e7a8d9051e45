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


_TASK: dict[str, Kind] = {
    "device": "device",
    "stream": "number",
    "number": "number",
    "name": "text",
}
"""A task as Tasks has it, with the name of its operator."""

_FUNCTION: Mapping[str, Kind] = {
    "device": "device",
    "function": "text",
    "module": "text",
    "cycles": "number",
}
_EVENT: Mapping[str, Kind] = {
    "device": "device",
    "event": "number",
    "name": "text",
    "count": "number",
}

RECORDS: Mapping[str, Record] = {
    "l2_cache": Record(
        "Requests of a kernel to the L2 cache, in lines: how many there were, hit, and drove out "
        "another line. Of a session's first kernel stars chips have no row.",
        _TASK | {"request": "number", "hit": "number", "victim": "number"},
    ),
    "soc_pmu": Record(
        "Translations of addresses for a kernel: how many there were, and were found in the TLB "
        "or not.",
        _TASK | {"request": "number", "hit": "number", "miss": "number"},
    ),
    "page_fault": Record(
        "Pages that were touched for the first time, by a kernel.", _TASK | {"faults": "number"}
    ),
    "aicpu": Record(
        "Runs of AI CPU kernels. time: the kernel begins; task: its own length, preparation, "
        "computing and copying; total: dispatching and scheduling, too, which is the whole task.",
        {
            "device": "device",
            "time": "time",
            "name": "text",
            "compute": "length",
            "memcpy": "length",
            "task": "length",
            "dispatch": "length",
            "total": "length",
            "stream": "number",
            "number": "number",
        },
    ),
    "aicpu_mi": Record(
        "Batches taken from the queue of prepared data: from asking until having one; size: "
        "batches in the queue when asked.",
        {
            "device": "device",
            "name": "text",
            "start": "time",
            "end": "time",
            "size": "number",
        },
    ),
    "dp": Record(
        "What the preparation of data on the device did; buffered: batches that it then holds.",
        {
            "device": "device",
            "time": "time",
            "action": "text",
            "source": "text",
            "buffered": "number",
        },
    ),
    "dvpp": Record(
        "Work of each engine for images and video, in order of type and number; observed: the time "
        "of which busy is a part.",
        {
            "device": "device",
            "group": "number",
            "type": "text",
            "engine": "number",
            "busy": "length",
            "frames": "number",
            "observed": "length",
        },
    ),
    "fusion_op": Record(
        "Operators of a compiled graph (model), in its order; originals: those that became one, "
        "joined by ';'.",
        {
            "model_name": "text",
            "model": "number",
            "name": "text",
            "originals": "text",
            "input": "size",
            "output": "size",
            "weight": "size",
            "workspace": "size",
        },
    ),
    "static_op_mem": Record(
        "Memory of a compiled graph's operators, from node start until node end (NONE: as long as "
        "the graph); model_name: '0' of a graph without parts. Ends with TOTAL of each graph.",
        {
            "name": "text",
            "model_name": "text",
            "graph": "number",
            "start": "number",
            "end": "number",
            "size": "size",
        },
    ),
    "step_trace": Record(
        "Iterations of a graph, in order of their ends: from its start until its end; fp_start, "
        "bp_end: first forward and last backward operator, NONE where nothing is trained.",
        {
            "device": "device",
            "model": "number",
            "iteration": "number",
            "start": "time",
            "fp_start": "time",
            "bp_end": "time",
            "end": "time",
        },
    ),
    "step_trace_reduce": Record(
        "Sums of gradients in an iteration of step_trace, in order of start.",
        {
            "device": "device",
            "model": "number",
            "iteration": "number",
            "start": "time",
            "end": "time",
        },
    ),
    "step_trace_get_next": Record(
        "Readings of data in an iteration of step_trace.",
        {
            "device": "device",
            "model": "number",
            "iteration": "number",
            "start": "time",
            "end": "time",
        },
    ),
    "sys_mem": Record(
        "Memory of a device's or the host's system, sampled.",
        {
            "device": "device",
            "time": "time",
            "total": "size",
            "free": "size",
            "buffers": "size",
            "cached": "size",
            "shared": "size",
            "commit_limit": "size",
            "committed": "size",
            "huge_total": "number",
            "huge_free": "number",
        },
    ),
    "process_mem": Record(
        "Memory of the processes on a device or the host, sampled, in pages.",
        {
            "device": "device",
            "time": "time",
            "pid": "number",
            "name": "text",
            "size": "number",
            "resident": "number",
            "shared": "number",
        },
    ),
    "cpu_usage": Record(
        "How long each processor was in each state since the sample before. type: 'aicpu', "
        "'ctrlcpu', or 'host'.",
        {
            "device": "device",
            "time": "time",
            "cpu": "number",
            "type": "text",
            "user": "length",
            "nice": "length",
            "sys": "length",
            "idle": "length",
            "iowait": "length",
            "irq": "length",
            "soft": "length",
            "steal": "length",
            "guest": "length",
            "guest_nice": "length",
        },
    ),
    "process_cpu_usage": Record(
        "How long each process ran since the sample before; system: the time of all processors.",
        {
            "device": "device",
            "time": "time",
            "pid": "number",
            "name": "text",
            "user": "length",
            "sys": "length",
            "children_user": "length",
            "children_sys": "length",
            "system": "length",
        },
    ),
    "ai_cpu_top_function": Record("Cycles of AI CPU by function, the most first.", _FUNCTION),
    "ctrl_cpu_top_function": Record("Cycles of Ctrl CPU by function, the most first.", _FUNCTION),
    "ts_cpu_top_function": Record(
        "Cycles of TS CPU by function, the most first; it has no modules.", _FUNCTION
    ),
    "ai_cpu_pmu_events": Record("Counted events of AI CPU.", _EVENT),
    "ctrl_cpu_pmu_events": Record("Counted events of Ctrl CPU.", _EVENT),
    "ts_cpu_pmu_events": Record("Counted events of TS CPU.", _EVENT),
    "biu_flow": Record(
        "What the bus interface of a group of cores (a cube core and two vector cores) did in a "
        "period that begins at time: Byte that it moved, and cycles that were waited for them.",
        {
            "device": "device",
            "time": "time",
            "group": "number",
            "read_bandwidth": "number",
            "write_bandwidth": "number",
            "read_latency": "number",
            "write_latency": "number",
        },
    ),
    "biu_cycles": Record(
        "Cycles that the pipes of a core worked in a period that begins at time. type: 'aic' or "
        "'aiv'; core: cube cores from 0, vector cores from 25; period: its cycles, length: its ns.",
        {
            "device": "device",
            "time": "time",
            "length": "length",
            "group": "number",
            "core": "number",
            "type": "text",
            "period": "number",
            "vector": "number",
            "scalar": "number",
            "cube": "number",
            "mte1": "number",
            "mte2": "number",
            "mte3": "number",
        },
    ),
    "host_cpu_usage": Record(
        "Processors of the host.", {"device": "device", "processors": "number"}
    ),
    "host_mem_usage": Record("Memory of the host.", {"device": "device", "total": "size"}),
    "host_network_usage": Record(
        "Speed of the host's network card, in Byte/s.", {"device": "device", "speed": "number"}
    ),
}
"""Every record, by name: that of its file, or a name of its own where several make one file."""
