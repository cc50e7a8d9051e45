"""Which records a capture holds, and their rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

from ascend_ref.capture import RECORDS, Records, Switches
from ascend_spec import text_catalog, timeline_catalog

from ..choices import ModelChoice, ProductName
from . import ai_cpu, caches, functions, graph, iterations, memory, pipes, preparation, processors
from .scene import Columns, RecordScene

Asked = Callable[[Switches, ModelChoice], bool]


class Builder(NamedTuple):
    """How a record is made, and when. file, layer: what it is told in, where it is not a file of
    its own name; the products of that have it.
    """

    columns: Callable[[RecordScene], Columns]
    asked: Asked
    file: str | None = None
    layer: str | None = None


def _graph(switches: Switches, model: ModelChoice) -> bool:
    return model.graph


def _prepared(switches: Switches, model: ModelChoice) -> bool:
    return switches.aicpu and model.preprocess == "device"


BUILDERS: Mapping[str, Builder] = {
    "l2_cache": Builder(caches.l2_cache, lambda switches, model: switches.l2),
    "soc_pmu": Builder(caches.soc_pmu, lambda switches, model: switches.soc_pmu),
    "page_fault": Builder(caches.page_fault, lambda switches, model: switches.soc_pmu),
    "aicpu": Builder(ai_cpu.aicpu, lambda switches, model: switches.aicpu),
    "aicpu_mi": Builder(preparation.aicpu_mi, _prepared),
    "dp": Builder(preparation.dp, _prepared),
    "dvpp": Builder(
        preparation.dvpp,
        lambda switches, model: switches.dvpp > 0 and model.preprocess == "device",
    ),
    "fusion_op": Builder(graph.fusion_op, _graph),
    "static_op_mem": Builder(
        graph.static_op_mem, lambda switches, model: model.graph and switches.memory
    ),
    "step_trace": Builder(iterations.step_trace, _graph),
    "step_trace_reduce": Builder(iterations.step_trace_reduce, _graph, file="step_trace"),
    "step_trace_get_next": Builder(iterations.step_trace_get_next, _graph, file="step_trace"),
    "sys_mem": Builder(
        memory.sys_mem,
        lambda switches, model: switches.sys_profiling > 0 or "mem" in switches.host_sys_usage,
    ),
    "process_mem": Builder(
        memory.process_mem,
        lambda switches, model: switches.sys_pid > 0 or "mem" in switches.host_sys_usage,
    ),
    "cpu_usage": Builder(
        processors.cpu_usage,
        lambda switches, model: switches.sys_profiling > 0 or "cpu" in switches.host_sys_usage,
    ),
    "process_cpu_usage": Builder(
        processors.process_cpu_usage,
        lambda switches, model: switches.sys_pid > 0 or "cpu" in switches.host_sys_usage,
    ),
    **{
        f"{processor}_{name}": Builder(
            partial(build, processor=processor), lambda switches, model: switches.sys_cpu > 0
        )
        for name, build in (
            ("top_function", functions.top_function),
            ("pmu_events", functions.pmu_events),
        )
        for processor in functions.PROCESSORS
    },
    "biu_flow": Builder(
        pipes.biu_flow, lambda switches, model: switches.instr > 0, layer="biu_group"
    ),
    "biu_cycles": Builder(
        pipes.biu_cycles, lambda switches, model: switches.instr > 0, layer="aic_core_group"
    ),
    "host_cpu_usage": Builder(
        processors.host_cpu_usage, lambda switches, model: "cpu" in switches.host_sys
    ),
    "host_mem_usage": Builder(
        memory.host_mem_usage, lambda switches, model: "mem" in switches.host_sys
    ),
    "host_network_usage": Builder(
        processors.host_network_usage, lambda switches, model: "network" in switches.host_sys
    ),
}
"""Source of the switches: seed 001, and msprof's own options where that names none."""


def _has(product: ProductName, name: str, builder: Builder) -> bool:
    """Whether the spec says that a product has a record."""
    if builder.layer is not None:
        return product in timeline_catalog().layers[builder.layer].families
    return product in text_catalog().csv[builder.file or name].families


def records_of(scene: RecordScene) -> Records:
    """Every record that the scenario asks for and that has rows, in the order of RECORDS.

    Without the activity npu CANN's profiler does not run, and collects nothing. New texts are added
    to those of the capture; nothing else of it changes.
    """
    switches, model = scene.scenario.capture, scene.scenario.model
    found: dict[str, Columns] = {}
    for name, record in RECORDS.items():
        builder = BUILDERS[name]
        asked = switches.npu and builder.asked(switches, model)
        if asked and _has(scene.machine.chip.product, name, builder):
            columns = builder.columns(scene)
            if len(next(iter(columns.values()))):
                found[name] = {column: columns[column] for column in record.columns}
    return found
