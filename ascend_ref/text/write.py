"""Every CSV file that a recording yields."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

import numpy as np

from ascend_ref import names
from ascend_ref.recorded import Recorded
from ascend_ref.recorded.model import USUAL_FAMILY
from ascend_spec import text_catalog
from ascend_spec.text.csv_file import CsvFile
from ascend_spec.text.model import Output, Scene, Writer

from . import (
    bandwidth,
    framework,
    kernels,
    memory,
    mindspore,
    op_summary,
    pmu,
    records,
    statistics,
    step_trace,
    system,
)
from .columns import Columns, of_table
from .order import ordered
from .pmu import TABLES, Counted, counted
from .setting import Setting
from .sheet import write_sheet

Source: TypeAlias = Callable[[Recorded, Setting], Iterator[Columns]]


def whole_table(recorded: Recorded, setting: Setting) -> Iterator[Columns]:
    """A row for each row of the first table that the file is made of."""
    name = setting.file.tables[0]
    yield ordered(setting, of_table(name, recorded.table(name)))


OF_TABLES: Mapping[str, Source] = {
    "task_time": kernels.task_time,
    "op_summary": op_summary.op_summary,
    "op_statistic": statistics.op_statistic,
    "communication_statistic": statistics.communication,
    "api_statistic": statistics.api_statistic,
    "msprof_tx": records.msprof_tx,
    "npu_mem": whole_table,
    "npu_module_mem": memory.npu_module_mem,
    "ddr": bandwidth.ddr,
    "hbm": bandwidth.hbm,
    "hccs": bandwidth.hccs,
    "pcie": bandwidth.pcie,
    "nic": bandwidth.ports,
    "roce": bandwidth.ports,
    "llc_read_write": bandwidth.llc_read_write,
    "ub": whole_table,
    "ai_core_utilization": pmu.ai_core_utilization,
    "ai_vector_core_utilization": pmu.ai_vector_core_utilization,
    "host_cpu_usage": system.host_cpu_usage,
    "host_mem_usage": system.host_mem_usage,
    "host_disk_usage": system.host_disk_usage,
    "host_network_usage": system.host_network_usage,
    "os_runtime_statistic": system.os_runtime_statistic,
}
"""Files made of tables, by their name in the spec."""
OF_EACH_OUTPUT: Mapping[str, Mapping[str, Source]] = {
    "memory_record": {
        "msprof": memory.engine_record,
        "pytorch": memory.memory_record,
        "mindspore": mindspore.memory_record,
    },
    "operator_memory": {
        "msprof": memory.engine_blocks,
        "pytorch": memory.operator_memory,
        "mindspore": mindspore.operator_memory,
    },
    "kernel_details": {
        "pytorch": framework.kernel_details,
        "mindspore": mindspore.kernel_details,
    },
    "step_trace_time": {
        "pytorch": framework.step_trace_time,
        "mindspore": mindspore.step_trace_time,
    },
    "operator_details": {
        "pytorch": framework.operator_details,
        "mindspore": mindspore.operator_details,
    },
}
"""Files that differ from output to output."""
OF_RECORDS: Mapping[str, Source] = {
    "step_trace": step_trace.step_trace,
    "aicpu": records.aicpu,
    "sys_mem": system.sys_mem,
    "process_mem": system.process_mem,
    "cpu_usage": system.cpu_usage,
    "process_cpu_usage": system.process_cpu_usage,
    "ai_cpu_top_function": system.top_function,
    "ctrl_cpu_top_function": system.top_function,
    "ts_cpu_top_function": system.top_function,
    "ai_cpu_pmu_events": system.pmu_events,
    "ctrl_cpu_pmu_events": system.pmu_events,
    "ts_cpu_pmu_events": system.pmu_events,
}
"""Files made of the record of the same name, which no database has; others show it row by row."""
CURRENT = {"msprof": "cpp", "pytorch": "adapter", "mindspore": "viewer"}
"""The writer of an output where none is named; what the C++ engine does not write, or not for the
family, the Python engine does."""
SECOND = "python"


def write_csv_files(
    recorded: Recorded,
    folder: Path,
    *,
    writer: str | None = None,
    timestamp: str | None = None,
    limit: int | None = None,
    files: Collection[str] | None = None,
) -> list[Path]:
    """Write every CSV file that a recording yields into ``folder``; returns their paths.

    writer: of the spec (text/writers.yaml): ``cpp`` or ``python`` for a recording of CANN's
    profiler, an ``adapter`` for one of the framework; None: the current one for the product family.
    The Python engine stands in for what the C++ engine does not write. timestamp: the 14 digits in
    the names; None: the end of the recording. limit: rows of a full slice; None: as the spec says.
    files: names of those that are wanted, as the spec has them; None: all.

    A file appears complete or not at all; one without rows does not. Equal recordings give equal
    bytes. Wide files are made some thousands of rows at a time.

    Raises ``ValueError`` naming the known writers for one that does not write this output or not on
    the family, or a name in ``files`` that no file has; :class:`.sheet.TooManyRows`, a
    ``ValueError`` too, where the writer gives up; ``OSError`` where ``folder`` cannot be written.
    """
    family = recorded.origin.family or USUAL_FAMILY
    chosen = _writer(recorded, writer, family)
    unknown = sorted({*(files or ())} - text_catalog().csv.keys())
    if unknown:
        raise ValueError(f"files: {unknown[0]!r}; expected names of CSV files of the spec")
    if timestamp is None:
        timestamp = names.stamp(recorded.origin.end or recorded.origin.start)[:14]
    wanted = [one for one in text_catalog().csv.values() if files is None or one.name in files]
    modes = {file.pmu.mode for file in wanted if file.pmu}
    # Held to the end: as long as a table is in use it is not read again.
    counters = {mode: recorded.table(TABLES[mode][0]) for mode in modes}
    metrics = {
        mode: counted(recorded, table[TABLES[mode][1]], family) for mode, table in counters.items()
    }
    paths: list[Path] = []
    for file in wanted:
        by = _writer_of(file, chosen, family)
        source = _source(file, recorded)
        if by is None or source is None or recorded.switches.level not in file.levels_by(by.id):
            continue
        found = metrics[file.pmu.mode] if file.pmu else Counted(None)
        setting = Setting(
            file,
            by,
            family,
            recorded.switches.level,
            found.group,
            _scene(recorded, file),
            found.registers,
        )
        # A database may hold any number; what no arithmetic reaches is shown as nan or inf.
        with np.errstate(all="ignore"):
            rows = source(recorded, setting)
            paths += write_sheet(setting, rows, folder, timestamp=timestamp, limit=limit)
    return paths


def tables_in_csv_files(recorded: Recorded, writer: str | None) -> set[str]:
    """The tables of which the CSV files of a writer, by default today's, show something.

    Raises ``ValueError`` as :func:`write_csv_files`.
    """
    family = recorded.origin.family or USUAL_FAMILY
    chosen = _writer(recorded, writer, family)
    files = text_catalog().csv.values()
    return {table for one in files if _writer_of(one, chosen, family) for table in one.tables}


def writers_of(output: Output) -> list[str]:
    """The ids of the writers as which the CSV files of an output can be written."""
    return [
        one.id
        for one in text_catalog().writers.values()
        # Nobody knows the forms of numbers of those that do not end times with a tab.
        if one.output == output and one.tabbed and text_catalog().written_by(one.id)
    ]


def _writer(recorded: Recorded, name: str | None, family: str) -> Writer:
    writers = text_catalog().writers
    known = writers_of(recorded.output)
    if name is not None and name not in known:
        is_read = name in writers and writers[name].output == recorded.output
        reason = ", whose files can be read only" if is_read else ""
        raise ValueError(f"writer: {name!r}{reason}; expected one of {', '.join(known)}")
    chosen = writers[name or CURRENT[recorded.output]]
    if family not in chosen.families:
        if name is not None or recorded.output != "msprof":
            raise ValueError(
                f"writer: {chosen.id!r} on {family}; expected one of {', '.join(chosen.families)}"
            )
        return writers[SECOND]
    return chosen


def _writer_of(file: CsvFile, chosen: Writer, family: str) -> Writer | None:
    """Who writes a file: the chosen one, or for the C++ engine the Python engine of its day."""
    if family not in file.families:
        return None
    if chosen.id in file.writers:
        return chosen
    if chosen.engine != "cpp":
        return None
    later = (one for one in file.writers.values() if SECOND in one.kin and one.date >= chosen.date)
    return min(later, key=lambda one: one.date, default=None)


def _source(file: CsvFile, recorded: Recorded) -> Source | None:
    """What makes the rows of a file; ``None`` where nothing of it was recorded."""
    if file.name in OF_TABLES:
        return OF_TABLES[file.name]
    if file.name in OF_EACH_OUTPUT:
        return OF_EACH_OUTPUT[file.name].get(recorded.output)
    if file.name not in recorded.extras or not len(recorded.extras[file.name]):
        return None
    source: Source = OF_RECORDS.get(file.name, records.one_row_each)
    return source


def _scene(recorded: Recorded, file: CsvFile) -> frozenset[Scene]:
    scene: set[Scene] = set()
    if "STEP_TIME" in recorded.tables:
        scene.add("steps")
    if "COMPUTE_TASK_INFO" not in recorded.tables:
        scene.add("no-operators")
        if "COMPUTE_TASK_INFO" in file.tables:
            scene.add("communication-only")
    return frozenset(scene)
