"""Iterations of graphs: the points that a device notes of them, and what they make up.

Both directions, so that writing, reading and the view of what raw files hold agree. Facts:
ge-profiling 3.1 and 3.4.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ascend_ref.capture import RECORDS, Integers, Records
from ascend_ref.capture.model import NONE
from ascend_ref.derive.matching import groups, ranks

from .vocabulary import numbered, numbered_pairs

Columns = Mapping[str, npt.NDArray[Any]]

ITERATIONS, REDUCTIONS, READINGS = "step_trace", "step_trace_reduce", "step_trace_get_next"
"""Records that points make up."""
_BEGIN, _CLOSE, _ROUND = "model start", "model end", "iteration end"
_PLAIN = "iteration start"
_FORWARD, _BACKWARD = "FP", "BP"
_PAIRS: Mapping[str, str] = {REDUCTIONS: "all-reduce", READINGS: "get-next"}
_STEP = ("step start", "step end")
"""Names of points in the vocabulary step_tags."""
POINT_RECORDS = ("STEP_TRACE", "STEP_TRACE_V6")
"""Records of which each is a point, on chips of several generations."""


class Points(NamedTuple):
    """Points in the order in which a device notes them.

    number: of the iteration. lane: 0, but for reductions that overlap. time: in any unit.
    """

    model: Integers
    number: Integers
    tag: Integers
    lane: Integers
    time: Integers

    def taken(self, rows: npt.NDArray[Any]) -> Points:
        """The points at these places."""
        return Points(*(one[rows] for one in self))


class Found(NamedTuple):
    """Records that points make up, without those that have no rows; ``lost``: points of none."""

    records: dict[str, Columns]
    lost: int


def of_device(records: Records, device: int) -> dict[str, Columns]:
    """The iterations of one device, with what belongs to them."""
    found: dict[str, Columns] = {}
    for name in (ITERATIONS, *_PAIRS):
        table = records.get(name, {})
        if table:
            own = table["device"] == device
            found[name] = {column: values[own] for column, values in table.items()}
    return found


def of_devices(found: Mapping[int, Mapping[str, Columns]]) -> Records:
    """The iterations of several devices, one after the other."""
    records: dict[str, dict[str, npt.NDArray[Any]]] = {}
    for name in (ITERATIONS, *_PAIRS):
        parts = [
            {"device": np.full(len(tables[name]["end"]), device), **tables[name]}
            for device, tables in found.items()
            if name in tables
        ]
        if parts:
            records[name] = {
                column: np.concatenate([one[column] for one in parts])
                for column in RECORDS[name].columns
            }
    return records


def points_of(records: Mapping[str, Columns], shown: Callable[[Integers], Integers]) -> Points:
    """The points of the iterations of one device.

    shown: what the clock of the device shows at these times.
    """
    tags = numbered("step_tags")
    parts: list[tuple[Integers, ...]] = []

    def add(table: Columns, tag: Integers, column: str, layer: int, turn: Integers) -> None:
        known = table[column] != NONE
        time = np.where(known, shown(table[column]), NONE)
        lane = table.get("lane", np.zeros(len(known), np.int64))
        level = np.full(len(known), layer)
        columns = (table["model"], table["iteration"], tag, lane, time, level, turn)
        parts.append(tuple(one[known] for one in columns))

    for table in filter(None, [records.get(ITERATIONS)]):
        none = np.zeros(len(table["end"]), np.int64)
        for name, column, layer in (
            (_BEGIN, "start", 0),
            (_FORWARD, "fp_start", 1),
            (_BACKWARD, "bp_end", 1),
            (_CLOSE, "end", 2),
        ):
            add(table, none + tags[name], column, layer, none)
    for name, first in _PAIRS.items():
        if name in records:
            table = _in_lanes(records[name])
            turn = ranks(groups(table["model"], table["iteration"])[1])
            for place, column in enumerate(("start", "end")):
                # Pairs without tags of their own begin with the first tag again.
                tag = tags[first] + 2 * (turn % numbered_pairs()) + place
                add(table, tag, column, 1, 2 * turn + place)
    if not parts:
        return Points(*(np.zeros(0, np.int64) for _ in Points._fields))
    *columns, layers, turns = (np.concatenate(one) for one in zip(*parts, strict=True))
    found = Points(*columns)
    # What happens at one moment: an iteration ends before the next begins, and holds its parts.
    order = np.lexsort((turns, layers, found.number, found.model, found.time))
    return found.taken(order)


def _in_lanes(table: Columns) -> Columns:
    """Pairs in order of start; those that overlap have lanes of their own, since exporters close
    the one of a stream that began last.
    """
    order = np.lexsort((table["end"], table["start"], table["iteration"], table["model"]))
    table = {name: column[order] for name, column in table.items()}
    start, end = table["start"], table["end"]
    _, owner = groups(table["model"], table["iteration"])
    within = start[1:] < np.maximum.accumulate(end)[:-1]
    overlaps = np.append(False, within) | np.append(within, False)
    lane = np.zeros(len(start), np.int64)
    some = np.flatnonzero(overlaps[: len(start)])
    lane[some] = ranks(owner[some])
    return {**table, "lane": lane}


def iterations_of(points: Points) -> Found:
    """What the points of one device make up; those of equal times are in the order of the file.

    An iteration lasts from the start of its model to its end, or to the end of the iteration, from
    which the next one lasts on. Of a model that starts again before it ends the first start counts.
    """
    tags = numbered("step_tags")
    of_steps = np.isin(points.tag, [tags[one] for one in _STEP])
    steps, lost = _steps(points.taken(of_steps))
    points = points.taken(~of_steps & (points.tag != tags[_PLAIN]))
    points = points.taken(np.lexsort((points.time, points.model)))
    begin, close, used = _bounds(points)
    model = points.model[begin]
    number = 1 + ranks(model)
    within = np.searchsorted(close, np.arange(len(points.tag)))
    inside = within < len(close)
    inside[inside] &= begin[within[inside]] < np.flatnonzero(inside)
    table = {"start": points.time[begin]}
    for name, column in ((_FORWARD, "fp_start"), (_BACKWARD, "bp_end")):
        own = np.flatnonzero(inside & (points.tag == tags[name]))
        table[column] = np.full(len(begin), NONE)
        np.maximum.at(table[column], within[own], points.time[own])
        used += len(own)
    table |= {"end": points.time[close], "model": model, "iteration": number}
    records = {ITERATIONS: _joined(table, steps, "end")}
    for name, first in _PAIRS.items():
        pair = points.tag - tags[first]
        own = np.flatnonzero(inside & (pair >= 0) & (pair < 2 * numbered_pairs()))
        opens, ends = _pairs(points, own, within[own])
        used += 2 * len(opens)
        at = within[opens]
        found = {"start": points.time[opens], "end": points.time[ends]}
        found |= {"model": points.model[opens], "iteration": number[at]}
        records[name] = _joined(found, {}, "start")
    return Found(
        {name: one for name, one in records.items() if len(one["end"])},
        lost + len(points.tag) - used,
    )


def _bounds(points: Points) -> tuple[Integers, Integers, int]:
    """Where iterations begin and where they end, by model and time, and how many points bound one.

    The end of a model bounds what its last iteration ended, too.
    """
    tags = numbered("step_tags")
    place = np.flatnonzero(np.isin(points.tag, [tags[one] for one in (_BEGIN, _CLOSE, _ROUND)]))
    tag, model = points.tag[place], points.model[place]
    starts = tag == tags[_BEGIN]
    again = np.append(False, starts[:-1] & starts[1:] & (model[:-1] == model[1:]))[: len(tag)]
    first = np.flatnonzero(starts & ~again)
    run = np.searchsorted(first, np.arange(len(tag)), side="right") - 1
    own = np.flatnonzero(~starts & (run >= 0))
    own = own[model[first[run[own]]] == model[own]]
    # The first end decides: that of the model ends the run, that of an iteration begins the next.
    _, at = np.unique(run[own], return_index=True)
    leads = np.zeros(len(own), np.bool_)
    leads[at] = True
    kind = np.zeros(len(first), np.int64)
    kind[run[own[at]]] = tag[own[at]]
    goes_on = kind[run[own]] == tags[_ROUND]
    ends = np.where(goes_on, tag[own] == tags[_ROUND], leads)
    used = len(at) + int(np.sum(ends | goes_on))
    own = own[ends]
    continued = np.append(False, run[own[1:]] == run[own[:-1]])[: len(own)]
    before = np.append(NONE, own)[: len(own)]
    return place[np.where(continued, before, first[run[own]])], place[own], used


def _pairs(points: Points, own: Integers, within: Integers) -> tuple[Integers, Integers]:
    """Starts and the ends of the same tag that follow them in their iteration and lane."""
    tag = points.tag[own]
    order = np.lexsort((own, tag // 2, points.lane[own], within))
    key = np.stack([within[order], points.lane[own][order], tag[order] // 2])
    is_end = tag[order] % 2 == 1
    opens = ~is_end[:-1] & is_end[1:] & (key[:, 1:] == key[:, :-1]).all(axis=0)
    at = np.flatnonzero(opens)
    return own[order[at]], own[order[at + 1]]


def _steps(points: Points) -> tuple[Columns, int]:
    """Steps that the program itself notes, by their numbers: a start and an end of each."""
    order = np.lexsort((points.time, points.number))
    points = points.taken(order)
    first, owner = groups(points.number)
    size = np.bincount(owner, minlength=len(first))
    at = first[size == 2]
    at = at[(points.tag[at] % 2 == 0) & (points.tag[at + 1] % 2 == 1)]
    none = np.full(len(at), NONE)
    table = {"start": points.time[at], "fp_start": none, "bp_end": none}
    table |= {"end": points.time[at + 1], "model": points.model[at], "iteration": points.number[at]}
    return table, len(points.tag) - 2 * len(at)


def _joined(table: Columns, more: Columns, by: str) -> Columns:
    """The rows of both in order of a time."""
    every = {
        name: np.concatenate([column, more[name]]) if more else column
        for name, column in table.items()
    }
    order = np.argsort(every[by], kind="stable")
    return {name: column[order] for name, column in every.items()}
