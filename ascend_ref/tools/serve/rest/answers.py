"""What each request answers, by the analysers and proposers of a folder."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ascend_ref.mindspore.analyse.files import Folder, devices_in
from ascend_ref.mindspore.analyse.steps import TABLE as STEPS
from ascend_ref.mindspore.analyse.timeline import SCOPES as DEPTH
from ascend_ref.mindspore.analyse.timeline import SUMMARIES
from ascend_ref.mindspore.propose.compose import compose
from ascend_ref.mindspore.propose.proposers import PROPOSERS
from ascend_spec import mindspore_catalog

from .loads import LastLoaded
from .refused import Refused

RUN, DYNAMIC = "run_info", "dynamic_shape_info"
DISPLAYS = ("ascend_timeline_display", "gpu_timeline_display")
PIPELINE = "minddata_pipeline"
HOST_TYPES = "cpu_op_type_info"
HETEROGENEOUS = {"is_heterogeneous": True}
PYNATIVE = "pynative"
SCOPES, METADATA = 100_001, "M"
"""The line of scopes in a time line, and the phase of events that name things."""

LAST = "common"
"""Of the proposers; elsewhere it is the first."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A request that can be answered: the files, arguments by name, the condition of a query.

    ``day``: decides the names of columns.
    """

    folder: Folder
    arguments: Mapping[str, Any]
    condition: Mapping[str, Any]
    day: str
    loads: LastLoaded

    def query(self, name: str, condition: Mapping[str, Any]) -> dict[str, Any]:
        """The answer of an analyser."""
        return self.loads.query(name, self.folder, self.day, condition)

    def document(self, table: str) -> Any:
        """A file of JSON; ``None`` where there is none. Refuses what cannot be read."""
        before = len(self.folder.damage)
        document = self.folder.document(table)
        if len(self.folder.damage) > before:
            raise Refused("unreadable", _of(self.folder, table))
        return document

    def object(self, table: str) -> dict[str, Any]:
        """The same of a file that is an object, an empty one where there is no file."""
        document = self.document(table)
        if not isinstance(document, dict | None):
            raise Refused("unreadable", f"{_of(self.folder, table)} is no object.")
        return document or {}


def _of(folder: Folder, table: str) -> str:
    path = folder.find(table)
    return "" if path is None else path.name


def _operators(asked: Asked) -> Any:
    return asked.query(asked.arguments["op_type"], asked.condition)


def _devices(asked: Asked) -> Any:
    """Upstream lists those alone that have a file of how they were profiled (M43)."""
    devices = devices_in(asked.folder.path)
    folders = (Folder(asked.folder.path, one, asked.folder.root) for one in devices)
    modes = (replace(asked, folder=one).object(RUN) for one in folders)
    mode = next((one["context_mode"] for one in modes if "context_mode" in one), "")
    return {"device_list": devices, "profiler_mode": str(mode)}


def _step(asked: Asked) -> Any:
    run = asked.object(RUN)
    if asked.folder.find(DYNAMIC) or str(run.get("context_mode", "")).lower() == PYNATIVE:
        return {}
    if run.get("is_heterogeneous"):
        return HETEROGENEOUS
    return {} if asked.folder.find(STEPS) is None else _graph(asked)


def _graph(asked: Asked) -> Any:
    filters = {"mode": "step", "step_id": asked.arguments["type"]}
    return asked.query("step_trace", {"filter_condition": filters})


def _step_part(asked: Asked) -> Any:
    if asked.folder.find(STEPS) is None:
        raise Refused("no-file", f"No {STEPS} of device {asked.folder.device}.")
    filters = {"mode": "proc", "proc_name": asked.arguments["type"]}
    answer = asked.query("step_trace", {"filter_condition": filters})
    return {name: answer[name] for name in ("size", "info", "summary")}


def _of_queues(part: str, asked: Asked) -> Any:
    return asked.query("minddata", {})[part][asked.arguments["type"]]


def _pipeline_queue(asked: Asked) -> Any:
    number = asked.arguments["op_id"]
    own = _pipeline_row(asked, number)
    if own is None:
        raise Refused("no-operator", f"op_id {number}.")
    parent = None if own["parent_id"] is None else _pipeline_row(asked, own["parent_id"])
    names = ("op_id", "op_type", "num_workers")
    of_queue = (
        *("output_queue_size", "output_queue_average_size", "output_queue_length"),
        *("output_queue_usage_rate", "sample_interval"),
    )
    return {
        "current_op": {name: own[name] for name in names},
        "parent_op": parent and {name: parent[name] for name in names},
        "queue_info": parent and {name: own[name] for name in of_queue},
    }


def _pipeline_row(asked: Asked, number: int) -> dict[str, Any] | None:
    filters = {"op_id": {"in": [number]}, "is_display_op_detail": True}
    answer = asked.query(PIPELINE, {"filter_condition": filters})
    rows = answer["object"]
    return dict(zip(answer["col_name"], rows[-1], strict=True)) if rows else None


def _proposals(asked: Asked) -> Any:
    names = sorted(PROPOSERS, key=lambda name: name == LAST)
    return compose(asked.folder, names).as_viewed()


def _timeline_summary(asked: Asked) -> Any:
    table = _of_kind(SUMMARIES, asked)
    return {DEPTH: 0, **({} if table is None else asked.object(table))}


def _timeline(asked: Asked) -> Any:
    table = _of_kind(DISPLAYS, asked)
    events = [] if table is None else asked.document(table)
    if not isinstance(events, list):
        raise Refused("unreadable", f"{_of(asked.folder, str(table))} is no list.")
    deepest = asked.arguments["scope_name_num"]
    return [one for one in events if not _is_deep(one, deepest)]


def _is_deep(event: Any, deepest: int) -> bool:
    """Whether an event of the line of scopes is too deep to be shown."""
    if not isinstance(event, dict) or event.get("tid") != SCOPES or event.get("ph") == METADATA:
        return False
    try:
        return int(event.get("scope_level", 0)) >= deepest
    except (TypeError, ValueError, OverflowError):
        return False


def _of_kind(tables: Iterable[str], asked: Asked) -> str | None:
    """The first of some files that is there, of the kind of device that is asked for."""
    wanted = asked.arguments["device_type"] or ""
    return next((one for one in tables if one.startswith(wanted) and asked.folder.find(one)), None)


def _dynamic_shapes(asked: Asked) -> Any:
    rows = asked.query(asked.arguments["op_type"], asked.condition)  # refuses wrong conditions
    if asked.arguments["device_type"] == "ascend":
        return asked.object(DYNAMIC)
    if asked.folder.find(HOST_TYPES):
        return {"dynamic_info": rows, "graph_info": HETEROGENEOUS}
    graph = {} if asked.folder.find(STEPS) is None else _graph(asked)
    return {"dynamic_info": rows, "graph_info": {**graph, "is_heterogeneous": False}}


ANSWERS: Mapping[str, Callable[[Asked], Any]] = {
    "profile/ops/search": _operators,
    "profile/devices": _devices,
    "profile/dynamic-shape-detail": _dynamic_shapes,
    "profile/flops-summary": lambda asked: asked.object("flops_summary"),
    "profile/flops-scope": lambda asked: asked.object("flops_scope"),
    "profile/training-trace/graph": _step,
    "profile/training-trace/target-time-info": _step_part,
    "profile/timeline-summary": _timeline_summary,
    "profile/timeline": _timeline,
    "profile/queue_info": lambda asked: _of_queues("queue", asked),
    "profile/minddata_op": lambda asked: _of_queues("time", asked),
    "profile/process_summary": lambda asked: asked.query("minddata", {})["summary"],
    "profile/minddata-pipeline/op-queue": lambda asked: asked.query(PIPELINE, asked.condition),
    "profile/minddata-pipeline/queue": _pipeline_queue,
    "profile/minddata-cpu-utilization-summary": lambda asked: asked.query(
        "minddata_cpu_utilization", asked.condition
    ),
    "profile/summary/propose": _proposals,
}
"""By request. The others of the spec have a reason why they are not answered."""

assert ANSWERS.keys() == {  # noqa: S101 - each request is answered, or says why not
    name for name, one in mindspore_catalog().requests.items() if one.is_answered
}
