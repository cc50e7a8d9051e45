"""What happens in a specimen, row by row, on devices whose streams run one task after the other.

Times are Unix ns.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ascend_ref.capture.model import NONE

from ..world.clocks import GAP_NS
from ..world.compiled import GRAPH_KIND, HEAD_NS, TAIL_NS

SESSION_START_NS = 1_767_258_000_000_000_000
PROCESS = 3_217_657
MAIN_THREAD = PROCESS
BACKWARD_THREAD = PROCESS + 9_507
LAUNCH_THREAD = PROCESS + 3_538
RELEASE_THREAD = PROCESS + 3_539
FIRST_CONNECTION = 936
FIRST_STEP = 50
FREQUENCY_MHZ = 1_800


class Row(dict[str, Any]):
    """A row of a table of a capture: values by column; what it lacks does not apply.

    Texts and members of enums stand as words. Another row as a value stands for its ``number``.
    """

    number: int = NONE


Rows = list[Mapping[str, object]]
"""Rows of a sampled table by the names of its columns, with texts as they are."""


@dataclass(slots=True)
class World:
    """All that happened during one capture.

    rows: by the attribute of ``Capture`` that holds them. frames: of each call stack,
    innermost first.
    """

    devices: tuple[int, ...]
    busy_devices: tuple[int, ...]
    group: str
    session: tuple[int, int] = (SESSION_START_NS, SESSION_START_NS)
    rows: defaultdict[str, list[Row]] = field(default_factory=lambda: defaultdict(list))
    frames: list[tuple[str, ...]] = field(default_factory=list)

    def add(self, table: str, **columns: object) -> Row:
        """One more row of a table; its number is its place."""
        row = Row(columns)
        row.number = len(self.rows[table])
        self.rows[table].append(row)
        return row


COMMUNICATION_STREAM = 4
SCHEDULE_STREAM = 5


@dataclass(frozen=True, slots=True)
class Part:
    """One sub-task of an FFTS+ task, ``offset`` ns after the first sub-task may start.

    transfer: columns of Transfers.
    """

    offset: int
    length: int
    kind: str
    transfer: Row = field(default_factory=Row)


@dataclass(slots=True)
class Device:
    """The streams of one device and the tasks that ran on them, in order of launch."""

    number: int
    tasks: list[Row] = field(default_factory=list)
    _free: dict[int, int] = field(default_factory=dict)
    _count: dict[int, int] = field(default_factory=dict)

    @property
    def idle_from(self) -> int:
        """End of the last task on any stream."""
        return max(self._free.values(), default=0)

    def free_from(self, stream: int) -> int:
        """End of the last task on a stream."""
        return self._free.get(stream, 0)

    def run(self, stream: int, kind: str, length: int, after: int, **more: object) -> Row:
        """Run one task once ``after`` has passed and the stream is free. more: of its columns."""
        start = max(after, self.free_from(stream) + GAP_NS)
        self._free[stream] = start + length
        self._count[stream] = self._count.get(stream, 100 * stream + 7) + 1
        return self._add(start, length, kind, stream, self._count[stream], **more)

    def run_group(self, stream: int, parts: Iterable[Part], after: int, call: Row) -> list[Row]:
        """Run sub-tasks inside one enclosing task; they share its taskId and are returned."""
        parts = list(parts)
        length = max(part.offset + part.length for part in parts)
        whole = HEAD_NS + length + TAIL_NS
        parent = self.run(stream, GRAPH_KIND, whole, after, connection=call)
        first = parent["start"] + HEAD_NS
        return [
            self._add(
                first + part.offset,
                part.length,
                part.kind,
                stream,
                parent["number"],
                context=context,
                connection=call,
            )
            for context, part in enumerate(parts)
        ]

    def _add(
        self, start: int, length: int, kind: str, stream: int, number: int, **more: object
    ) -> Row:
        task = Row(more, start=start, end=start + length, device=self.number)
        task |= {"stream": stream, "number": number, "kind": kind}
        self.tasks.append(task)
        return task
