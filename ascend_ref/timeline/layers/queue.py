"""The task queue of the framework, and the arrows between what the framework did."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from ascend_ref.arrays import Mask
from ascend_ref.capture.batch import Integers
from ascend_ref.spill import Spill, batches, first_of_each, sorted_rows
from ascend_spec.timeline import Layer

from ..activity import SEPARATOR, Activity
from ..events import Item, Points
from ..lookup import NONE, Lookup, filled, taken
from ..notation import wholes
from ..session import Session
from .framework import LAYER

NAMED = "named-enqueue"
"""Kind of event of the writers that name putting in as well."""


def queue(session: Session) -> Iterator[Item]:
    """Putting work into the queue and taking it out, and the arrows between the two."""
    layer = session.layer(LAYER)
    if layer is None or not len(session.activity):
        return
    found = session.activity
    given, got = found.enqueue, found.dequeue
    given_number, got_number = found.correlation(given), found.correlation(got)
    taker = takers(session.spill, given_number, got_number, got)
    done, suffixes = works(session, ""), works(session, SEPARATOR)
    kinds = {kind.kind for kind in layer.events_of(session.style_of(layer))}
    putting = NAMED if NAMED in kinds else "enqueue"
    for kind, rows, number in (("dequeue", got, got_number), (putting, given, given_number)):
        for part in batches(len(rows)):
            own = rows[part]
            if kind == putting:
                parts = {"suffix": filled(taken(suffixes, taker[part]), "")}
            else:
                parts = {"name": taken(done, own)}
            args = {"correlation_id": wholes(number[part])}
            shown = {"PYTORCH_API": own}
            yield session.filling.events(layer, layer.event(kind), shown, parts=parts, args=args)
    entries = entries_of(session.spill, found, given, given_number, taker)
    yield from arrows_between(session, layer, "task-queue", "correlationId", entries)


def takers(spill: Spill, given: Integers, got: Integers, rows: Integers) -> Integers:
    """The row that took out what was put in under each number, NONE without one."""
    lookup = Lookup(got, spill)

    def taker(given: Integers) -> Integers:
        place = np.where(given == NONE, NONE, lookup.rows(given))
        return np.where(place == NONE, NONE, rows[place]) if len(rows) else place

    return spill.made(taker, given)


def entries_of(
    spill: Spill, found: Activity, given: Integers, number: Integers, taker: Integers
) -> Linked:
    """Each number that was put in and later taken out, with the first rows that did so."""
    known = spill.where(
        lambda given, taker: (taker != NONE) & (found.start[given] <= found.start[taker]),
        given,
        taker,
    )
    known_number = spill.taken(number, known)
    order = sorted_rows(spill, known_number)
    ordered = spill.taken(known_number, order)
    first = first_of_each(spill, ordered)
    chosen = spill.taken(known, spill.taken(order, first))
    return Linked(
        spill.taken(ordered, first), spill.taken(given, chosen), spill.taken(taker, chosen)
    )


def works(session: Session, before: str) -> pa.DictionaryArray:
    """What was put into the queue or taken out of it, by the names of the rows, behind a text."""
    names = session.activity.names
    texts = [
        before + (text.partition(SEPARATOR)[2] or text) for text in names.dictionary.to_pylist()
    ]
    shown = session.notation.strings(pa.array(texts, pa.string()))
    return pa.DictionaryArray.from_arrays(names.indices, shown, safe=False)


def backward(session: Session) -> Iterator[Item]:
    """From the last forward operator of a number to its last backward one, on another thread."""
    layer = session.layer(LAYER)
    if layer is None or not len(session.activity):
        return
    found = session.activity
    spill = session.spill
    first = _last(spill, found, lambda thread: thread == 0)
    second = _last(spill, found, lambda thread: thread != 0)
    sequence = spill.taken(found.sequence, first)
    row = Lookup(spill.taken(found.sequence, second), spill).rows(sequence)

    def shown(first: Integers, row: Integers) -> Mask:
        known = np.flatnonzero(row != NONE)
        later, sooner = second[row[known]], first[known]
        mask: Mask = row != NONE
        mask[known] = found.thread[sooner] != found.thread[later]
        mask[known] &= found.start[sooner] <= found.start[later]
        return mask

    chosen = spill.where(shown, first, row)
    ends = Linked(
        spill.taken(sequence, chosen),
        spill.taken(first, chosen),
        spill.taken(second, spill.taken(row, chosen)),
    )
    yield from arrows_between(session, layer, "forward-backward", "sequenceNumber", ends)


def _last(spill: Spill, found: Activity, holds: Callable[[Integers], Mask]) -> Integers:
    """Of the operators with each number the one that starts last, numbers ascending.

    holds: which of them, by the thread of their forward operator.
    """
    numbered = spill.where(
        lambda row: (found.sequence[row] >= 0) & holds(found.forward_thread[row]), found.operator
    )
    rows = spill.taken(found.operator, numbered)
    sequence = spill.taken(found.sequence, rows)
    order = sorted_rows(spill, sequence, spill.made(lambda row: ~found.start[row], rows))
    last = first_of_each(spill, spill.taken(sequence, order))
    return spill.taken(rows, spill.taken(order, last))


class Linked(NamedTuple):
    """Arrows between rows. number: what the ids are made of. starts, ends: rows of PYTORCH_API."""

    number: Integers
    starts: Integers
    ends: Integers


def arrows_between(
    session: Session, layer: Layer, name: str, quantity: str, arrows: Linked
) -> Iterator[Points]:
    """Both points of each arrow; none of a flow that the writer does not have."""
    flow, found = session.flow(name), session.activity
    if flow is None:
        return
    for batch in batches(len(arrows.number)):
        ids = {quantity: arrows.number[batch]}
        for rows, is_end in ((arrows.starts[batch], False), (arrows.ends[batch], True)):
            yield Points(flow, layer, is_end, ids, found.start[rows], thread=found.thread[rows])
