"""The tasks around the small ones of one rank's collectives, and the numbers of them all."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ascend_ref.capture import Integers, Tasks, Texts
from ascend_ref.capture.model import NONE

from .clocks import GAP_NS
from .rank import RankMeetings
from .streams import numbered


@dataclass(frozen=True, slots=True)
class RunCalls:
    """The host calls behind every run of a collective; all of shape (steps, collectives).

    seen: when the device could see it. closed: when its stream reports its end. operator:
    connection of the operator's own tasks. wait, record: of the event that its stream waits for
    before, and of the one that it records after it. future: of a second one, which is
    recorded for the framework's future.
    """

    seen: Integers
    closed: Integers
    operator: Integers
    wait: Integers
    record: Integers
    future: Integers


@dataclass(frozen=True, slots=True)
class Frame:
    """Lays them out. streams: of each collective; ffts: whether one encloses the small tasks."""

    streams: Integers
    device: int
    ffts: bool

    def tasks(self, meetings: RankMeetings, calls: RunCalls, texts: Texts) -> Tasks:
        """Waits, then enclosing tasks where there are any, then records, on the streams of the
        collectives.
        """
        steps, count = meetings.ready.shape
        shape = (steps, count)
        before = np.zeros(shape, np.int64)
        for stream in np.unique(self.streams).tolist():
            members = np.flatnonzero(self.streams == stream)
            closed = calls.closed[:, members].reshape(-1)
            free = np.concatenate([closed[:1] * 0, closed[:-1] + GAP_NS])
            before[:, members] = free.reshape(steps, -1)
        moments = [
            ("EVENT_WAIT", np.maximum(before, calls.seen), meetings.ready, calls.wait),
            ("AI_CORE", meetings.ready, meetings.ended, calls.operator),
            ("EVENT_RECORD", calls.closed, calls.closed, calls.record),
            ("EVENT_RECORD", calls.closed, calls.closed, calls.future),
        ]
        if not self.ffts:
            del moments[1]
        parts = []
        streams = np.broadcast_to(self.streams, shape).reshape(-1)
        nothing = np.full(steps * count, NONE)
        for kind, start, end, connection in moments:
            parts.append(
                Tasks(
                    start=start.reshape(-1),
                    end=end.reshape(-1),
                    device=np.full(steps * count, self.device),
                    stream=streams,
                    number=nothing,
                    context=nothing,
                    model=nothing,
                    connection=connection.reshape(-1),
                    identity=nothing,
                    kind=np.full(steps * count, texts.number(kind)),
                )
            )
        return Tasks.joined(parts)

    def numbered(
        self, frame: Tasks, families: list[tuple[Tasks, Integers]], runs: int
    ) -> list[Tasks]:
        """``families``: small tasks and the run of each; ``runs`` of collectives there are.

        taskId: counts the tasks of each stream; sub-tasks carry that of their enclosing
        task.
        """
        if self.ffts:
            numbers = numbered(frame.stream, frame.start)
            enclosing = numbers[runs : 2 * runs]
            return [
                replace(frame, number=numbers),
                *(replace(tasks, number=enclosing[run]) for tasks, run in families),
            ]
        parts = [frame, *(tasks for tasks, _ in families)]
        stream, start = (
            np.concatenate([getattr(part, name) for part in parts]) for name in ("stream", "start")
        )
        bounds = np.cumsum([len(part) for part in parts])
        numbers = numbered(stream, start)
        return [
            replace(part, number=numbers[bound - len(part) : bound])
            for part, bound in zip(parts, bounds.tolist(), strict=True)
        ]
