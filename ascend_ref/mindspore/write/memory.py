"""What memory the graph takes, as the framework knows it before it runs."""

from __future__ import annotations

import numpy as np

from ascend_ref.capture.model import NONE
from ascend_spec.mindspore.messages import BETWEEN, FROM_START, MEMORY, TO_END

from ..raw.messages import Element, encode_message
from .job import Job

KIND = "memory_usage_graphs"
CAPACITY = 32 << 30
"""Bytes of an Ascend910A."""
COMMON = "Common"


def write_memory(job: Job) -> None:
    """Write what blocks the graph holds, from kernel to kernel of its first iteration.

    Nothing where memory was not recorded, or no graph ran.
    """
    blocks, steps = job.capture.memory_blocks, job.graph.iterations
    kernels = job.graph.kernels
    if not job.writes(KIND) or not len(blocks.size) or not len(steps) or not kernels:
        return
    begin, end = int(steps.start[0]), int(steps.end[0])
    tasks = job.capture.tasks
    places = {one.name: place for place, one in enumerate(job.graph.operators)}
    starts = []
    for one in kernels:
        runs = tasks.start[(job.graph.operator == places[one.name]) & (tasks.start >= begin)]
        starts.append(int(runs.min(initial=end)))
    order = np.argsort(np.array(starts), kind="stable")
    nodes: list[Element] = [
        {
            "node_name": kernels[place].name.rpartition("/")[2],
            "node_id": number,
            "input_tensor_id": [],
            "output_tensor_id": [],
            "workspace_tensor_id": [],
        }
        for number, place in enumerate(order.tolist())
    ]
    times = np.array(starts)[order]
    static, tensors = 0, list[Element]()
    for size, given, taken in zip(
        blocks.size.tolist(), blocks.allocated.tolist(), blocks.released.tolist(), strict=True
    ):
        is_open = taken == NONE or taken > end
        if given > end or (taken != NONE and taken < begin):
            continue
        if given < begin and is_open:
            static += size
            continue
        first = int(np.searchsorted(times, given, "left")) if given >= begin else 0
        last = len(nodes) - 1 if is_open else int(np.searchsorted(times, taken, "left")) - 1
        if first > last:
            continue
        life = TO_END if is_open else BETWEEN
        tensors.append(
            {
                "tensor_id": len(tensors),
                "size": size,
                "type": COMMON,
                "life_start": first,
                "life_end": last,
                "life_long": FROM_START if given < begin else life,
            }
        )
        nodes[first]["output_tensor_id"].append(len(tensors) - 1)
    graph = {
        "graph_id": max(job.graph.model, 0),
        "static_mem": static,
        "node_mems": nodes,
        "tensor_mems": tensors,
        "fp_start": "",
        "bp_end": "",
    }
    document = {"graph_mem": [graph], "total_mem": CAPACITY}
    job.write_content(KIND, encode_message(document, MEMORY))
