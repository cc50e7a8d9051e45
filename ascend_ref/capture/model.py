"""The tables of a capture.

Times are Unix ns; sizes Byte; ``text`` columns are numbers in :attr:`Capture.texts`; columns named
after an enum hold its ids (spec: enums/). ``NONE`` (-1) stands for "does not apply" everywhere: the
encoders write the sentinel that the column and the revision ask for. The facts are those of
db-schema.md 2 and 4; each table names the database table that it becomes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt

from .batch import Batch, Connections, Integers, Reals, TaskNumbers, TextNumbers
from .records import Records
from .switches import Switches
from .texts import Texts

NONE = -1
"""No value: no connection, no context, no notify, no peer, not released."""

Samples = Mapping[str, Mapping[str, npt.NDArray[Any]]]
"""Sampled tables by the name of their database table; columns are named and scaled as in the newest
schema, but never wrapped; text columns (``type``, ``mode``, …) are numbers of texts."""


@dataclass(frozen=True, slots=True)
class Tasks(Batch):
    """TASK: everything that ran on a device, in order of start.

    identity: dense number, counted from 0 in order of launch; it becomes globalTaskId.
    connection: the host call that launched it, NONE without one.
    context: number inside an FFTS+ task; NONE for the enclosing task and for ordinary ones.
    kind: text, what becomes TASK.taskType.
    """

    start: Integers
    end: Integers
    device: Integers
    stream: Integers
    number: Integers
    context: Integers
    model: Integers
    connection: Connections
    identity: TaskNumbers
    kind: TextNumbers


@dataclass(frozen=True, slots=True)
class KernelKinds(Batch):
    """What is the same for every run of one operator; every column but the blocks is a text.

    grid, thread_block: blocks of the grid and threads of a block of a SIMT kernel (``8,1,1``).
    """

    name: TextNumbers
    op_type: TextNumbers
    core: TextNumbers
    input_formats: TextNumbers
    input_data_types: TextNumbers
    input_shapes: TextNumbers
    output_formats: TextNumbers
    output_data_types: TextNumbers
    output_shapes: TextNumbers
    attributes: TextNumbers
    op_state: TextNumbers
    hf32: TextNumbers
    grid: TextNumbers
    thread_block: TextNumbers
    blocks: Integers
    mix_blocks: Integers


@dataclass(frozen=True, slots=True)
class Kernels(Batch):
    """COMPUTE_TASK_INFO: which tasks compute, and what. ``kind`` is a row of KernelKinds."""

    task: TaskNumbers
    kind: Annotated[Integers, "kernel_kinds"]


@dataclass(frozen=True, slots=True)
class Schedules(Batch):
    """COMMUNICATION_SCHEDULE_TASK_INFO: AI CPU kernels that schedule communication (texts)."""

    task: TaskNumbers
    name: TextNumbers
    core: TextNumbers
    op_type: TextNumbers


@dataclass(frozen=True, slots=True)
class Copies(Batch):
    """MEMCPY_INFO: ``operation`` is an id of ENUM_MEMCPY_OPERATION."""

    task: TaskNumbers
    size: Integers
    operation: Integers


@dataclass(frozen=True, slots=True)
class Groups(Batch):
    """Communication groups of this rank.

    name: text, the readable name. purpose: text such as ``dp``, ``tp``; ``default_group`` for all.
    rank: own place in the group. first, size: its global ranks are
    ``Capture.group_ranks[first:first + size]``.
    """

    name: TextNumbers
    purpose: TextNumbers
    rank: Integers
    first: Annotated[Integers, "group_ranks"]
    size: Integers


@dataclass(frozen=True, slots=True)
class Collectives(Batch):
    """COMMUNICATION_OP; a row's place is its number. Its interval follows from its transfers.

    name: text (``hcom_allReduce__865_0_1``). kind: text (``allReduce``, ``send``). algorithm: text.
    group: row of Groups. count: elements. data_type: id of ENUM_HCCL_DATA_TYPE.
    step: id of the step in which it started, NONE outside of all.
    """

    name: TextNumbers
    kind: TextNumbers
    algorithm: TextNumbers
    group: Annotated[Integers, "groups"]
    connection: Connections
    device: Integers
    count: Integers
    data_type: Integers
    relay: Integers
    retry: Integers
    step: Integers


@dataclass(frozen=True, slots=True)
class Transfers(Batch):
    """COMMUNICATION_TASK_INFO: the small tasks of the collectives.

    kind: text (Notify_Record, Notify_Wait, Memcpy, Reduce_Inline, …). source, target: places in
    the group. notify: (owner's place << 32) + offset. transport, link, data_type, rdma: enum ids.
    """

    task: TaskNumbers
    collective: Annotated[Integers, "collectives"]
    kind: TextNumbers
    plane: Integers
    notify: Integers
    source: Integers
    target: Integers
    size: Integers
    transport: Integers
    link: Integers
    data_type: Integers
    rdma: Integers
    master: Integers


@dataclass(frozen=True, slots=True)
class Counters:
    """TASK_PMU_INFO, wide: one row per task, one column per metric. Times are ns.

    ``task`` holds identities, ``values`` has the shape (tasks, metrics).
    """

    metrics: tuple[str, ...]
    task: Integers
    values: Reals

    @classmethod
    def empty(cls) -> Counters:
        """No counters."""
        return cls((), np.empty(0, np.int64), np.empty((0, 0)))


@dataclass(frozen=True, slots=True)
class HostCalls(Batch):
    """CANN_API, in order of start (enclosing call first). level: id of ENUM_API_TYPE.

    connection: the number of the host event, unique, ascending in this order.
    """

    start: Integers
    end: Integers
    level: Integers
    thread: Integers
    connection: Connections
    name: TextNumbers


@dataclass(frozen=True, slots=True)
class Activities(Batch):
    """PYTORCH_API: what the framework did on the host.

    kind: id of ENUM_API_TYPE (50001 op, 50002 queue, 50003 trace, 50004 mstx). queue: 1 enters the
    task queue, 2 leaves it, 0 else. link: number that both ends of a queue entry, or a forward and
    its backward operator share, counted from 0; NONE without one. data_types, shapes: texts.
    stack: number of a call stack in Frames. name: text, without ``Enqueue@`` and ``Dequeue@``.
    """

    start: Integers
    end: Integers
    thread: Integers
    kind: Integers
    queue: Integers
    name: TextNumbers
    sequence: Integers
    forward_thread: Integers
    data_types: TextNumbers
    shapes: TextNumbers
    stack: Annotated[Integers, "stacks"]
    link: Annotated[Integers, "links"]


@dataclass(frozen=True, slots=True)
class Links(Batch):
    """CONNECTION_IDS: which host calls (by connection) an activity (by row) launched through."""

    activity: Annotated[Integers, "activities"]
    connection: Connections


@dataclass(frozen=True, slots=True)
class Frames(Batch):
    """PYTORCH_CALLCHAINS: frames of the call stacks; ``depth`` counts from 0. frame: text."""

    stack: Annotated[Integers, "stacks"]
    depth: Integers
    frame: TextNumbers


@dataclass(frozen=True, slots=True)
class Steps(Batch):
    """STEP_TIME."""

    number: Integers
    start: Integers
    end: Integers


@dataclass(frozen=True, slots=True)
class Collections(Batch):
    """GC_RECORD: runs of Python's garbage collector."""

    start: Integers
    end: Integers
    thread: Integers


@dataclass(frozen=True, slots=True)
class SystemCalls(Batch):
    """OSRT_API. name: text."""

    start: Integers
    end: Integers
    thread: Integers
    name: TextNumbers


@dataclass(frozen=True, slots=True)
class Marks(Batch):
    """MSTX_EVENTS. kind: id of ENUM_MSTX_EVENT_TYPE. message, domain: texts.

    device_link: number (from 0) that the mark shares with its device task, NONE without one; the
    task carries ``FIRST_MARK_CONNECTION + device_link`` as its connection.
    """

    start: Integers
    end: Integers
    kind: Integers
    thread: Integers
    message: TextNumbers
    domain: TextNumbers
    device_link: Annotated[Integers, "marks"]


FIRST_MARK_CONNECTION = 4_000_000_001
"""Connection of the first mark with a device task (db-schema.md 4.4)."""


@dataclass(frozen=True, slots=True)
class MemoryBlocks(Batch):
    """OP_MEMORY: blocks of the framework's allocator. Totals are those after the event.

    name: text. NONE in ``released`` (or ``inactive``): never given back during the capture.
    stream: address of the stream object.
    """

    name: TextNumbers
    size: Integers
    allocated: Integers
    released: Integers
    inactive: Integers
    total_allocated: Integers
    total_reserved: Integers
    total_active: Integers
    release_total_allocated: Integers
    release_total_reserved: Integers
    release_total_active: Integers
    stream: Integers
    device: Integers


@dataclass(frozen=True, slots=True)
class MemoryTotals(Batch):
    """MEMORY_RECORD of one component, without the sums: what it held after each event.

    component: text (PTA, GE, WORKSPACE, APP). In order of time.
    """

    component: TextNumbers
    time: Integers
    allocated: Integers
    reserved: Integers
    active: Integers
    stream: Integers
    device: Integers


@dataclass(frozen=True, slots=True)
class WorkspaceEvents(Batch):
    """NPU_OP_MEM: what the graph engine's operators took and gave back, in order of time.

    name: text. allocate: 1, or 0 for a release.
    """

    name: TextNumbers
    address: Integers
    allocate: Integers
    size: Integers
    time: Integers
    thread: Integers
    total_allocated: Integers
    total_reserved: Integers
    device: Integers


@dataclass(frozen=True, slots=True)
class DeviceFacts:
    """What info.json has of a device: how many cores of each kind, and their clock in MHz."""

    cube_cores: int
    vector_cores: int
    ai_cpu_cores: int
    frequency: int


@dataclass(frozen=True, slots=True)
class Origin:
    """Where and when a capture was taken.

    rank: NONE where the profiler does not know it. chip, host_name: empty where not known, and so
    are ranks, pid and host_uid 0; only a database that was read lacks them. end: None after an
    abnormal end. devices: every device that was profiled; the own one first.
    metadata: what the program reported to the profiler about itself, as JSON-ready values
    (distributed_args, pp_info); parallel_group_info follows from Groups. facts: of the devices,
    which are all alike; None: not known. family: id of the product family where the chip does not
    show it (A3 has the chip of A2). scheduled: the steps that the schedule asked for; None: those
    of the capture.
    """

    rank: int
    ranks: int
    devices: tuple[int, ...]
    chip: str
    pid: int
    host_name: str
    host_uid: int
    start: int
    end: int | None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    facts: DeviceFacts | None = None
    family: str | None = None
    scheduled: Steps | None = None


@dataclass(frozen=True, slots=True)
class Capture:
    """All that one profiler session of one process recorded."""

    origin: Origin
    switches: Switches
    texts: Texts
    tasks: Tasks = field(default_factory=Tasks.empty)
    kernel_kinds: KernelKinds = field(default_factory=KernelKinds.empty)
    kernels: Kernels = field(default_factory=Kernels.empty)
    schedules: Schedules = field(default_factory=Schedules.empty)
    copies: Copies = field(default_factory=Copies.empty)
    counters: Counters = field(default_factory=Counters.empty)
    groups: Groups = field(default_factory=Groups.empty)
    group_ranks: Integers = field(default_factory=lambda: np.empty(0, np.int64))
    collectives: Collectives = field(default_factory=Collectives.empty)
    transfers: Transfers = field(default_factory=Transfers.empty)
    calls: HostCalls = field(default_factory=HostCalls.empty)
    activities: Activities = field(default_factory=Activities.empty)
    links: Links = field(default_factory=Links.empty)
    frames: Frames = field(default_factory=Frames.empty)
    steps: Steps = field(default_factory=Steps.empty)
    collections: Collections = field(default_factory=Collections.empty)
    system_calls: SystemCalls = field(default_factory=SystemCalls.empty)
    marks: Marks = field(default_factory=Marks.empty)
    memory_blocks: MemoryBlocks = field(default_factory=MemoryBlocks.empty)
    memory_totals: MemoryTotals = field(default_factory=MemoryTotals.empty)
    workspace_events: WorkspaceEvents = field(default_factory=WorkspaceEvents.empty)
    samples: Samples = field(default_factory=dict)
    records: Records = field(default_factory=dict)
