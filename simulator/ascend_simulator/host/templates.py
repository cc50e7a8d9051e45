"""What the consumer thread of the task queue calls for each item of a program.

Lengths, order and nesting are those of a real training step (db-schema.md 7.6): an acl call holds
one ``launch`` at node level per kernel, and that holds the runtime's call; a communication operator
comes with the events that tie its stream to the compute stream. A device task points to its
``launch``, or to the acl call where there is none: records, waits and copies (db-schema.md 4.5).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ..hardware.model import Chip
from ..program.model import Annotate, Await, Collective, Copy, Kernel, Launch, Operator

Level = Literal["acl", "node", "hccl", "runtime"]
Queued = Launch | Collective | Await | Copy | Annotate

WAKE_NS = 2_600
SETTLE_NS = 800
"""From taking an entry to its first call, and from its last call to the end."""
BETWEEN_ENTRIES_NS = 2_600
FIRST_LAUNCH_NS = 5_600
NEXT_LAUNCH_NS = 3_600
GRAPH_LAUNCH_NS = 15_000
"""First launch of a compiled graph."""
CPU_LAUNCH_NS = 12_000
TILED_AT_LAUNCH = ("TransData", "MaxPoolWithArgmaxV1", "MaxPoolGradWithArgmaxV1")
"""Kernels whose tiling is computed when they are launched and not with the workspace's size."""
TILING_NS = 7_100
COMPILE_NS = 1_050_000
"""Finding a compiled graph that the step has not used before."""
EVENT_NS = 9_000
EVENT_AGAIN_NS = 5_000
DESTROY_NS = 1_900
WAIT_NS = 6_900
COPY_NS = 13_600
DEVICE_COPY_NS = 5_500
MARK_NS = 3_000
SUBGRAPH_NS = 105_000
"""Handing the FFTS+ graph of a communication operator to the runtime."""
COLD_COLLECTIVE_NS = 440_000
"""Building that graph: an operator of this size has not run in the step before."""
COLLECTIVE_NS = 24_000
POINT_TO_POINT_NS = 9_000
SMALL_TASK_NS = 1_000
"""Launch of one small communication task where there is no FFTS+."""
RUNTIME_OF_SMALL_TASK = {
    "Notify_Record": "NotifyRecord",
    "Notify_Wait": "NotifyWait",
    "Memcpy": "MemcpyAsync",
    "Reduce_Inline": "ReduceAsyncV2",
    "RDMASend": "RdmaDbSend",
}
ENTRY_OF_COLLECTIVE = {
    "allReduce": "HcclAllreduce",
    "allGather": "HcclAllgather",
    "reduceScatter": "HcclReduceScatter",
    "alltoallv": "HcclAlltoAllV",
    "broadcast": "HcclBroadcast",
    "send": "HcclSend",
    "receive": "HcclReceive",
}
MARK_ENTRY = "mstx_range_start_op"
EVENT_ENTRY = "record_event"
WAIT_ENTRY = "wait_event"
DESTROY_ENTRY = "destroy_event"


@dataclass(slots=True)
class Call:
    """One call: ns since the consumer took the first entry. level: name in ENUM_API_TYPE."""

    level: Level
    name: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of the queue: ns since the consumer took the first one. name: of its operator.

    launches: places (in the passage's calls) of the launches that its operator links to.
    """

    name: str
    start: int
    end: int
    launches: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Passage:
    """What the consumer does for items that stand together.

    calls: enclosing ones first. ends, visible: for each item, when the work for it ends and when
    the device may see its task. carriers: for each item, place of the call that its task points to,
    -1 without one. events: for a communication operator, the places of the other calls of
    Connections.
    """

    entries: tuple[Entry, ...]
    calls: tuple[Call, ...]
    ends: tuple[int, ...]
    visible: tuple[int, ...]
    carriers: tuple[int, ...]
    events: tuple[int, int, int, int] | None = None


def passage(
    operator: Operator,
    items: Sequence[Queued],
    chip: Chip,
    *,
    known: bool,
    launches: Sequence[tuple[str, int]] = (),
) -> Passage:
    """The consumer's work for items of one operator that stand together in the program.

    Only launches and copies share a passage; any other item has its own. ``known``: the step has
    run the same operator before, so that nothing has to be compiled or built. ``launches``: of a
    collective without FFTS+, kinds of small tasks and how many of each, in order.
    """
    writer = _Writer()
    first = items[0]
    if isinstance(first, Collective):
        return _collective(writer, operator, first, chip, known, launches)
    if isinstance(first, Await):
        place = _event(writer, WAIT_ENTRY, "aclrtStreamWaitEvent", "StreamWaitEvent", WAIT_NS)
        return writer.passage((writer.calls[place].end,), (place,))
    if isinstance(first, Annotate):
        writer.begin(MARK_ENTRY)
        writer.pass_time(MARK_NS)
        writer.finish()
        return writer.passage((writer.now - SETTLE_NS,), (-1,))
    work = [item for item in items if isinstance(item, Launch | Copy)]
    return _work(writer, operator, work, known)


def entry_name(operator: Operator, items: Sequence[Launch | Copy]) -> str:
    """Name of the queue's entry, and of the framework's innermost operator."""
    launches = [item for item in items if isinstance(item, Launch)]
    if launches or operator.api.startswith("aclnn"):
        return operator.api
    copies = [item for item in items if isinstance(item, Copy)]
    return "acl_memcpy_" + copies[0].operation.replace(" ", "_")


class _Writer:
    """Writes calls one after the other."""

    def __init__(self) -> None:
        self.now = 0
        self.calls: list[Call] = []
        self.entries: list[Entry] = []
        self._entry = ("", 0, 0)

    def pass_time(self, length: int) -> None:
        self.now += length

    def open(self, level: Level, name: str) -> int:
        self.calls.append(Call(level, name, self.now, self.now))
        return len(self.calls) - 1

    def close(self, place: int) -> None:
        self.calls[place].end = self.now

    def whole(self, level: Level, name: str, length: int, inner: str = "") -> int:
        """A call of this length; ``inner`` is a runtime call within it."""
        place = self.open(level, name)
        if inner:
            self.pass_time(length // 4)
            self.whole("runtime", inner, length // 2)
            self.pass_time(length - length // 4 - length // 2)
        else:
            self.pass_time(length)
        self.close(place)
        return place

    def begin(self, name: str, wake: int = WAKE_NS) -> None:
        """Take an entry."""
        if self.entries:
            self.pass_time(BETWEEN_ENTRIES_NS)
        self._entry = (name, self.now, len(self.calls))
        self.pass_time(wake)

    def finish(self) -> None:
        """Finish the entry."""
        self.pass_time(SETTLE_NS)
        name, start, first = self._entry
        launches = tuple(
            place
            for place, call in enumerate(self.calls)
            if place >= first and call.level == "node"
        )
        self.entries.append(Entry(name, start, self.now, launches))

    def passage(self, visible: tuple[int, ...], carriers: tuple[int, ...]) -> Passage:
        """What was written; the work for an item ends where the device sees it, the last one's with
        everything.
        """
        ends = (*visible[:-1], self.now)
        return Passage(tuple(self.entries), tuple(self.calls), ends, visible, carriers)


def _event(writer: _Writer, entry: str, call: str, runtime: str, length: int) -> int:
    writer.begin(entry)
    place = writer.whole("acl", call, length, runtime)
    writer.finish()
    return place


def _work(
    writer: _Writer, operator: Operator, items: Sequence[Launch | Copy], known: bool
) -> Passage:
    name = entry_name(operator, items)
    writer.begin(name)
    launching = any(isinstance(item, Launch) for item in items)
    graph = launching and not operator.two_phase
    outer = -1
    if graph:
        outer = writer.open("acl", "aclopCompileAndExecute")
        writer.pass_time(2_800)
        writer.whole("acl", "opCompile", 18_800)
        writer.pass_time(20_000 if known else 20_000 + COMPILE_NS)
    elif launching or (len(items) == 1 and operator.api.startswith("aclnn")):
        outer = writer.open("acl", operator.api or name)
        writer.pass_time(900)
    visible, carriers = [], []
    for number, item in enumerate(items):
        if number:
            writer.pass_time(14_000 if graph else 1_500)
        if isinstance(item, Launch):
            carriers.append(_launch(writer, item.variants[0], graph, first=number == 0))
        elif outer < 0:
            carriers.append(writer.whole("acl", "aclrtMemcpyAsync", COPY_NS, "MemcpyAsync"))
        else:
            writer.whole("runtime", "MemcpyAsync", DEVICE_COPY_NS)
            carriers.append(outer)
        visible.append(writer.now)
    if outer >= 0:
        writer.pass_time(6_400 if graph else 2_300)
        writer.close(outer)
        if carriers[-1] == outer:
            visible[-1] = writer.now
    writer.finish()
    return writer.passage(tuple(visible), tuple(carriers))


def _launch(writer: _Writer, kernel: Kernel, graph: bool, *, first: bool) -> int:
    if kernel.op_type in TILED_AT_LAUNCH and not graph:
        writer.whole("acl", f"{kernel.op_type}_Tiling", TILING_NS)
        writer.pass_time(4_000)
    place = writer.open("node", "launch")
    writer.pass_time(300)
    if kernel.core == "AI_CPU":
        name, length = "CpuKernelLaunchExWithArgs", CPU_LAUNCH_NS
    elif kernel.core == "DSA_SQE":
        name, length = "StarsTaskLaunch", FIRST_LAUNCH_NS
    else:
        length = FIRST_LAUNCH_NS if first else NEXT_LAUNCH_NS
        if graph and first:
            length = GRAPH_LAUNCH_NS
        if graph and kernel.subtask:
            name = "FftsPlusTaskLaunch"
        else:
            name = "KernelLaunch" if kernel.core.startswith("MIX") else "KernelLaunchWithHandle"
        if not graph:
            writer.whole("runtime", "CtxGetOverflowAddr", 250)
            writer.pass_time(250)
    writer.whole("runtime", name, length * 3 // 4)
    writer.pass_time(length - length * 3 // 4)
    writer.close(place)
    return place


def _collective(
    writer: _Writer,
    operator: Operator,
    item: Collective,
    chip: Chip,
    known: bool,
    launches: Sequence[tuple[str, int]],
) -> Passage:
    record = _event(writer, EVENT_ENTRY, "aclrtRecordEvent", "EventRecord", EVENT_NS)
    wait = _event(writer, WAIT_ENTRY, "aclrtStreamWaitEvent", "StreamWaitEvent", WAIT_NS)
    writer.begin(ENTRY_OF_COLLECTIVE[item.kind], 3_400 if known else 19_000)
    outer = writer.open("acl", operator.api or f"hcom_{item.kind}_")
    launch = writer.open("node", "launch")
    if chip.ffts:
        writer.pass_time(COLLECTIVE_NS if known else COLD_COLLECTIVE_NS)
        length = POINT_TO_POINT_NS if item.kind in ("send", "receive") else SUBGRAPH_NS
        writer.whole("hccl", "Launch_Ffts", length, "FftsPlusTaskLaunch")
        writer.pass_time(5_000)
    else:
        _small_tasks(writer, launches)
    writer.close(launch)
    writer.close(outer)
    seen = writer.now
    writer.finish()
    after, future = (
        _event(writer, EVENT_ENTRY, "aclrtRecordEvent", "EventRecord", length)
        for length in (EVENT_NS, EVENT_AGAIN_NS)
    )
    _event(writer, DESTROY_ENTRY, "aclrtDestroyEvent", "EventDestroy", DESTROY_NS)
    written = writer.passage((seen,), (launch,))
    return replace(written, events=(record, wait, after, future))


def _small_tasks(writer: _Writer, launches: Sequence[tuple[str, int]]) -> None:
    """Without FFTS+ every small task is launched on its own (db-schema.md 7.6)."""
    writer.pass_time(2_000)
    for kind, count in launches:
        for _ in range(count):
            writer.whole("hccl", kind, SMALL_TASK_NS, RUNTIME_OF_SMALL_TASK[kind])
            writer.pass_time(300)
    writer.pass_time(2_000)
