"""What the dataset engine writes about its pipeline and the queue to the device.

A capture has nothing of it: it is written next to what the profiler of the device records.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ascend_ref.raw.lines import Entry
from ascend_spec import mindspore_catalog
from ascend_spec.core import DAYS

from .job import Job

PIPELINE, QUEUE, CPUS = "minddata_pipeline", "device_queue", "minddata_cpu_utilization"

_TIME, _LENGTH = 0, 1


@dataclass(frozen=True, slots=True)
class PipelineOperator:
    """An operator of the pipeline. ``sizes``: samples of its queue, which holds ``length``; an
    operator without one has none. ``children``: those that it takes data from.
    """

    number: int
    op_type: str
    workers: int
    sizes: tuple[int, ...] = ()
    length: int = 0
    children: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class QueueSample:
    """The queue to the device at a step. ``get``, ``push``: ms of getting a batch and of pushing it
    into the queue, which then holds ``size``. ``time``: ms since the start.
    """

    get: int
    push: int
    size: int
    time: int


@dataclass(frozen=True, slots=True)
class DataPipeline:
    """A pipeline and what was sampled of it. ``interval``: ms between two samples.

    ``capacity``: of the queue to the device. ``idle``: percent of the processors at each sample,
    which are ``processors``.
    """

    operators: Sequence[PipelineOperator]
    queue: Sequence[QueueSample]
    capacity: int
    interval: int
    processors: int
    idle: Sequence[int]


def write_data_pipeline(job: Job, pipeline: DataPipeline) -> None:
    """Write the operators, the queue to the device and, from their day on, the processors."""
    documents = pipeline_documents(pipeline)
    job.write_content(PIPELINE, documents[PIPELINE])
    job.write_lines(QUEUE, queue_lines(pipeline, job.day))
    if job.writes(CPUS):
        job.write_content(CPUS, documents[CPUS])


def pipeline_documents(pipeline: DataPipeline) -> dict[str, bytes]:
    """The documents of operators and of processors, by their kinds."""
    document = {
        "sampling_interval": pipeline.interval,
        "op_info": [_operator(one) for one in pipeline.operators],
    }
    return {PIPELINE: _json(document), CPUS: _json(_processors(pipeline))}


def _json(document: Any) -> bytes:
    return (json.dumps(document, indent=2) + "\n").encode()


def _operator(one: PipelineOperator) -> dict[str, Any]:
    queue = {"output_queue": {"size": list(one.sizes), "length": one.length}}
    return {
        "op_id": one.number,
        "op_type": one.op_type,
        "num_workers": one.workers,
        "metrics": queue if one.sizes else None,
        "children": list(one.children) or None,
    }


def queue_lines(pipeline: DataPipeline, day: str) -> list[Entry]:
    """Four lines of each step: getting, pushing, both, and the length."""
    columns = mindspore_catalog().tables["device_queue_profiling"].columns
    has_time = all(DAYS.in_force(one, day) for one in columns if one.name == "time")
    found = []
    for step, one in enumerate(pipeline.queue, 1):
        times = one.get, one.push, one.get + one.push
        rows = [(_TIME, detail, value) for detail, value in enumerate(times)]
        for kind, detail, value in (*rows, (_LENGTH, pipeline.capacity, one.size)):
            parts = {"kind": kind, "detail": detail, "step": step, "value": value}
            found.append(Entry("sample", parts | ({"time": one.time} if has_time else {})))
    return found


def _processors(pipeline: DataPipeline) -> dict[str, Any]:
    count = len(pipeline.idle)
    busy = [100 - one for one in pipeline.idle]
    user = [one * 4 // 5 for one in busy]
    system = [one - part for one, part in zip(busy, user, strict=True)]
    own = {"user_utilization": user, "sys_utilization": system}
    share = [one // max(len(pipeline.operators), 1) for one in user]
    of_operator = {"user_utilization": share, "sys_utilization": [0] * count}
    return {
        "sampling_interval": pipeline.interval,
        "cpu_processor_num": pipeline.processors,
        "time_stamp": [pipeline.interval * place for place in range(count + 1)],
        "device_info": {
            **own,
            "io_utilization": [0] * count,
            "idle_utilization": list(pipeline.idle),
            "runable_processes": [1] * count,
            "context_switch_count": [0] * count,
        },
        "process_info": own,
        "op_info": [{"op_id": one.number, "metrics": of_operator} for one in pipeline.operators],
    }
