"""MindSpore: what the framework did on the host, and its arrows (trace_view.json).

A recording knows operators, and work that threads hand on in a queue. What takes work out launches
it; putting it in is shown as the start of an arrow alone, as MindSpore does.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ascend_ref.arrays import begins_with, dictionary, integers
from ascend_ref.capture.batch import Integers
from ascend_ref.derive.mindspore_steps import STEP
from ascend_ref.spill import batches, first_equal
from ascend_spec.timeline import Layer

from ..arrows import Ends, Linked, linked
from ..events import Events, Item, Points
from ..lookup import NONE, combinations, taken
from ..session import Session
from .queue import arrows_between, entries_of, takers, works

LAYER, SCOPES = "MindSpore", "Scope Layer"
TOP_SCOPES = ("Default", "Gradients", "recompute_Default")
"""Scopes of the whole network, with which full names of operators begin."""
OF_STEPS, OF_LAUNCHES, OF_OPERATORS = (
    "Python::PythonObserved::",
    "PynativeFramework::PyNativeLaunchTask::",
    "PynativeFramework::RunOp::",
)
"""Module and event of what a recording holds, as the names begin."""


def framework(session: Session) -> Iterator[Item]:
    """Steps, operators, launches and the Python trace, then the threads."""
    layer, found = session.layer(LAYER), session.activity
    if layer is None or not len(found):
        return
    is_step = begins_with(dictionary(found.names), STEP)[found.operator]
    for kind, before, rows in (
        ("step", OF_STEPS, found.operator[is_step]),
        ("call", OF_OPERATORS, found.operator[~is_step]),
        ("launch", OF_LAUNCHES, found.dequeue),
        ("python-function", "", found.function),
    ):
        yield from _events(session, layer, kind, before, rows)
    yield from session.process(layer)
    shown = np.concatenate([found.operator, found.dequeue, found.function])
    for (thread,) in combinations(session.spill, session.spill.taken(found.thread, shown)):
        yield from session.thread(layer, "calls", threadId=thread)


def _events(
    session: Session, layer: Layer, kind: str, before: str, rows: Integers
) -> Iterator[Events]:
    found = session.activity
    lasts = found.end[rows] > found.start[rows]
    names = works(session, "") if kind == "launch" else _texts(session)
    for part in batches(len(rows)):
        own = rows[part]
        own_names = taken(names, own)
        long = lasts[part]
        event = layer.event(kind)
        parts = _parts(kind, before, own_names)
        for shown, one, values in (
            (long, event, parts),
            (~long, layer.event("moment"), {"name": _behind(before, own_names)}),
        ):
            chosen = np.flatnonzero(shown)
            if len(chosen):
                some = {
                    name: value if isinstance(value, str) else value.take(pa.array(chosen))
                    for name, value in values.items()
                }
                yield session.filling.events(
                    layer,
                    one,
                    {"PYTORCH_API": own[chosen]},
                    parts=some,
                    start=found.start[own[chosen]],
                    thread=found.thread[own[chosen]],
                )


def _parts(kind: str, before: str, names: pa.DictionaryArray) -> dict[str, pa.Array | str]:
    """The changing parts of the names of events of a kind."""
    if kind == "step":
        steps = pc.replace_substring(names.dictionary, STEP, "")
        return {"before": before, "step": _with(names, steps)}
    if kind == "python-function":
        return {"name": names}
    module, event, _ = before.split("::")
    return {"module": module, "event": event, "name": names}


def _behind(before: str, names: pa.DictionaryArray) -> pa.DictionaryArray:
    texts = pa.array([before + text for text in names.dictionary.to_pylist()], pa.string())
    return _with(names, texts)


def _with(names: pa.DictionaryArray, texts: pa.Array) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(names.indices, texts, safe=False)


def _texts(session: Session) -> pa.DictionaryArray:
    names = session.activity.names
    return _with(names, session.notation.strings(names.dictionary))


def queue(session: Session) -> Iterator[Item]:
    """Arrows from where work was handed on to where it was launched."""
    layer, found = session.layer(LAYER), session.activity
    if layer is None or not len(found):
        return
    given, got = found.enqueue, found.dequeue
    given_number, got_number = found.correlation(given), found.correlation(got)
    taker = takers(session.spill, given_number, got_number, got)
    entries = entries_of(session.spill, found, given, given_number, taker)
    yield from arrows_between(session, layer, "mindspore-queue", "correlationId", entries)


class Launches(NamedTuple):
    """Work of one kind that the framework launched. launch: rows of PYTORCH_API."""

    link: Linked
    work: Ends
    launch: Integers


def launched(session: Session) -> Iterator[Launches]:
    """The first work of each arrow of HostToDevice that starts in a launch."""
    found, calls, spill = session.activity, session.calls, session.spill
    if not len(found.dequeue):
        return
    for link in linked(session):
        work = link.starts
        thread, moment = (spill.taken(column, work.call) for column in (calls.thread, calls.start))
        launch = spill.made(found.taking, thread, moment)
        known = spill.where(lambda launch: launch != NONE, launch)
        yield Launches(link, work.taken(spill, known), spill.taken(launch, known))


def launches(session: Session) -> Iterator[Item]:
    """Arrows from launches to the work.

    The id is the start of the work, so where several start at once only the first has an arrow;
    MindSpore gives each one, of the same id.
    """
    layer, flow = session.layer(LAYER), session.flow("mindspore-launch")
    if layer is None or flow is None or not len(session.activity):
        return
    found, spill = session.activity, session.spill
    seen: set[int] = set()
    for link, work, launch in launched(session):
        first = spill.where(np.equal, first_equal(spill, work.start), spill.rows(len(launch)))
        for batch in batches(len(first)):
            rows = first[batch]
            rows = rows[[one not in seen for one in work.start[rows].tolist()]]
            some, caller = work.at(rows), launch[rows]
            seen.update(some.start.tolist())
            ids = {"endNs": some.start}
            start, thread = found.start[caller], found.thread[caller]
            yield Points(flow, layer, False, ids, start, thread=thread)
            yield Points(flow, link.layer, True, ids, some.start, some.device, some.thread)


def scopes(session: Session) -> Iterator[Item]:
    """Scopes of operators on the device whose full names begin with one of the whole network.

    Of those that run at a time the first counts; a scope goes on as long as the next operator is
    in it.
    """
    layer = session.layer(SCOPES)
    if layer is None:
        return
    found = list(_scopes(session))
    if not found:
        return
    kind = layer.event("scope")
    for depth in sorted({one.depth for one in found}):
        own = [one for one in found if one.depth == depth]
        start = np.array([one.start for one in own], np.int64)
        end = np.array([one.end for one in own], np.int64)
        names = pa.array([one.name for one in own], pa.string()).dictionary_encode()
        shown = session.notation.strings(names.dictionary)
        yield Events(
            layer,
            kind,
            start,
            thread=depth,
            length=end - start,
            parts={"name": _with(names, shown)},
        )
    yield from session.process(layer)
    (thread,) = [one.thread for one in layer.threads_of(session.style_of(layer))]
    for depth in sorted({one.depth for one in found}):
        yield from session.thread(layer, thread, index=depth)


class _Scope(NamedTuple):
    depth: int
    name: str
    start: int
    end: int


def _scopes(session: Session) -> Iterator[_Scope]:
    open_ones: list[_Scope] = []
    for name, start, end in _operators_in_scopes(session):
        if open_ones and start < open_ones[0].end:
            continue
        goes_on = True
        for depth, part in enumerate(name.split("/")[:-1]):
            now = _Scope(depth, part, start, end)
            if depth >= len(open_ones):
                open_ones.append(now)
            elif goes_on and open_ones[depth].name == part:
                open_ones[depth] = open_ones[depth]._replace(end=end)
            else:
                yield open_ones[depth]
                open_ones[depth] = now
                goes_on = False
    yield from open_ones


def _operators_in_scopes(session: Session) -> Iterator[tuple[str, int, int]]:
    """Full name, start and end (ns) of operators on the device in order of start."""
    kernels = session.recorded.table("COMPUTE_TASK_INFO", ("name", "globalTaskId"))
    tasks = session.recorded.table("TASK", ("startNs", "endNs", "globalTaskId"))
    if not len(kernels) or not len(tasks):
        return
    names = dictionary(kernels["name"])
    is_scoped = [begins_with(names, one) for one in TOP_SCOPES]
    rows = np.flatnonzero(np.logical_or.reduce(is_scoped))
    if not len(rows):
        return
    identity = integers(kernels["globalTaskId"])[rows]
    texts = names.take(pa.array(rows)).dictionary_decode().to_pylist()
    named = dict(zip(identity.tolist(), texts, strict=True))
    every, start, end = (integers(tasks[one]) for one in ("globalTaskId", "startNs", "endNs"))
    for row in np.argsort(start, kind="stable").tolist():
        name = named.get(int(every[row]))
        if name is not None:
            yield name, int(start[row]), int(end[row])
