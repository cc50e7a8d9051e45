"""The executors' profilers: V1 reports executions of a model, V2 its operators as well."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from ascend_ref.raw.vocabulary import level, numbered
from ascend_spec.raw.records import CONTEXTS, EVENT_FLAG, TENSORS

from .library import Field
from .process import Process
from .reporters import report_call

START_TAG, END_TAG = 0, 1
STEP_INFO = (0x10006, "step_info")
"""Type of the call around a tag of the host (ge-profiling 3.3)."""
VECTOR_CORE = 2
"""Type of the task of the second part of an operator on mixed cores (ge-profiling 5.11)."""
SHAPE = 8
"""Lengths of a shape that are recorded."""
CONTEXT_BYTES, GRAPH_BYTES, MEMORY_BYTES = 232, 16, 48
TENSORS_BYTES, TENSOR_BYTES = 12, 44
"""What the graph engine states as the length of the data (ge-profiling 5.4)."""

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
            self._tag(stream, START_TAG)

    def record_end(self, stream: int) -> None:
        """Tag 1 on the stream, the event, the graph of the model, and one step more."""
        if self._process.is_on:
            self._tag(stream, END_TAG)
            report_execution(self._process, self.step, self._model)
            self._process.report(
                "MsprofReportAdditionalInfo",
                "graph_id_map",
                "GRAPH_ID_MAP",
                (level("MODEL"), numbered("model_types")["graph_id_map"], "graph_id_map"),
                {
                    "dataLen": GRAPH_BYTES,
                    "timeStamp": self._process.now(),
                    "modelName": 0,
                    "graphId": self._graph,
                    "modelId": self._model,
                },
            )
            self.step += 1

    def _tag(self, stream: int, tag: int) -> None:
        begin = self._process.now()
        self.tags.append((stream, tag, self.step, self._model))
        of = (level("NODE"), *STEP_INFO)
        report_call(self._process, of, begin, self._process.now(), tag)


def report_execution(process: Process, request: int, model: int) -> None:
    """MsprofReportEvent: the begin of an execution, or its end."""
    process.report(
        "MsprofReportEvent",
        "api_event",
        "EVENT",
        (level("MODEL"), numbered("model_types")["ModelExecute"], "ModelExecute"),
        {
            "requestId": request,
            "timeStamp": process.now(),
            "eventFlag": EVENT_FLAG,
            "itemId": model,
        },
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
        if self.is_ready or not self._process.is_enabled("kTaskTime", "kDevice"):
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
        if not self.is_ready or not self._process.is_enabled("kTaskTime", "kDevice"):
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
            self._by_node(operator, end, VECTOR_CORE)
        for one in operator.related:
            self._by_node(one, end, one.task_type)

    def _launch(self, operator: Operator, begin: int, end: int) -> None:
        if self._process.is_enabled("kTaskTime"):
            of = (level("NODE"), numbered("node_types")["launch"], "launch")
            item = self._process.library.number_of(operator.name)
            report_call(self._process, of, begin, end, item)

    def _by_node(self, operator: Operator, end: int, task_type: int) -> None:
        """DoProfByNodeId: facts (RecordNodeBasicInfo), tensors, contexts, at one time."""
        if not self._process.is_enabled("kDevice"):
            return
        name = self._process.library.number_of(operator.name)
        self._process.report(
            "MsprofReportCompactInfo",
            "node_basic_info",
            "NODE_BASIC_INFO",
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
            self._additional("tensor_info", "TENSOR_INFO", end, _tensors(name, tensors))
        if operator.contexts:
            given = operator.contexts
            self._additional(
                "context_id_info",
                "CONTEXT_ID_INFO",
                end,
                {
                    "dataLen": CONTEXT_BYTES,
                    "opName": name,
                    "ctxIdNum": len(given),
                    "ctxIds": _filled(given, CONTEXTS),
                },
            )

    def _additional(self, file: str, record: str, end: int, fields: dict[str, Field]) -> None:
        self._process.report(
            "MsprofReportAdditionalInfo", file, record, _node(file), {"timeStamp": end, **fields}
        )


class CannHostProfiler:
    """Runtime V2: scheduling on the host, as calls of nodes; other kernels with kCannHostL1."""

    def __init__(self, process: Process) -> None:
        self._process = process

    def kernel(self, number: int, name: str, node: str, begin: int, end: int) -> None:
        """Report a kernel of the host by the number and the name of its type."""
        if self._process.is_enabled("kCannHost"):
            item = self._process.library.number_of(node)
            report_call(self._process, (level("NODE"), number, name), begin, end, item)


class CannMemoryProfiler:
    """Runtime V2: memory that operators take and give back."""

    def __init__(self, process: Process) -> None:
        self._process = process

    def change(self, node: str, address: int, size: int, device: int) -> None:
        """Report memory; a negative size is given back."""
        if self._process.is_enabled("kMemory"):
            self._process.report(
                "MsprofReportAdditionalInfo",
                "task_memory_info",
                "TASK_MEMORY_INFO",
                _node("task_memory_info"),
                {
                    "dataLen": MEMORY_BYTES,
                    "timeStamp": self._process.now(),
                    "addr": address,
                    "size": size,
                    "nodeId": self._process.library.number_of(node),
                    "deviceId": device,
                },
            )


def _node(name: str) -> tuple[int, int, str]:
    return level("NODE"), numbered("node_types")[name], name


def _tensors(name: int, tensors: Sequence[TensorOf]) -> dict[str, Field]:
    """One record of tensors; lengths beyond the eighth are lost."""
    made: list[int] = []
    for one in tensors:
        shape = _filled(one.shape[:SHAPE], SHAPE)
        made += (one.direction, one.format, one.data_type, *shape)
    return {
        "dataLen": TENSORS_BYTES + TENSOR_BYTES * len(tensors),
        "opName": name,
        "tensorNum": len(tensors),
        "tensorData": tuple(made),
    }


def _filled(numbers: Sequence[int], length: int) -> tuple[int, ...]:
    return (*numbers, *(0 for _ in range(length - len(numbers))))
