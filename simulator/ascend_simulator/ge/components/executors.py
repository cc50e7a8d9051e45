"""The executors' profilers: V1 reports executions of a model, V2 its operators as well."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from construct import Struct

from ascend_ref.raw.vocabulary import level, numbered
from ascend_spec.core.packed import dtype_of
from ascend_spec.raw.records import (
    CONTEXT_ID_INFO,
    CONTEXTS,
    EVENT_FLAG,
    GRAPH_ID_MAP,
    TASK_MEMORY_INFO,
    TENSOR,
    TENSOR_INFO,
    TENSORS,
)
from ascend_spec.raw.records.forms import HEAD_SIZE

from .library import Field
from .process import Process
from .reporters import report_call

STEP_INFO = "step_info"
"""The call around a tag of the host (ge-profiling 3.3)."""
SECOND_PART = "AI_VECTOR_CORE"
"""Type of the task of the second part of an operator on mixed cores (ge-profiling 5.11)."""

ExecutorEvent = Literal["kExecuteStart", "kExecuteEnd", "kModelStart", "kModelEnd"]


@dataclass(frozen=True, slots=True)
class TensorOf:
    """A tensor of an operator: 0 an input, 1 an output; numbers of format and type; lengths."""

    direction: int
    format: int
    data_type: int
    shape: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Operator:
    """A node of a graph.

    ``mixed``: on mixed cores, so that it is reported twice. ``contexts``: numbers of sub-tasks.
    ``related``: nodes of the same launch. ``inner``: of a DavinciModel, what its model reports.
    """

    name: str
    type: str
    task_type: int = 0
    blocks: int = 1
    tensors: tuple[TensorOf, ...] = ()
    contexts: tuple[int, ...] = ()
    mixed: bool = False
    related: tuple[Operator, ...] = ()
    inner: Callable[[], object] | None = None


class ProfilerCollector:
    """Runtime V1: RecordStart and RecordEnd around each execution of a model.

    ``step``: number of the execution, from 1. ``tags``: what the stream is given to note on the
    device: stream, tag, step, model.
    """

    def __init__(self, process: Process, graph: int, model: int) -> None:
        self._process = process
        self._graph = graph
        self._model = model
        self.step = 1
        self.tags: list[tuple[int, int, int, int]] = []

    def record_start(self, stream: int) -> None:
        """The event, then tag 0 on the stream."""
        if self._process.is_on:
            report_execution(self._process, self.step, self._model)
            self._tag(stream, "model start")

    def record_end(self, stream: int) -> None:
        """Tag 1 on the stream, the event, the graph of the model, and one step more."""
        if self._process.is_on:
            self._tag(stream, "model end")
            report_execution(self._process, self.step, self._model)
            self._process.report(
                "MsprofReportAdditionalInfo",
                "graph_id_map",
                _model("graph_id_map"),
                {
                    "dataLen": body_bytes(GRAPH_ID_MAP),
                    "timeStamp": self._process.now(),
                    "modelName": 0,
                    "graphId": self._graph,
                    "modelId": self._model,
                },
            )
            self.step += 1

    def _tag(self, stream: int, name: str) -> None:
        begin, tag = self._process.now(), numbered("step_tags")[name]
        self.tags.append((stream, tag, self.step, self._model))
        report_call(self._process, _node(STEP_INFO), begin, self._process.now(), tag)


def report_execution(process: Process, request: int, model: int) -> None:
    """MsprofReportEvent: the begin of an execution, or its end."""
    process.report(
        "MsprofReportEvent",
        "api_event",
        _model("ModelExecute"),
        {
            "requestId": request,
            "timeStamp": process.now(),
            "eventFlag": EVENT_FLAG,
            "itemId": model,
        },
        record="EVENT",
    )


class CannProfilerV2:
    """Runtime V2: a subscriber of the executor, which is given its events.

    ``is_ready``: whether Init was done; without it nothing is reported.
    """

    def __init__(self, process: Process, operators: Sequence[Operator]) -> None:
        self._process = process
        self._operators = {one.name: one for one in operators}
        self._begins: dict[tuple[int, str], int] = {}
        self.is_ready = False

    def on_execute_event(self, event: ExecutorEvent, node: str = "") -> None:
        """What the executor calls; ``node``: the name of the operator that begins or ends."""
        if event == "kModelStart":
            self.initialise()
        elif event == "kExecuteStart":
            self.record_launch_begin_time(node)
        elif event == "kExecuteEnd":
            self.do_prof(node)

    def initialise(self) -> None:
        """Init: numbers of the names and types of all operators, once, where it is enabled."""
        if self.is_ready or not self._process.switches_on("CannProfilerV2"):
            return
        for one in self._operators.values():
            for part in (one, *one.related):
                self._process.library.number_of(part.name)
                self._process.library.number_of(part.type)
        self.is_ready = True

    def record_launch_begin_time(self, node: str) -> None:
        """The begin of a launch, of the thread that launches."""
        if self.is_ready:
            self._begins[self._process.thread, node] = self._process.now()

    def do_prof(self, node: str) -> None:
        """Report an operator that has ended."""
        operator = self._operators[node]
        if not self.is_ready or not self._process.switches_on("CannProfilerV2"):
            return
        if operator.inner is not None:
            operator.inner()
            return
        begin = self._begins.pop((self._process.thread, node), 0)
        if not begin:  # it had begun before the start
            return
        end = self._process.now()
        self._launch(operator, begin, end)
        self._by_node(operator, end, operator.task_type)
        if operator.mixed:
            self._launch(operator, begin, end)
            self._by_node(operator, end, numbered("ge_task_types")[SECOND_PART])
        for one in operator.related:
            self._by_node(one, end, one.task_type)

    def _launch(self, operator: Operator, begin: int, end: int) -> None:
        if self._process.is_enabled("kTaskTime"):
            item = self._process.library.number_of(operator.name)
            report_call(self._process, _node("launch"), begin, end, item)

    def _by_node(self, operator: Operator, end: int, task_type: int) -> None:
        """DoProfByNodeId: facts (RecordNodeBasicInfo), tensors, contexts, at one time."""
        if not self._process.is_enabled("kDevice"):
            return
        name = self._process.library.number_of(operator.name)
        self._process.report(
            "MsprofReportCompactInfo",
            "node_basic_info",
            _node("node_basic_info"),
            {
                "timeStamp": end,
                "opName": name,
                "taskType": task_type,
                "opType": self._process.library.number_of(operator.type),
                "blockNum": operator.blocks,
            },
        )
        for start in range(0, len(operator.tensors), TENSORS):
            tensors = operator.tensors[start : start + TENSORS]
            self._additional("tensor_info", end, _tensors(name, tensors))
        if operator.contexts:
            given = operator.contexts
            self._additional(
                "context_id_info",
                end,
                {
                    "dataLen": body_bytes(CONTEXT_ID_INFO),
                    "opName": name,
                    "ctxIdNum": len(given),
                    "ctxIds": _fill(given, CONTEXTS),
                },
            )

    def _additional(self, file: str, end: int, fields: dict[str, Field]) -> None:
        self._process.report(
            "MsprofReportAdditionalInfo", file, _node(file), {"timeStamp": end, **fields}
        )


class CannHostProfiler:
    """Runtime V2: scheduling on the host, as calls of nodes."""

    def __init__(self, process: Process) -> None:
        self._process = process

    def kernel(self, number: int, name: str, node: str, begin: int, end: int) -> None:
        """Report a kernel of the host by the number and the name of its type."""
        if self._process.switches_on("CannHostProfiler"):
            item = self._process.library.number_of(node)
            report_call(self._process, (level("NODE"), number, name), begin, end, item)


class CannMemoryProfiler:
    """Runtime V2: memory that operators take and give back."""

    def __init__(self, process: Process) -> None:
        self._process = process

    def change(self, node: str, address: int, size: int, device: int) -> None:
        """Report memory; a negative size is given back."""
        if self._process.switches_on("CannMemoryProfiler"):
            self._process.report(
                "MsprofReportAdditionalInfo",
                "task_memory_info",
                _node("task_memory_info"),
                {
                    "dataLen": body_bytes(TASK_MEMORY_INFO),
                    "timeStamp": self._process.now(),
                    "addr": address,
                    "size": size,
                    "nodeId": self._process.library.number_of(node),
                    "deviceId": device,
                },
            )


def _model(name: str) -> tuple[int, int, str]:
    return level("MODEL"), numbered("model_types")[name], name


def _node(name: str) -> tuple[int, int, str]:
    return level("NODE"), numbered("node_types")[name], name


def _tensors(name: int, tensors: Sequence[TensorOf]) -> dict[str, Field]:
    """One record of tensors; lengths beyond those of its shapes are lost."""
    lengths = dtype_of(TENSOR)["shape"].shape[0]
    made: list[int] = []
    for one in tensors:
        shape = _fill(one.shape[:lengths], lengths)
        made += (one.direction, one.format, one.data_type, *shape)
    left = TENSORS - len(tensors)
    return {
        "dataLen": body_bytes(TENSOR_INFO) - left * TENSOR.sizeof(),
        "opName": name,
        "tensorNum": len(tensors),
        "tensorData": tuple(made),
    }


def body_bytes(record: Struct) -> int:
    """What the graph engine states as the length of the data: all behind the head, unpadded."""
    return sum(int(one.sizeof()) for one in record.subcons if one.name) - HEAD_SIZE


def _fill(numbers: Sequence[int], length: int) -> tuple[int, ...]:
    return (*numbers, *(0 for _ in range(length - len(numbers))))
