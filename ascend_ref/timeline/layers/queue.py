"""The task queue of the framework, and the arrows between what the framework did."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa

from ascend_ref.capture.batch import Integers
from ascend_spec.text.timeline import Layer

from ..activity import SEPARATOR, Activity
from ..events import Events, Item, Points
from ..flow_ids import flow_ids
from ..lookup import NONE, Alternatives, Lookup, Mask, taken
from ..notation import wholes
from ..rows import Fragment
from ..session import Session
from .batches import batches
from .framework import LAYER

NAMED = "named-enqueue"
"""Kind of event of the writers that name putting in as well."""


def queue(session: Session) -> Iterator[Item]:
    """Putting work into the queue and taking it out, and the arrows between the two."""
    layer = session.layer(LAYER)
    if layer is None or not len(session.activity):
        return
    found = session.activity
    given, got = np.flatnonzero(found.enqueue), np.flatnonzero(found.dequeue)
    given_number, got_number = found.correlation(given), found.correlation(got)
    taker = _takers(given_number, got_number, got)
    works = _Works(session, found)
    kinds = {kind.kind for kind in layer.events_of(session.style_of(layer))}
    putting = NAMED if NAMED in kinds else "enqueue"
    for kind, rows, number in (("dequeue", got, got_number), (putting, given, given_number)):
        for part in batches(len(rows)):
            own = rows[part]
            parts: Mapping[str, Fragment] = {"name": taken(works.names, own)}
            if kind == putting:
                parts = {"suffix": works.suffixes(taker[part])}
            yield Events(
                layer=layer,
                kind=layer.event(kind),
                start=found.start[own],
                thread=found.thread[own],
                length=found.end[own] - found.start[own],
                parts=parts,
                args={"correlation_id": wholes(number[part])},
            )
    known = np.flatnonzero(taker != NONE)
    known = known[found.start[given[known]] <= found.start[taker[known]]]
    number, first = np.unique(given_number[known], return_index=True)
    pairs = given[known[first]], taker[known[first]]
    yield from _arrows(session, layer, "task-queue", {"correlationId": number}, *pairs)


def _takers(given: Integers, got: Integers, rows: Integers) -> Integers:
    """The row that took out what was put in under each number, NONE without one."""
    place = Lookup(got).rows(given)
    place[given == NONE] = NONE
    return np.where(place == NONE, NONE, rows[place]) if len(rows) else place


class _Works:
    """What was put into the queue and taken out of it, by the names of the rows."""

    def __init__(self, session: Session, found: Activity) -> None:
        texts = found.names.dictionary.to_pylist()
        works = [text.partition(SEPARATOR)[2] or text for text in texts]
        self.names = self._column(session, found, works)
        suffixes = self._column(session, found, [SEPARATOR + work for work in works])
        self._suffixes = Alternatives(suffixes, session.constant(""))

    @staticmethod
    def _column(session: Session, found: Activity, texts: list[str]) -> pa.DictionaryArray:
        shown = session.notation.strings(pa.array(texts, pa.string()))
        return pa.DictionaryArray.from_arrays(found.names.indices, shown)

    def suffixes(self, taker: Integers) -> pa.DictionaryArray:
        """What follows the name of putting in: the work that was taken out."""
        return self._suffixes.first_of(taker, np.zeros(len(taker), np.int64))


def backward(session: Session) -> Iterator[Item]:
    """From the last forward operator of a number to its last backward one, on another thread."""
    layer = session.layer(LAYER)
    if layer is None or not len(session.activity):
        return
    found = session.activity
    numbered = found.operator & (found.sequence >= 0)
    first = _last(found, numbered & (found.forward_thread == 0))
    second = _last(found, numbered & (found.forward_thread != 0))
    row = Lookup(found.sequence[second]).rows(found.sequence[first])
    first, second = first[row != NONE], second[row[row != NONE]]
    shown = found.thread[first] != found.thread[second]
    shown &= found.start[first] <= found.start[second]
    first, second = first[shown], second[shown]
    number = {"sequenceNumber": found.sequence[first]}
    yield from _arrows(session, layer, "forward-backward", number, first, second)


def _last(found: Activity, chosen: Mask) -> Integers:
    """Of the chosen rows with each number the one that starts last, numbers ascending."""
    rows = np.flatnonzero(chosen)[::-1]
    order = rows[np.lexsort((found.start[rows], found.sequence[rows]))]
    ends: Mask = np.append(np.diff(found.sequence[order]) != 0, True)[: len(order)]
    last: Integers = order[ends]
    return last


def _arrows(
    session: Session,
    layer: Layer,
    name: str,
    ids: Mapping[str, Integers],
    starts: Integers,
    ends: Integers,
) -> Iterator[Points]:
    flow, found = session.flow(name), session.activity
    form = flow.id_of(session.style_of(layer)) if flow is not None else None
    if flow is None or form is None:
        return
    for part in batches(len(starts)):
        identity = flow_ids(form, {key: values[part] for key, values in ids.items()})
        for rows, is_end in ((starts[part], False), (ends[part], True)):
            yield Points(
                flow, layer, is_end, identity, found.start[rows], thread=found.thread[rows]
            )
