"""A device as the specimen sees it: streams that run one task after the other."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from .world import Call, Kernel, Task, Transfer

PROFILING_STREAM = 0
COMPUTE_STREAM = 2
OTHER_STREAM = 3
COMMUNICATION_STREAM = 4
SCHEDULE_STREAM = 5

GAP_NS = 20
ENVELOPE_HEAD_NS = 1_440
ENVELOPE_TAIL_NS = 300
ENVELOPE_KIND = "AI_CORE"
"""Task type of the FFTS+ task that encloses its sub-tasks (db-schema.md 7.3)."""


@dataclass(frozen=True, slots=True)
class Part:
    """One sub-task of an FFTS+ task, ``offset`` ns after the first sub-task may start."""

    offset: int
    length: int
    kind: str
    kernel: Kernel | None = None
    transfer: Transfer | None = None


@dataclass(slots=True)
class Device:
    """The streams of one device and the tasks that ran on them, in order of launch."""

    number: int
    tasks: list[Task] = field(default_factory=list)
    _free: dict[int, int] = field(default_factory=dict)
    _count: dict[int, int] = field(default_factory=dict)

    @property
    def idle_from(self) -> int:
        """End of the last task on any stream."""
        return max(self._free.values(), default=0)

    def free_from(self, stream: int) -> int:
        """End of the last task on a stream."""
        return self._free.get(stream, 0)

    def run(
        self, stream: int, kind: str, length: int, after: int, call: Call | None = None
    ) -> Task:
        """Run one task once ``after`` has passed and the stream is free."""
        start = max(after, self.free_from(stream) + GAP_NS)
        task = Task(start, start + length, self.number, stream, self._next(stream), kind, call=call)
        self._free[stream] = task.end
        self.tasks.append(task)
        return task

    def run_group(self, stream: int, parts: Iterable[Part], after: int, call: Call) -> list[Task]:
        """Run sub-tasks inside one enclosing task; they share its taskId and are returned."""
        parts = list(parts)
        length = max(part.offset + part.length for part in parts)
        parent = self.run(
            stream, ENVELOPE_KIND, ENVELOPE_HEAD_NS + length + ENVELOPE_TAIL_NS, after, call
        )
        first = parent.start + ENVELOPE_HEAD_NS
        subtasks = [
            Task(
                first + part.offset,
                first + part.offset + part.length,
                self.number,
                stream,
                parent.number,
                part.kind,
                context=context,
                call=call,
                kernel=part.kernel,
                transfer=part.transfer,
            )
            for context, part in enumerate(parts)
        ]
        self.tasks.extend(subtasks)
        return subtasks

    def _next(self, stream: int) -> int:
        self._count[stream] = self._count.get(stream, 100 * stream + 7) + 1
        return self._count[stream]
