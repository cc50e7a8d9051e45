"""Python and Python GC: what the framework did on the host (trace_view.json)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pyarrow as pa

from ascend_spec.text.timeline import Layer

from ..activity import CallStacks
from ..events import Events, Item
from ..lookup import NONE, integers, places, taken
from ..notation import wholes
from ..python_calls import nested
from ..session import Session, total
from .batches import batches

LAYER = "Python"
GC_LAYER = "Python GC"
ROWS_AT_ONCE = 1 << 13
"""Rows with a call stack each: these texts are long."""
MODULE = re.compile(r"nn\.Module: [\s\S]*_([0-9]{1,18})")
"""Name of the call of a module; it ends with the number of the module."""


def framework(session: Session) -> Iterator[Item]:
    """Threads, operators and the Python trace."""
    layer = session.layer(LAYER)
    if layer is not None and len(session.activity):
        yield from _threads(session, layer)
        yield from _operators(session, layer)
        yield from _functions(session, layer)


def _threads(session: Session, layer: Layer) -> Iterator[Item]:
    """A thread that takes work from the queue is sorted behind all others."""
    found = session.activity
    yield from session.process(layer)
    taking = set(np.unique(found.thread[found.dequeue]).tolist())
    taking -= set(np.unique(found.thread[found.enqueue]).tolist())
    threads = np.unique(found.thread).tolist()
    for thread in threads:
        for event in session.thread(layer, "calls", threadId=thread):
            behind = event.name == "thread_sort_index" and thread in taking
            yield replace(event, value=threads[-1] + 1) if behind else event


def _operators(session: Session, layer: Layer) -> Iterator[Item]:
    found = session.activity
    table = found.table
    names = session.notation.strings(found.names)
    shapes, types = found.inputs(session.notation)
    chain = integers(table, "callchainId", NONE)
    stacks = CallStacks(session.recorded, session.notation)
    rows = np.flatnonzero(found.operator)
    for first in range(0, len(rows), ROWS_AT_ONCE):
        own = rows[first : first + ROWS_AT_ONCE]
        yield Events(
            layer=layer,
            kind=layer.event("operator"),
            start=found.start[own],
            thread=found.thread[own],
            length=found.end[own] - found.start[own],
            parts={"name": taken(names, own)},
            args={
                "Sequence number": wholes(found.sequence[own]),
                "Fwd thread id": wholes(found.forward_thread[own]),
                "Input Dims": taken(shapes, own),
                "Input type": taken(types, own),
                "Call stack": stacks.texts(chain[own]),
            },
        )


def _functions(session: Session, layer: Layer) -> Iterator[Item]:
    """The Python trace."""
    found = session.activity
    rows = np.flatnonzero(found.function)
    if not len(rows):
        return
    calls = nested(found.start[rows], found.end[rows], found.thread[rows])
    names = session.notation.strings(found.names)
    modules = _modules(found.names)
    for part in batches(len(rows)):
        own = rows[part]
        yield Events(
            layer=layer,
            kind=layer.event("python-function"),
            start=found.start[own],
            thread=found.thread[own],
            length=found.end[own] - found.start[own],
            parts={"name": taken(names, own)},
            args={
                "Python id": wholes(calls.identity[part]),
                "Python parent id": wholes(calls.parent[part]),
                "Python module id": taken(modules, own),
            },
        )


def _modules(names: pa.DictionaryArray) -> pa.DictionaryArray:
    """The number of the module that a name tells, NULL in other names."""
    matches = [MODULE.fullmatch(text) for text in names.dictionary.to_pylist()]
    numbers = [None if match is None else str(int(match[1])) for match in matches]
    place = np.where([number is None for number in numbers], NONE, np.arange(len(numbers)))
    indices = np.append(place, NONE).astype(np.int32)[places(names)]
    texts = pa.array([number or "" for number in numbers], pa.string())
    return pa.DictionaryArray.from_arrays(pa.array(indices, mask=indices == NONE), texts)


def collections(session: Session) -> Iterator[Item]:
    """Runs of the garbage collector."""
    layer = session.layer(GC_LAYER)
    table = session.recorded.table("GC_RECORD")
    if layer is None or not table.num_rows:
        return
    start, end = integers(table, "startNs", 0), integers(table, "endNs", 0)
    yield from session.process(layer)
    numbers = {"osPid": session.os_pid}
    yield from session.thread(layer, "gc", **numbers)
    thread = session.thread_kind(layer, "gc")
    yield Events(
        layer=layer,
        kind=layer.event("gc"),
        start=start,
        thread=0 if thread is None else total(thread.tid, numbers),
        length=end - start,
    )
