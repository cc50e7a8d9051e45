"""What each request answers, by the analysers and proposers of a folder."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from ascend_ref.mindspore.analyse.files import Folder, devices_in
from ascend_ref.mindspore.analyse.memory import DETAILS, SUMMARY
from ascend_ref.mindspore.analyse.steps import TABLE as STEPS
from ascend_ref.mindspore.analyse.timeline import SCOPES as DEPTH
from ascend_ref.mindspore.analyse.timeline import SUMMARIES
from ascend_ref.mindspore.propose.compose import compose
from ascend_spec import mindspore_catalog
from ascend_spec.mindspore import Request
from ascend_spec.mindspore.requests import LAST_VIEWED

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


Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Asked:
    """A request that can be answered: the files, arguments by name, the condition of a query.

    ``day``: decides the names of columns.
    """

    request: Request
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
        return self._undamaged(lambda: self.folder.document(table))

    def object(self, table: str) -> dict[str, Any]:
        """The same of a file that is an object, an empty one where there is no file."""
        return self._undamaged(lambda: self.folder.object(table))

    def answer(self) -> dict[str, Any]:
        """The answer of the first analyser of the request."""
        return self.query(self.request.analysers[0], self.condition)

    def answer_of(self, table: str) -> dict[str, Any]:
        """The same where it is of one file. Refuses where this is not there or cannot be read."""
        self.need(table)
        return self._undamaged(self.answer)

    def need(self, table: str) -> None:
        """Refuse where there is no such file of the device."""
        if self.folder.find(table) is None:
            raise Refused("no-file", f"No {table} of device {self.folder.device}.")

    def _undamaged(self, read: Callable[[], Result]) -> Result:
        before = len(self.folder.damage)
        found = read()
        if len(self.folder.damage) > before:
            damage = self.folder.damage[before]
            raise Refused("unreadable", f"{damage.file.name}: {damage.message}")
        return found


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
    asked.need(STEPS)
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
    names = asked.request.proposers
    return compose(asked.folder, names).as_viewed(has_labels=len(names) > 1)


def _timeline_summary(asked: Asked) -> Any:
    table = _of_kind(SUMMARIES, asked)
    return {DEPTH: 0, **({} if table is None else asked.object(table))}


def _timeline(asked: Asked) -> Any:
    table = _of_kind(DISPLAYS, asked)
    events = [] if table is None else asked.document(table)
    if not isinstance(events, list):
        raise Refused("unreadable", f"{table} is no list.")
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


def _steps_of_ranks(asked: Asked) -> Any:
    return HETEROGENEOUS if asked.object(RUN).get("is_heterogeneous") else asked.answer()


def _links(asked: Asked) -> Any:
    answer = asked.answer()
    return {"cluster_link_info": answer["object"], "size": answer["size"]}


def _rows_by_name(asked: Asked) -> Any:
    """An object for each row, without what its file lacks."""
    answer = asked.answer()
    rows = (zip(answer["col_name"], row, strict=True) for row in answer["object"])
    return [{name: cell for name, cell in row if cell is not None} for row in rows]


def _unless_on_host(answer: Callable[[Asked], Any]) -> Callable[[Asked], Any]:
    """Nothing but that where operators ran on the host as well."""
    return lambda asked: HETEROGENEOUS if asked.folder.named(HOST_TYPES) else answer(asked)


def _versions(asked: Asked) -> Any:
    """By the file of the lowest rank. The first two numbers must be the same."""
    folders = asked.folder.of_ranks(RUN)
    known = replace(asked, folder=folders[0]).object(RUN).get("ms_version") if folders else None
    if not known:
        return {}
    viewer = str(mindspore_catalog().generations[LAST_VIEWED].viewer)
    first, own = str(known).split(".")[:2], viewer.split(".")[:2]
    return {"state": first == own, "ms": str(known), "mi": viewer}


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
    "profile/msprof_timeline": lambda asked: asked.answer()["events"],
    "profile/msprof_timeline_option": Asked.answer,
    "profile/queue_info": lambda asked: _of_queues("queue", asked),
    "profile/minddata_op": lambda asked: _of_queues("time", asked),
    "profile/process_summary": lambda asked: asked.query("minddata", {})["summary"],
    "profile/minddata-pipeline/op-queue": Asked.answer,
    "profile/minddata-pipeline/queue": _pipeline_queue,
    "profile/minddata-cpu-utilization-summary": Asked.answer,
    "profile/summary/propose": _proposals,
    "profile/summary/cluster-propose": _proposals,
    "profile/cluster-step-trace-summary": _steps_of_ranks,
    "profile/search-cluster-communication": Asked.answer,
    "profile/search-cluster-link": _links,
    "profile/communication-data": Asked.answer,
    "profile/cluster-peak-memory": _unless_on_host(_rows_by_name),
    "profile/cluster-flops": _rows_by_name,
    "profile/marey-graph/overview-time": Asked.answer,
    "profile/marey-graph/flops-data": Asked.answer,
    "profile/marey-graph/memory-data": Asked.answer,
    "profile/marey-graph/timeline": Asked.answer,
    "profile/memory-summary": _unless_on_host(lambda asked: asked.answer_of(SUMMARY)),
    "profile/memory-graphics": lambda asked: asked.answer_of(DETAILS),
    "profile/memory-breakdowns": lambda asked: asked.answer_of(DETAILS),
    "profile/profile_info": _versions,
}
"""By request. The others of the spec have a reason why they are not answered."""
