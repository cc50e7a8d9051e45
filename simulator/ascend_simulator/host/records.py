"""Everything that the profiler records of one rank's host."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from ascend_ref.capture import (
    Activities,
    Collections,
    Frames,
    HostCalls,
    Integers,
    Links,
    Marks,
    Steps,
    SystemCalls,
    Texts,
)
from ascend_ref.capture.model import NONE
from ascend_spec import catalog

from ..program.model import Annotate, Collective, Prepare, Synchronize
from ..world.timeline import Connections, RankTimeline, Scene
from .calls import THREAD_IDS, CallScript, Thread, framework_thread, host_calls
from .clock import Clock
from .framework import FrameworkScript, framework
from .operators import Allocation
from .script import HostScript
from .templates import ENTRY_OF_COLLECTIVE

IDLE_NS = 20_000
"""The consumer sleeps in ``read`` when the queue stays empty so long."""
MARGIN_NS = 500


def system_calls(timeline: RankTimeline, texts: Texts, process: int) -> SystemCalls:
    """Calls in order of start.

    The main thread waits for the device in ``ioctl`` and for data in ``pthread_mutex_lock`` and
    ``read``; the consumer waits for entries in ``read``.
    """
    host, program = timeline.host, timeline.program
    parts: list[tuple[Integers, Integers, Thread, str]] = []
    for place, item in enumerate(program.items):
        begin, handed, left = host.begin[:, place], host.handed[:, place], host.left[:, place]
        thread = framework_thread(program, item)
        if isinstance(item, Synchronize):
            parts.append((handed, left, thread, "ioctl"))
        elif isinstance(item, Prepare):
            third = (left - begin) // 3
            parts.append((begin, begin + third, thread, "pthread_mutex_lock"))
            parts.append((begin + third, begin + 2 * third, thread, "read"))
    parts.append((*_sleeps(timeline), Thread.CONSUMER, "read"))
    lengths = [len(start) for start, *_ in parts]
    ids = [THREAD_IDS[thread] + process for *_, thread, _ in parts]
    calls = SystemCalls(
        start=np.concatenate([start for start, *_ in parts]),
        end=np.concatenate([end for _, end, *_ in parts]),
        thread=np.repeat(np.array(ids, np.int64), lengths),
        name=np.repeat(texts.numbers(name for *_, name in parts), lengths),
    )
    calls = calls.take(calls.end - calls.start > 2 * MARGIN_NS)
    calls.start[:] += MARGIN_NS
    calls.end[:] -= MARGIN_NS
    return calls.take(np.argsort(calls.start, kind="stable"))


def _sleeps(timeline: RankTimeline) -> tuple[Integers, Integers]:
    queued = np.flatnonzero(timeline.plan.occupied > 0)
    asleep = timeline.host.done[:, queued].reshape(-1)[:-1]
    awake = timeline.host.taken[:, queued].reshape(-1)[1:]
    long = awake - asleep > IDLE_NS
    return asleep[long], awake[long]


RANGE = "start/end"
COMMUNICATION_DOMAIN = "communication"


def communication_message(item: Collective, group: str, stream: int) -> str:
    """The text by which the framework describes a collective; readers rebuild operators from it."""
    fields = {
        "count": str(item.count),
        "dataType": item.data_type.lower(),
        "groupName": group,
        "opName": ENTRY_OF_COLLECTIVE[item.kind],
        "streamId": str(stream),
    }
    return "{" + ",".join(f'"{name}": {json.dumps(text)}' for name, text in fields.items()) + "}"


def program_marks(
    timeline: RankTimeline,
    communication: Mapping[int, tuple[str, int]],
    texts: Texts,
    process: int,
) -> Marks:
    """Ranges from ``begin`` of their first item until the framework has ``left`` their last one.

    ``communication``: name of the group and number of the stream of a collective, by its item;
    collectives that it lacks get no range. Ranges with a device task are numbered from 0 in order
    of start; those of the framework have none.
    """
    program = timeline.program
    first, last, message, domain, thread, on_device = (list[int]() for _ in range(6))
    for place, item in enumerate(program.items):
        if isinstance(item, Annotate):
            last.append(item.last)
            message.append(texts.number(item.message))
            domain.append(texts.number(item.domain))
            on_device.append(int(item.on_device))
        elif isinstance(item, Collective) and place in communication:
            last.append(place)
            message.append(texts.number(communication_message(item, *communication[place])))
            domain.append(texts.number(COMMUNICATION_DOMAIN))
            on_device.append(0)
        else:
            continue
        first.append(place)
        thread.append(THREAD_IDS[framework_thread(program, item)] + process)
    steps, count = timeline.steps, len(first)
    linked = np.array(on_device, np.int64)
    within = np.cumsum(linked) - linked
    link = np.arange(steps, dtype=np.int64)[:, None] * linked.sum() + within

    def repeated(column: list[int]) -> Integers:
        return np.tile(np.array(column, np.int64), steps)

    kinds = {one.name: one.id for one in catalog().enums["ENUM_MSTX_EVENT_TYPE"].members}
    return Marks(
        start=timeline.host.begin[:, first].reshape(-1),
        end=timeline.host.left[:, last].reshape(-1),
        kind=np.full(steps * count, kinds[RANGE], np.int64),
        thread=repeated(thread),
        message=repeated(message),
        domain=repeated(domain),
        device_link=np.where(linked, link, NONE).reshape(-1),
    )


@dataclass(frozen=True, slots=True)
class HostIds:
    """What the host's records need to know of their process.

    process: its id. first_connection: number of the first host call. communication: name of the
    group and number of the stream of each collective, by its item.
    """

    process: int
    first_connection: int = 936
    communication: Mapping[int, tuple[str, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class HostRecords:
    """The host's tables of a capture, and the host calls that the device's tasks point to.

    connections: shape (steps, items). profiling_connection: of the tasks of the profiler itself.
    """

    calls: HostCalls
    activities: Activities
    links: Links
    frames: Frames
    steps: Steps
    collections: Collections
    marks: Marks
    system_calls: SystemCalls
    connections: Connections
    profiling_connection: int


def record_host(script: HostScript, scene: Scene, ids: HostIds) -> HostRecords:
    """What the switches let through of a rank's run.

    ``script``: that of the timeline's program, whose plan it followed; what is the same for all
    ranks is worked out once per script. The timeline has at least one step.
    """
    timeline, switches, texts = scene.timeline, scene.scenario.capture, scene.texts
    clock, process, calls = Clock(timeline), ids.process, _call_script(script)
    called = host_calls(calls, scene, clock, process, ids.first_connection)
    activities, links, frames = framework(_framework_script(script), scene, clock, called, process)
    collections = timeline.host.collections if switches.gc else np.empty((0, 2), np.int64)
    marks = Marks.empty()
    if switches.mstx:
        marks = program_marks(timeline, ids.communication, texts, process)
    on_system = SystemCalls.empty()
    if "osrt" in switches.host_sys:
        on_system = system_calls(timeline, texts, process)
    return HostRecords(
        calls=called.calls,
        activities=activities,
        links=links,
        frames=frames,
        steps=Steps(timeline.step_numbers, timeline.step_starts, timeline.step_ends),
        collections=Collections(
            start=collections[:, 0].copy(),
            end=collections[:, 1].copy(),
            thread=np.full(len(collections), process, np.int64),
        ),
        marks=marks,
        system_calls=on_system,
        connections=Connections(*map(called.connections, calls.carriers)),
        profiling_connection=called.profiling,
    )


def allocations(script: HostScript) -> Mapping[int, Allocation]:
    """When the operators of a step take memory, by the operator; see :class:`Allocation`."""
    return _framework_script(script).rows.allocations


@lru_cache(maxsize=16)
def _call_script(script: HostScript) -> CallScript:
    return CallScript(script)


@lru_cache(maxsize=16)
def _framework_script(script: HostScript) -> FrameworkScript:
    return FrameworkScript(script, _call_script(script))
