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

from ascend_ref.arrays import begins_with, dictionary
from ascend_ref.capture.batch import Integers
from ascend_ref.derive.mindspore_steps import STEP
from ascend_ref.spill import batches, first_equal
from ascend_spec.timeline import Layer

from ..arrows import Ends, Linked, linked
from ..events import Events, Item, Points
from ..lookup import NONE, combinations, taken
from ..session import Session
from .queue import arrows_between, entries_of, takers, works

LAYER = "MindSpore"
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
