"""Python and Python GC: what the framework did on the host (trace_view.json)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ascend_ref.arrays import one_piece, text_places
from ascend_ref.capture.batch import Integers
from ascend_ref.spill import batches
from ascend_spec.timeline import Layer

from ..activity import CallStacks
from ..events import Item
from ..lookup import NONE, Columns, combinations, filled, taken
from ..notation import wholes
from ..session import Session, total
from ..threads import nested
from .counters import opened

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
    taking = _distinct(session, found.thread, found.dequeue)
    taking -= _distinct(session, found.thread, found.enqueue)
    threads = [thread for (thread,) in combinations(session.spill, found.thread)]
    for thread in threads:
        for event in session.thread(layer, "calls", threadId=thread):
            behind = event.name == "thread_sort_index" and thread in taking
            yield replace(event, value=threads[-1] + 1) if behind else event


def _distinct(session: Session, column: Integers, rows: Integers) -> set[int]:
    spill = session.spill
    return {value for (value,) in combinations(spill, spill.taken(column, rows))}


def _operators(session: Session, layer: Layer) -> Iterator[Item]:
    found = session.activity
    shapes, types = (
        session.notation.strings(one_piece(found.table[name]))
        for name in ("inputShapes", "inputDtypes")
    )
    kind = layer.event("operator")
    chain = Columns(found.table, session.spill).integers("callchainId", NONE)
    stacks = CallStacks(session.recorded, session.notation)
    for first in range(0, len(found.operator), ROWS_AT_ONCE):
        own = found.operator[first : first + ROWS_AT_ONCE]
        inputs = {"Input Dims": taken(shapes, own), "Input type": taken(types, own)}
        # Where one of them is known, the other is shown too.
        known = pc.or_(*(column.is_valid() for column in inputs.values()))
        args = {
            "Sequence number": wholes(found.sequence[own]),
            **{name: _where(known, filled(column, "")) for name, column in inputs.items()},
            "Call stack": stacks.texts(chain[own]),
        }
        yield session.filling.events(layer, kind, {"PYTORCH_API": own}, args=args)


def _where(known: pa.Array, column: pa.DictionaryArray) -> pa.DictionaryArray:
    """The column, NULL where nothing is known."""
    indices = pc.if_else(known, column.indices, pa.scalar(None, column.indices.type))
    return pa.DictionaryArray.from_arrays(indices, column.dictionary)


def _functions(session: Session, layer: Layer) -> Iterator[Item]:
    """The Python trace."""
    found = session.activity
    rows = found.function
    if not len(rows):
        return
    identity, parent = nested(session.spill, rows, found.thread, found.start, found.end)
    modules, module_names = _modules(found.names), text_places(found.names)
    for part in batches(len(rows)):
        own = rows[part]
        args = {
            "Python id": wholes(identity[part]),
            "Python parent id": wholes(parent[part]),
            "Python module id": modules.take(pa.array(module_names[own])),
        }
        kind = layer.event("python-function")
        yield session.filling.events(layer, kind, {"PYTORCH_API": own}, args=args)


def _modules(names: pa.DictionaryArray) -> pa.DictionaryArray:
    """The number of the module that each text of a dictionary names, NULL for other texts."""
    matches = [MODULE.fullmatch(text) for text in names.dictionary.to_pylist()]
    numbers = [None if match is None else str(int(match[1])) for match in matches]
    return pa.array(numbers, pa.string()).dictionary_encode()


def collections(session: Session) -> Iterator[Item]:
    """Runs of the garbage collector."""
    samples = opened(session, GC_LAYER)
    if samples is None:
        return
    layer, numbers = samples.layer, {"osPid": session.os_pid}
    yield from session.process(layer)
    yield from session.thread(layer, "gc", **numbers)
    thread = session.thread_kind(layer, "gc")
    rows = np.arange(len(samples))
    yield samples.events("gc", rows, thread=0 if thread is None else total(thread.tid, numbers))
