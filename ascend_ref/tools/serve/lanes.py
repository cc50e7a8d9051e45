"""Bodies of the commands ``unit/*``."""

from __future__ import annotations

from typing import Any

import numpy as np

from ascend_ref.derive.intervals import union

from .answer import Body, Question
from .schemas import body
from .timeline.read import LATEST, args_at, dumped, flag_sides
from .timeline.tables import FlowPoint, Integers, Place, Timeline

SUMMARY_PARTS = 30_000
"""Gaps of a process up to this part of the window are closed, and gaps of 1 ns always."""

PARTS = 1000
"""A window of slices is seen in so many parts, as a screen can show them."""

COUNTER_POINTS = 10_000
"""Changes of a counter that are sent at most."""


def summary(asked: Question) -> Body:
    """The body of ``unit/threadTracesSummary``: when any lane of the process is busy.

    The window sets only how coarsely slices are merged; the answer covers the whole timeline.
    """
    timeline, process = asked.timeline(), asked.params["processId"]
    gap = max((asked.params["endTime"] - asked.params["startTime"]) // SUMMARY_PARTS, 1)
    numbers = [number for number, lane in enumerate(timeline.lanes) if lane.pid == process]
    places = np.concatenate(
        [np.empty(0, np.int64), *(timeline.slices_of(number) for number in numbers)]
    )
    own = timeline.slices[places]
    return {"data": _stretches(own["start"], own["end"], gap, asked.origin)}


def _stretches(starts: Integers, ends: Integers, gap: int, origin: int) -> list[Body]:
    if not len(starts):
        return []
    order = np.argsort(starts, kind="stable")
    starts, reached = starts[order], np.maximum.accumulate(ends[order])
    # Differences, not sums: near the greatest number the gap would not fit.
    breaks = np.flatnonzero(starts[1:] - reached[:-1] > gap) + 1
    first = starts[np.concatenate(([0], breaks))].tolist()
    last = reached[np.concatenate((breaks - 1, [len(starts) - 1]))].tolist()
    return [
        {"startTime": max(begins - origin, 0), "duration": stops - begins}
        for begins, stops in zip(first, last, strict=True)
    ]


def thread_traces(asked: Question) -> Body:
    """The body of ``unit/threadTraces``: slices of one lane, or of several over one another."""
    timeline, params, origin = asked.timeline(), asked.params, asked.origin
    threads = params["threadIdList"] or [params["threadId"]]
    window = params["startTime"] + origin, params["endTime"] + origin
    rows: list[list[Body]] = []
    max_depth = 0
    for thread in threads:
        lane = timeline.find_lane(params["processId"], thread)
        if lane is None:
            continue
        depths = timeline.depths_of(lane)
        max_depth = max(max_depth, int(depths.max()) + 1 if len(depths) else 0)
        for place, row in _on_screen(timeline, lane, *window):
            slice_ = _slice(timeline, place, row, thread, origin)
            if slice_["startTime"] < 0 or (
                params["isHideFlagEvents"] and slice_["name"] in flag_sides()
            ):
                continue
            rows.extend([] for _ in range(row + 1 - len(rows)))
            rows[row].append(slice_)
    if len(threads) > 1:
        for row_ in rows:
            row_.sort(key=lambda shown: (shown["startTime"], shown["endTime"], shown["id"]))
    nothing = body("threadTracesBody")
    return {**nothing, "maxDepth": max_depth, "currentMaxDepth": len(rows), "data": rows}


def _on_screen(timeline: Timeline, lane: int, start: int, end: int) -> list[tuple[int, int]]:
    """Place and row of the slices to send of a lane, for a window in absolute nanoseconds.

    A slice is in the window if it touches it. Of a window below 1000 ns all of them are sent. Of a
    longer one, in each row: of the slices from one on that start within a thousandth of the window
    behind it, the longest, of equal ones the last; then the next slice begins such a stretch. The
    first stretch begins with the window.
    """
    unit = (end - start) // PARTS
    start, end = min(start, LATEST), min(end, LATEST)
    places, rows = timeline.slices_of(lane), timeline.depths_of(lane)
    starts, ends = timeline.slices["start"][places], timeline.slices["end"][places]
    within = np.flatnonzero((ends >= start) & (starts <= end))
    order = within[np.lexsort((places[within], starts[within], rows[within]))]
    chosen = order if unit == 0 else _sampled(order, rows, starts, ends, start, unit)
    return list(zip(places[chosen].tolist(), rows[chosen].tolist(), strict=True))


def _sampled(
    order: Integers, rows: Integers, starts: Integers, ends: Integers, start: int, unit: int
) -> Integers:
    """Of slices by row and start those that stand for the others of their stretch."""
    row_begins = np.flatnonzero(np.diff(rows[order], prepend=-1))
    found = [
        row if len(row) == 1 else _longest_of_each(row, starts, ends, start, unit)
        for row in np.split(order, row_begins)[1:]
    ]
    return np.concatenate(found) if found else order


def _longest_of_each(
    row: Integers, starts: Integers, ends: Integers, start: int, unit: int
) -> Integers:
    begins, lengths = starts[row], ends[row] - starts[row]
    chosen = []
    limit, first = start + unit, 0
    while first < len(row):
        behind = int(np.searchsorted(begins, min(limit, LATEST), side="right"))
        if behind > first:
            stretch = lengths[first:behind][::-1]
            chosen.append(row[behind - 1 - int(np.argmax(stretch))])
            first = behind
        if first < len(row):
            limit = int(begins[first]) + unit
    return np.array(chosen, np.int64)


def _slice(timeline: Timeline, place: int, row: int, thread: str, origin: int) -> Body:
    own, names = timeline.slice_at(place), timeline.names
    return {
        "name": names[own.name],
        "duration": own.end - own.start,
        "startTime": own.start - origin,
        "endTime": own.end - origin,
        "depth": row,
        "threadId": thread,
        "cname": names[own.colour],
        "id": str(place + 1),
    }


def flows(asked: Question) -> Body:
    """The body of ``unit/flows``: the flow whose id is that of a SET or WAIT slice.

    Only where the id has exactly two points, each on a lane with a slice of that id.
    ``isSimulation`` is not asked: the lanes of a bin file always are those of a kernel.
    """
    timeline = asked.timeline()
    place = _place(timeline, asked.params["id"])
    flag = timeline.slice_at(place).flag if place is not None else -1
    points = timeline.flow_points.get(timeline.names[flag], []) if flag >= 0 else []
    if len(points) != 2:
        return {"unitAllFlows": []}
    first, second = points
    if second.kind == "s" and first.kind != "s":
        first, second = second, first
    ends = [_flow_end(timeline, point, flag, asked.origin) for point in (first, second)]
    if None in ends:
        return {"unitAllFlows": []}
    point = points[0]
    flow = {
        "title": point.name,
        "cat": point.category,
        "id": timeline.names[flag],
        "from": ends[0],
        "to": ends[1],
    }
    return {"unitAllFlows": [{"cat": point.category, "flows": [flow]}]}


def _flow_end(timeline: Timeline, point: FlowPoint, flag: int, origin: int) -> Body | None:
    flags = timeline.slices["flag"][timeline.slices_of(point.lane)]
    found = np.flatnonzero(flags == flag)
    if not len(found) or point.time < origin:
        return None
    first = found[np.argmin(timeline.slices_of(point.lane)[found])]
    lane = timeline.lanes[point.lane]
    return {
        **body("flowEnd"),
        "pid": lane.pid,
        "tid": lane.tid,
        "timestamp": point.time - origin,
        "depth": int(timeline.depths_of(point.lane)[first]),
    }


def thread_detail(asked: Question) -> Body:
    """The body of ``unit/threadDetail``; empty values for an unknown slice.

    selfTime is the duration less what slices of the next row that begin within it cover of it, and
    0 where none does. The viewer computes it so after it showed the lane.
    """
    answer = body("threadDetailBody")
    data = answer["data"]
    data |= {"rawStartTime": "0", "rawEndTime": "0"}
    timeline = asked.timeline()
    place = _place(timeline, asked.params["id"])
    if place is not None:
        own = timeline.slice_at(place)
        args = args_at(asked.payloads, Place(own.block, own.offset))
        data |= {
            "title": timeline.names[own.name],
            "duration": own.end - own.start,
            "rawStartTime": str(own.start),
            "rawEndTime": str(own.end),
            "args": args if isinstance(args, str) else "" if args is None else dumped(args),
            "selfTime": _self_time(timeline, place),
        }
    return answer


def _self_time(timeline: Timeline, place: int) -> int:
    lane, start, end = timeline.slice_at(place)[:3]
    places, rows = timeline.slices_of(lane), timeline.depths_of(lane)
    starts, ends = timeline.slices["start"][places], timeline.slices["end"][places]
    own = rows[np.flatnonzero(places == place)[0]]
    inside = (rows == own + 1) & (starts >= start) & (starts < end) & (ends > starts)
    if not inside.any():
        return 0
    return end - start - union(starts[inside], np.minimum(ends[inside], end)).total


def _place(timeline: Timeline, slice_id: str) -> int | None:
    if not (slice_id.isascii() and slice_id.isdigit() and len(slice_id) < 19):
        return None
    place = int(slice_id) - 1
    return place if 0 <= place < len(timeline.slices) else None


def counter(asked: Question) -> Body:
    """The body of ``unit/counter``: points at which the value changes, and the last one."""
    params = asked.params
    course = asked.timeline().courses.get((params["pid"], params["threadName"]))
    if course is None:
        return {"data": []}
    times = np.asarray(course.time) - asked.origin
    order = np.argsort(times, kind="stable")
    start, end = (min(params[name], LATEST) for name in ("startTime", "endTime"))
    order = order[(times[order] >= start) & (times[order] <= end)]
    changes: list[tuple[int, Any]] = []
    last: tuple[int, Any] = 0, None
    for place in order.tolist():
        at = Place(course.block[place], course.offset[place])
        point = int(times[place]), args_at(asked.payloads, at)
        if point[1] != last[1]:
            changes.append(point)
        last = point
    if not changes:
        return {"data": []}
    step = max(len(changes) / COUNTER_POINTS, 1.0)
    sampled = [changes[int(number * step)] for number in range(min(len(changes), COUNTER_POINTS))]
    return {"data": [_point(*point) for point in (*sampled, last)]}


def _point(time: int, value: Any) -> Body:
    point: Body = {"timestamp": time}
    return {**point, "value": value} if isinstance(value, dict) else point
