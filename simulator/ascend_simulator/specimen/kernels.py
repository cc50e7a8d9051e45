"""The operators of a specimen, as its document lists them, and their performance counters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ascend_spec.core import packaged

from .world import FREQUENCY_MHZ, Row

DEFAULTS = {
    "attributes": "N/A",
    "op_state": "dynamic",
    "hf32": "NO",
    "grid": "N/A",
    "thread_block": "N/A",
    "mix_blocks": 0,
}


@dataclass(frozen=True, slots=True)
class Operator:
    """An operator of the framework and its kernel.

    row: of KernelKinds. task_type: TASK.taskType. subtask: it runs inside an FFTS+ task.
    """

    framework: str
    api: str
    task_type: str
    row: Row
    subtask: bool = False


def known_operators() -> list[Operator]:
    """The operators of the document."""
    return [_operator(document) for document in packaged(__package__, "kernels.yaml")]


def named_operator(name: str) -> Operator:
    """A vector operator that carries a text of the caller in all its names."""
    names = {
        "framework": f"custom::{name}",
        "api": f"aclnn{name}",
        "name": f"aclnn{name}_{name}_Relu",
    }
    return _operator(packaged(__package__, "kernels.yaml")[0] | names)


def _operator(document: Mapping[str, Any]) -> Operator:
    """Format, data type and shape of its only output are those of the first input."""
    columns = {**DEFAULTS, **document}
    for side in ("formats", "data_types", "shapes"):
        first = columns[f"input_{side}"].strip('"').partition(";")[0]
        columns[f"output_{side}"] = f'"{first}"' if side == "shapes" else first
    own = {
        name: columns.pop(name)
        for name in ("framework", "api", "task_type", "subtask")
        if name in columns
    }
    return Operator(row=Row(columns), **own)


AIC_PIPES = ("mac", "scalar", "mte1", "mte2", "fixpipe")
AIV_PIPES = ("vec", "mac", "scalar", "mte1", "mte2", "mte3")
AIV_IDLE_PIPES = ("mac", "mte1")
AIC_CORES = ("AI_CORE", "MIX_AIC")
AIV_CORES = ("AI_VECTOR_CORE", "MIX_AIV")


def metrics(task: Row, kernel: Row) -> dict[str, float]:
    """28 metrics of a task that uses cores, by name; times are ns. Empty for other tasks.

    Cycles over all blocks are whole; a time is cycles / (MHz x blocks), a ratio time / total.
    """
    blocks = kernel["blocks"]
    if not blocks:
        return {}
    cycles = (task["end"] - task["start"]) * FREQUENCY_MHZ * blocks * 17 // 20_000
    scale = 1000 / (FREQUENCY_MHZ * blocks)
    found: dict[str, float] = {}
    for prefix, cores, pipes, idle in (
        ("aic", AIC_CORES, AIC_PIPES, ()),
        ("aiv", AIV_CORES, AIV_PIPES, AIV_IDLE_PIPES),
    ):
        own_cycles = cycles if kernel["core"] in cores else 0
        total = own_cycles * scale
        found[f"{prefix}_total_time"] = total
        found[f"{prefix}_total_cycles"] = own_cycles
        for place, pipe in enumerate(pipes):
            share = 0 if pipe in idle else own_cycles * (place + 2) // 9
            time = share * scale
            found[f"{prefix}_{pipe}_time"] = time
            found[f"{prefix}_{pipe}_ratio"] = time / total if total else 0
        found[f"{prefix}_icache_miss_rate"] = 0.0625 if own_cycles else 0
    return found
