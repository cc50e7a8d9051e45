"""What a whole raw profile of the adapter holds of a capture: ``PROF_*``, ``FRAMEWORK`` and what
stands next to them.

Written and read back, the view is exactly what it was, but for how calls are numbered.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ascend_ref.capture import Activities, Capture, Integers, MemoryTotals, Origin, Texts
from ascend_ref.capture.kinds import OP, QUEUE, TRACE
from ascend_ref.capture.model import NONE
from ascend_ref.db.encode.collection import collected

from ..clocks import Clock
from ..moments import MOMENTS, Moments
from ..view import RawView, nearest, raw_view
from .events import memory_view
from .functions import stored as stored_name
from .functions import with_numbers
from .garbage import collections_view
from .operators import is_operator, shown, stored, with_own_stacks
from .order import enclosing_first
from .queue import dense
from .tables import with_activities


def pytorch_view(capture: Capture, moments: Moments = MOMENTS) -> RawView:
    """What the raw files of the framework's profiler hold of a capture of one rank."""
    clock = moments.clocks(capture.origin.start).host
    before = collected(capture)
    apart = replace(before, memory_totals=MemoryTotals.empty())
    held, lost = raw_view(apart, moments) if before.switches.npu else _without_prof(before)
    texts = held.texts
    kept = replace(before, texts=texts)
    functions = _functions(kept, clock)
    queue = _rounded(kept.activities.take(kept.activities.kind == QUEUE), clock)
    queue = queue.take(np.argsort(queue.queue, kind="stable"))
    queue = replace(queue, link=dense(queue.link))
    operators, frames = with_own_stacks(_operators(kept, clock), kept.frames)
    collections, without = collections_view(before, clock)
    held = replace(
        held,
        groups=before.groups,
        group_ranks=before.group_ranks,
        origin=_known(held.origin),
        collections=collections,
    )
    found = with_activities(held, functions, queue, operators, frames)
    found, of_memory = memory_view(before, found, clock)
    lost += without + of_memory
    lost += _less("links of operators to launches", len(before.links), len(found.links))
    lost += _less("steps that no operator shows", len(before.steps), len(found.steps))
    return RawView(found, lost)


def _less(what: str, before: int, after: int) -> list[str]:
    return [f"{before - after:,} {what}"] if after < before else []


def _without_prof(capture: Capture) -> RawView:
    """Of a profile without the activity NPU: what the adapter and the name of its folder state."""
    bare = Capture(capture.origin, capture.switches, capture.texts.copy())
    origin = replace(
        capture.origin, devices=(), chip="", host_uid=0, facts=None, ranks=0, scheduled=None
    )
    lost = ["which machine it was"]
    if origin.end is None:
        lost.append("any time of a run that ended abnormally")
    if len(capture.marks):
        lost.append("marks of the program")
    return RawView(replace(bare, origin=origin), lost)


def _known(origin: Origin) -> Origin:
    """Of products that share a chip the first is taken, and no file shows how many ranks ran."""
    return replace(origin, family=None, ranks=0)


def _rounded(batch: Activities, clock: Clock) -> Activities:
    start, end = nearest(clock, batch.start), nearest(clock, batch.end)
    batch = replace(batch, start=start, end=end)
    return batch.take(enclosing_first(start, end, np.arange(len(batch))))


def _functions(capture: Capture, clock: Clock) -> Activities:
    texts = capture.texts
    functions = capture.activities.take(capture.activities.kind == TRACE)
    functions = _rounded(functions, clock)
    every = texts.all
    table = np.full(len(every) + 1, NONE)
    for name in np.unique(functions.name).tolist():
        table[name] = texts.number(stored_name(every[name]))
    names = with_numbers(functions.thread, table[functions.name], texts)
    return Activities.filled(
        len(functions),
        start=functions.start,
        end=functions.end,
        thread=functions.thread,
        kind=TRACE,
        queue=0,
        name=names,
    )


def _operators(capture: Capture, clock: Clock) -> Activities:
    batch = _rounded(capture.activities.take(is_operator(capture.activities)), clock)
    return replace(
        batch,
        kind=np.full(len(batch), OP),
        forward_thread=np.where(batch.forward_thread == NONE, 0, batch.forward_thread),
        data_types=_respelled(batch.data_types, capture.texts),
        shapes=_respelled(batch.shapes, capture.texts),
    )


def _respelled(numbers: Integers, texts: Texts) -> Integers:
    """Types or shapes as they are shown of what is stored."""
    every = texts.all
    table = np.full(len(every) + 1, NONE)
    for number in np.unique(numbers[numbers >= 0]).tolist():
        spelled = shown(stored(every[number]) or "")
        table[number] = NONE if spelled is None else texts.number(spelled)
    return table[numbers]
