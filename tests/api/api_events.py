"""Trace events made by hand, and what a session shows of them."""

from __future__ import annotations

from typing import Any

from api_files import answers, body, trace_block

from ascend_ref.tools.serve import Answers

Event = dict[str, Any]


def event(
    ts: object, dur: object = 0, pid: str = "core0", tid: str = "MTE1", **more: object
) -> Event:
    return {"ph": "X", "name": "n", "pid": pid, "tid": tid, "ts": ts, "dur": dur, **more}


def timeline(*events: object) -> Answers:
    return answers(trace_block(events))


def traces(
    asked: Answers, start: int = 0, end: int = 999, tid: str = "MTE1", **more: object
) -> Any:
    params = {"processId": "core0", "threadId": tid, "startTime": start, "endTime": end, **more}
    return body(asked, "unit/threadTraces", **params)


def shown(told: Any, *members: str) -> list[list[Any]]:
    """The slices by row, some of their members each."""
    return [[tuple(slice_[member] for member in members) for slice_ in row] for row in told["data"]]


def flag(phase: str, name: str, identity: object, ts: object, tid: str = "MTE1") -> Event:
    return {"ph": phase, "name": name, "id": identity, "ts": ts, "pid": "core0", "tid": tid}
