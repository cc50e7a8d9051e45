"""The tree of processes, lanes and counters that parse/success shows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from .answer import Body
from .schemas import body
from .timeline.read import args_at
from .timeline.tables import Lane, Place, Process, Timeline

LANE_META_TYPE = "TEXT"

CPU_LABELS = frozenset({"cpu", "host"})
NPU_LABEL = "npu"
"""Labels of a process that show where its counters belong; without one their names do."""

NPU_WORDS = (
    *("npu", "hbm", "llc", "ai core", "acc_pmu", "stars", "qos"),
    *("ddr", "pcie", "nic", "hccs", "sample_pmu"),
)
CPU_WORDS = ("disk usage", "memory usage", "mem usage", "network usage")

GROUPS = {
    "cpu": ("__cpu_metrics__", "CPU Metrics", "CPU_METRICS"),
    "npu": ("__npu_metrics__", "NPU Metrics", "NPU_METRICS"),
}
"""Process id, name and metaType of the groups that hold all counters."""


def unit(timeline: Timeline, payloads: Sequence[memoryview], card: str) -> Body:
    """The card with its processes by sort index and name, and the groups of counters behind them.

    What has no sort index comes first. A process with nothing but counters is in a group only.
    """
    children: list[Body] = []
    grouped: dict[str, list[Body]] = {group: [] for group in GROUPS}
    lanes_of = _lanes_by_process(timeline)
    for pid, process in sorted(timeline.processes.items(), key=lambda one: _order(one[1])):
        metadata = _metadata(
            card, processId=pid, processName=process.name or "", label=process.label
        )
        tracks = [_track(timeline, payloads, card, lane) for lane in lanes_of.get(pid, ())]
        for group, listed in grouped.items():
            counters = [
                track
                for track in tracks
                if track["type"] == "counter" and _group_of(track, process) == group
            ]
            if counters:
                listed.append({"type": "label", "metadata": metadata, "children": counters})
        lanes = [track for track in tracks if track["type"] == "thread"]
        if lanes or not tracks:
            children.append({"type": "process", "metadata": metadata, "children": lanes})
    for group, (pid, name, meta_type) in GROUPS.items():
        if grouped[group]:
            metadata = _metadata(card, processId=pid, processName=name, metaType=meta_type)
            children.append({"type": "label", "metadata": metadata, "children": grouped[group]})
    return {
        "type": "card",
        "metadata": {"cardId": card, "cardAlias": ""},
        "children": children,
    }


def _order(one: Process | Lane) -> tuple[bool, int, bool, bytes]:
    return (
        one.sort_index is not None,
        one.sort_index or 0,
        one.name is not None,
        (one.name or "").encode("utf-8", "surrogatepass"),
    )


def _lanes_by_process(timeline: Timeline) -> Mapping[str, list[Lane]]:
    """The named lanes of each process, by sort index and name."""
    found: dict[str, list[Lane]] = defaultdict(list)
    for lane in sorted(timeline.lanes, key=_order):
        if lane.is_named:
            found[lane.pid].append(lane)
    return found


def _track(timeline: Timeline, payloads: Sequence[memoryview], card: str, lane: Lane) -> Body:
    name = lane.name or ""
    named = _metadata(card, processId=lane.pid, threadName=name, metaType=LANE_META_TYPE)
    course = timeline.courses.get((lane.pid, name))
    if course is None:
        return {"type": "thread", "metadata": {**named, "threadId": lane.tid}, "children": []}
    series = args_at(payloads, Place(course.block[0], course.offset[0]))
    named["dataType"] = sorted(series) if isinstance(series, dict) else []
    return {"type": "counter", "metadata": named, "children": []}


def _metadata(card: str, **fields: str) -> Body:
    nothing: Body = body("track")["metadata"]
    return {**nothing, "cardId": card, **fields}


def _group_of(track: Body, process: Process) -> str:
    label = process.label.lower()
    if label in CPU_LABELS:
        return "cpu"
    name = str(track["metadata"]["threadName"]).lower()
    if label == NPU_LABEL or any(word in name for word in NPU_WORDS):
        return "npu"
    is_cpu = name.startswith("cpu") and "usage" in name
    return "cpu" if is_cpu or any(word in name for word in CPU_WORDS) else "npu"
