"""Which records a capture holds, and their rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TypeAlias, get_args

import numpy as np

from ascend_ref.capture import RECORDS, Records
from ascend_ref.derive import ccu
from ascend_spec import text_catalog, timeline_catalog
from ascend_spec.text.csv_file import CsvFile
from ascend_spec.text.model import Level
from ascend_spec.timeline.model import Layer

from ..samples.host import NETWORK_SPEED, PROCESSORS
from ..samples.scene import Columns
from ..scenario.collected import frequency
from . import (
    caches,
    chip_links,
    collectives,
    functions,
    graph,
    instructions,
    iterations,
    memory,
    pipes,
    power,
    processors,
)
from .scene import HOST, RecordScene

Builder: TypeAlias = Callable[[RecordScene], Columns]


def _of_host(column: str, value: int) -> Columns:
    return {"device": np.array([HOST]), column: np.array([value])}


BUILDERS: Mapping[str, Builder] = {
    "l2_cache": caches.l2_cache,
    "soc_pmu": caches.soc_pmu,
    "page_fault": caches.page_fault,
    "aicpu": functions.aicpu,
    "aicpu_mi": iterations.aicpu_mi,
    "dp": iterations.dp,
    "dvpp": iterations.dvpp,
    "fusion_op": graph.fusion_op,
    "static_op_mem": graph.static_op_mem,
    "step_trace": iterations.step_trace,
    "step_trace_reduce": iterations.step_trace_reduce,
    "step_trace_get_next": iterations.step_trace_get_next,
    "sys_mem": memory.sys_mem,
    "process_mem": memory.process_mem,
    "cpu_usage": processors.cpu_usage,
    "process_cpu_usage": processors.process_cpu_usage,
    **{
        f"{processor}_{name}": partial(build, processor=processor)
        for name, build in (
            ("top_function", functions.top_function),
            ("pmu_events", functions.pmu_events),
        )
        for processor in functions.PROCESSORS
    },
    "biu_flow": pipes.biu_flow,
    "biu_cycles": pipes.biu_cycles,
    "biu_perf": instructions.biu_perf,
    "ccu_mission": collectives.ccu_mission,
    "ccu_channel": collectives.ccu_channel,
    "ccu_task_info": collectives.ccu_task_info,
    "ccu_group_info": collectives.ccu_group_info,
    "ccu_wait_signal_info": collectives.ccu_wait_signal_info,
    "voltage": power.voltage,
    "pa_link": chip_links.pa_link,
    "pcie_link": chip_links.pcie_link,
    "host_cpu_usage": lambda _: _of_host("processors", PROCESSORS),
    "host_mem_usage": lambda _: _of_host("total", memory.HOST_BYTES),
    "host_network_usage": lambda _: _of_host("speed", NETWORK_SPEED),
}
FILES = {
    "step_trace_reduce": "step_trace",
    "step_trace_get_next": "step_trace",
    **dict.fromkeys(ccu.REPORTS, "ccu_mission"),
}
LAYERS = {
    "biu_flow": "biu_group",
    "biu_cycles": "aic_core_group",
    "biu_perf": "Biu Perf",
    "voltage": "Voltage Info",
    "pa_link": "Stars Chip Trans",
    "pcie_link": "Stars Chip Trans",
}
"""What shows a record, where it is not a file of its own name."""
OF_GRAPHS = (
    *("fusion_op", "static_op_mem"),
    *("step_trace", "step_trace_reduce", "step_trace_get_next"),
)
OF_PREPARATION = ("aicpu_mi", "dp", "dvpp")
"""Records that only a compiled graph leaves, or only samples that the device prepares."""


def _shower(name: str) -> CsvFile | Layer:
    """What shows a record; its data and products are those of the record."""
    if name in LAYERS:
        return timeline_catalog().layers[LAYERS[name]]
    return text_catalog().csv[FILES.get(name, name)]


def _levels(shower: CsvFile | Layer) -> tuple[int, ...]:
    """The levels at which every writer shows it."""
    return shower.levels if isinstance(shower, Layer) else shower.levels.get("*", get_args(Level))


def _asked(name: str, scene: RecordScene) -> bool:
    """Whether a scenario asks for a record, on a product that has it."""
    model, shower = scene.scenario.model, _shower(name)
    if (name in OF_GRAPHS and not model.graph) or scene.product not in shower.families:
        return False
    if scene.scenario.capture.level not in _levels(shower):
        return False
    if name in OF_PREPARATION and model.preprocess != "device":
        return False
    return frequency(scene.scenario.capture, shower.data) > 0


def records_of(scene: RecordScene) -> Records:
    """Every record that the scenario asks for and that has rows, in the order of RECORDS.

    Without the activity npu CANN's profiler does not run, and collects nothing. New texts are added
    to those of the capture; nothing else of it changes. Rows for which a builder states no device
    belong to the rank's own one.
    """
    found: dict[str, Columns] = {}
    for name, record in RECORDS.items() if scene.scenario.capture.npu else ():
        columns = BUILDERS[name](scene) if _asked(name, scene) else {}
        if count := len(next(iter(columns.values()), ())):
            columns = {"device": np.full(count, scene.timeline.device), **columns}
            found[name] = {column: columns[column] for column in record.columns}
    return found
