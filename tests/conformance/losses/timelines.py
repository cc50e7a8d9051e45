"""Losses of timelines: layers, slices and arrows."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .model import TEXT, TIMELINE, Taken, gone_from, registering, span

Events = list[dict[str, Any]]

FREE_LAYERS = {"AI Core Freq", "HBM", "DDR", "QoS", "Python", "AscendCL"}
"""Layers that are not drawn with every other: by product, switch or writer."""
DEVICE_LAYERS = {"Ascend Hardware", "Communication", "HCCL", "Overlap Analysis", "AI Core Freq"}


def text_files(folder: Path) -> list[Path]:
    """Files of an output folder that an exporter wrote for readers."""
    names = {"truth.json", "info.json", "README.txt"}
    return sorted(
        path
        for path in folder.rglob("*")
        if path.suffix in (".csv", ".json") and path.name not in names
    )


def timelines(folder: Path) -> list[Path]:
    """Timelines of tasks."""
    found = [path for path in text_files(folder) if path.name.startswith(("trace_view", "msprof_"))]
    return [path for path in found if path.suffix == ".json" and "tx" not in path.name]


@contextmanager
def opened(folder: Path, source: random.Random) -> Iterator[tuple[str, Events] | None]:
    """The events of one of the timelines; a change leaves those that stay in the list."""
    found = timelines(folder)
    if not found:
        yield None
        return
    chosen = source.choice(found)
    events = read_events(chosen)
    yield chosen.name, events
    write_events(chosen, events)


in_timeline = registering(opened, TIMELINE, TEXT)


def read_events(path: Path) -> Events:
    document = json.loads(path.read_bytes())
    events: Events = document["traceEvents"] if isinstance(document, dict) else document
    return events


def write_events(path: Path, events: Events) -> None:
    path.write_text(json.dumps(events, ensure_ascii=False), encoding="utf-8")


def processes(events: Events) -> dict[Any, str]:
    """Names of processes by pid."""
    return {
        one["pid"]: one["args"]["name"]
        for one in events
        if one["ph"] == "M" and one["name"] == "process_name"
    }


def place(event: dict[str, Any]) -> tuple[Any, Any, str]:
    return event["pid"], event["tid"], str(event["ts"])


def keep(events: Events, stays: Callable[[dict[str, Any]], bool]) -> None:
    """Leave some events out, and with them the arrows of which no end is left."""
    gone = {place(one) for one in events if one["ph"] == "X" and not stays(one)}
    cut = {
        (one.get("cat"), one["id"])
        for one in events
        if one["ph"] in "stf" and (place(one) in gone or not stays(one))
    }
    events[:] = [
        one
        for one in events
        if stays(one) and not (one["ph"] in "stf" and (one.get("cat"), one["id"]) in cut)
    ]


def lose_layers(path: Path, chosen: Callable[[str], bool]) -> None:
    events = read_events(path)
    pids = {pid for pid, name in processes(events).items() if chosen(name)}
    keep(events, lambda one: one["pid"] not in pids)
    write_events(path, events)


@in_timeline("layer", "tasks", "host calls", "framework calls", "memory", "samples", "rows")
def layer(events: Events, source: random.Random) -> Taken:
    held = {one["pid"] for one in events if one["ph"] in "XC"}
    layers = {pid: name for pid, name in processes(events).items() if pid in held}
    pid = source.choice(sorted(layers, key=str))
    keep(events, lambda one: one["pid"] != pid)
    return gone_from(layers[pid], layers[pid] not in FREE_LAYERS)


@in_timeline("arrows")
def kind_of_arrow(events: Events, source: random.Random) -> Taken:
    kinds = sorted({str(one.get("cat")) for one in events if one["ph"] in "stf"})
    if not kinds:
        return None
    gone = source.choice(kinds)
    events[:] = [one for one in events if one["ph"] not in "stf" or str(one.get("cat")) != gone]
    return gone


@in_timeline("arrows")
def some_arrows(events: Events, source: random.Random) -> Taken:
    kinds = Counter(str(one.get("cat")) for one in events if one["ph"] == "s")
    kinds = Counter({kind: times for kind, times in kinds.items() if times > 20})
    if not kinds:
        return None
    kind = source.choice(sorted(kinds))
    starts = sorted(
        (one for one in events if one["ph"] == "s" and str(one.get("cat")) == kind),
        key=lambda one: float(one["ts"]),
    )
    gone = {one["id"] for one in span(starts, source.choice(["head", "middle", "tail"]), source)}
    events[:] = [
        one
        for one in events
        if one["ph"] not in "stf" or str(one.get("cat")) != kind or one["id"] not in gone
    ]
    return f"{len(gone)} of {kind} from {min(gone)}"


def slices(events: Events, layer_name: str) -> Iterator[dict[str, Any]]:
    pids = {pid for pid, name in processes(events).items() if name == layer_name}
    found = (one for one in events if one["ph"] == "X" and one["pid"] in pids)
    return iter(sorted(found, key=lambda one: float(one["ts"])))


def launched(events: Events) -> set[Any]:
    """The numbers of launches."""
    return {
        one["args"].get("connection_id")
        for one in slices(events, "CANN")
        if "node" in (one["args"].get("level"), one["args"].get("Mode"))
    }


def lose_slices(events: Events, gone: Sequence[dict[str, Any]]) -> None:
    numbers = {id(one) for one in gone}
    keep(events, lambda one: id(one) not in numbers)


@in_timeline("tasks")
def tasks_of_a_timeline(events: Events, source: random.Random) -> Taken:
    where = source.choice(["head", "middle", "tail"])
    tasks = list(slices(events, "Ascend Hardware"))
    gone = span(tasks, where, source)
    is_seen = is_missed(events, tasks, gone)
    lose_slices(events, gone)
    return gone_from(f"{len(gone)} tasks from {gone[0]['ts']}, {where}", is_seen)


def is_missed(events: Events, tasks: Events, gone: Sequence[dict[str, Any]]) -> bool:
    """Whether a launch has no task but those that go."""
    lost = {id(one) for one in gone}
    left = {one["args"].get("connection_id") for one in tasks if id(one) not in lost}
    return any(one["args"].get("connection_id") in launched(events) - left for one in gone)


@in_timeline("tasks")
def stream_of_a_timeline(events: Events, source: random.Random) -> Taken:
    threads = Counter(one["tid"] for one in slices(events, "Ascend Hardware"))
    if len(threads) < 2:
        return None
    thread = source.choice(sorted(one for one, times in threads.items() if times > 2))
    tasks = list(slices(events, "Ascend Hardware"))
    gone = [one for one in tasks if one["tid"] == thread]
    is_seen = is_missed(events, tasks, gone)
    lose_slices(events, gone)
    return gone_from(f"stream {thread}", is_seen)


@in_timeline("host calls", "launches")
def host_calls_of_a_timeline(events: Events, source: random.Random) -> Taken:
    where = source.choice(["head", "middle", "tail"])
    gone = span(list(slices(events, "CANN")), where, source)
    named = {one["args"].get("connection_id") for one in slices(events, "Ascend Hardware")}
    lost = {id(one) for one in gone}
    calls = slices(events, "CANN")
    left = {one["args"].get("connection_id") for one in calls if id(one) not in lost}
    launches = (launched(events) & named) - left
    is_seen = any(one["args"].get("connection_id") in launches for one in gone)
    lose_slices(events, gone)
    return gone_from(f"{len(gone)} host calls from {gone[0]['ts']}, {where}", is_seen)


@in_timeline("steps", "framework calls")
def step_of_a_timeline(events: Events, source: random.Random) -> Taken:
    found = [one for one in events if str(one.get("name")).startswith("ProfilerStep#")]
    if not found:
        return None
    found.sort(key=lambda one: float(one["ts"]))
    gone = source.choice(found)
    lose_slices(events, [gone])
    return gone_from(str(gone["name"]), len(found) > 1)


@in_timeline("tasks", "steps", "layer")
def tasks_of_a_step_of_a_timeline(events: Events, source: random.Random) -> Taken:
    found = [one for one in events if str(one.get("name")).startswith("ProfilerStep#")]
    if not found:
        return None
    step = source.choice(found)
    start, end = float(step["ts"]), float(step["ts"]) + float(step["dur"])
    tasks = list(slices(events, "Ascend Hardware"))
    gone = [one for one in tasks if start <= float(one["ts"]) < end]
    is_seen = is_missed(events, tasks, gone)
    lose_slices(events, gone)
    return gone_from(f"{len(gone)} tasks of {step['name']}", is_seen) if gone else None
