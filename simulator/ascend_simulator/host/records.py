"""Everything that the profiler records of one rank's host."""

from __future__ import annotations

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
    Switches,
    SystemCalls,
    Texts,
)

from ..faker import RunNames, run_names
from ..world.timeline import RankTimeline
from .calls import CallScript, host_calls
from .clock import Clock
from .framework import FrameworkScript, framework
from .marks import program_marks
from .script import HostScript
from .system import system_calls


@dataclass(frozen=True, slots=True)
class HostIds:
    """What the host's records need to know of their process.

    process: its id. first_connection: number of the first host call. communication: name of the
    group and number of the stream of each collective, by its item. names: of the run.
    """

    process: int
    first_connection: int = 936
    communication: Mapping[int, tuple[str, int]] = field(default_factory=dict)
    names: RunNames = field(default_factory=lambda: run_names(0))


@dataclass(frozen=True, slots=True)
class HostRecords:
    """The host's tables of a capture, and the host calls that the device's tasks point to.

    The connections have the shape (steps, items) and are NONE where an item has none.
    connections: of the item's own task: the kernel (and the task around it), the copy, the wait of
    an Await, the tasks of a communication operator. record_connections: of the event that the
    compute stream records before a communication operator. wait_connections,
    record_after_connections, record_future_connections: of the wait for that event on the
    operator's own stream, and of the two events recorded there at the end. profiling_connection: of
    the tasks of the profiler itself.
    """

    calls: HostCalls
    activities: Activities
    links: Links
    frames: Frames
    steps: Steps
    collections: Collections
    marks: Marks
    system_calls: SystemCalls
    connections: Integers
    record_connections: Integers
    wait_connections: Integers
    record_after_connections: Integers
    record_future_connections: Integers
    profiling_connection: int


def record_host(
    script: HostScript, timeline: RankTimeline, switches: Switches, texts: Texts, ids: HostIds
) -> HostRecords:
    """What the switches let through of a rank's run; ``texts`` grows by what it needs.

    ``script``: that of the timeline's program, whose plan it followed; what is the same for all
    ranks is worked out once per script. The timeline has at least one step.
    """
    clock = Clock(timeline)
    process = ids.process
    calls = _call_script(script)
    called = host_calls(calls, timeline, clock, switches, texts, process, ids.first_connection)
    recorded = framework(
        _framework_script(script), timeline, clock, called, switches, texts, process, ids.names
    )
    collections = timeline.host.collections if switches.gc else np.empty((0, 2), np.int64)
    marks = Marks.empty()
    if switches.mstx:
        marks = program_marks(timeline, ids.communication, texts, process)
    on_system = SystemCalls.empty()
    if "osrt" in switches.host_sys:
        on_system = system_calls(timeline, texts, process)
    return HostRecords(
        calls=called.calls,
        activities=recorded.activities,
        links=recorded.links,
        frames=recorded.frames,
        steps=Steps(timeline.step_numbers, timeline.step_starts, timeline.step_ends),
        collections=Collections(
            start=collections[:, 0].copy(),
            end=collections[:, 1].copy(),
            thread=np.full(len(collections), process, np.int64),
        ),
        marks=marks,
        system_calls=on_system,
        connections=called.connections(calls.carriers.launch),
        record_connections=called.connections(calls.carriers.record),
        wait_connections=called.connections(calls.carriers.wait),
        record_after_connections=called.connections(calls.carriers.record_after),
        record_future_connections=called.connections(calls.carriers.record_future),
        profiling_connection=called.profiling,
    )


@lru_cache(maxsize=16)
def _call_script(script: HostScript) -> CallScript:
    return CallScript(script)


@lru_cache(maxsize=16)
def _framework_script(script: HostScript) -> FrameworkScript:
    return FrameworkScript(script, _call_script(script))
