"""What the framework did on the host: PYTORCH_API with what its rows refer to."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ascend_ref.capture.batch import Integers
from ascend_ref.derive.nesting import innermost
from ascend_ref.recorded import Recorded

from .device_work import LOW_WORD
from .lookup import NONE, Lookup, Mask, array_of, filled, holds, integers, places
from .notation import Notation

ENQUEUE, DEQUEUE = "Enqueue", "Dequeue"
SEPARATOR = "@"
"""Between one of them and the work."""
FIRST_PRIVATE = 5 << 28
"""Connections from here on are the framework's own; until 2025-08 they had no offset (4.5)."""
FRAMES_BETWEEN = ";\r\n"


class Activity:
    """key: CONNECTION_IDS.id, NONE without links. operator, enqueue, dequeue, function: kinds."""

    def __init__(self, recorded: Recorded) -> None:
        table = recorded.table("PYTORCH_API")
        self.table = table.select(["inputShapes", "inputDtypes", "callchainId"])
        self._recorded = recorded
        self.start = integers(table, "startNs", 0)
        self.end = integers(table, "endNs", 0)
        self.thread = integers(table, "globalTid", 0) & LOW_WORD
        self.key = integers(table, "connectionId", NONE)
        self.sequence = integers(table, "sequenceNumber", NONE)
        self.forward_thread = integers(table, "fwdThreadId", 0)
        self.operator = holds(table, "type", "op", "mstx")
        self.function = holds(table, "type", "trace")
        queue = holds(table, "type", "queue")
        names = filled(array_of(table["name"]), "")
        entering = [text.startswith(ENQUEUE) for text in names.dictionary.to_pylist()]
        enters: Mask = np.array([*entering, False])[places(names)]
        self.enqueue, self.dequeue = queue & enters, queue & ~enters
        self.names = names

    def __len__(self) -> int:
        return len(self.start)

    @cached_property
    def links(self) -> tuple[Integers, Integers]:
        """CONNECTION_IDS: keys and connections."""
        table = self._recorded.table("CONNECTION_IDS")
        return integers(table, "id", NONE), integers(table, "connectionId", NONE)

    def correlation(self, rows: Integers) -> Integers:
        """The number that both ends of a queue entry have, NONE without one."""
        keys, connections = self.links
        row = Lookup(keys).rows(self.key[rows])
        row[self.key[rows] == NONE] = NONE
        if not len(connections):
            return np.full(len(rows), NONE)
        found = connections[row]
        plain = np.where(found >= FIRST_PRIVATE, found - FIRST_PRIVATE, found)
        return np.where(row == NONE, NONE, plain)

    def launching(self, connections: Integers, thread: Integers, moment: Integers) -> Integers:
        """The operator that caused calls of CANN, NONE without one.

        connections, thread, moment: of the calls. Links tell of launches of kernels only; for the
        others the exporter takes the operator that put the work into the queue whose taking out
        they lie in, or where there is no queue, the innermost one that they lie in themselves.
        """
        found = self._linked(connections)
        lost = np.flatnonzero(found == NONE)
        if not self.dequeue.any():
            found[lost] = self._innermost(self.operator, thread[lost], moment[lost])
            return found
        taken = self._innermost(self.dequeue, thread[lost], moment[lost])
        lost, taken = lost[taken != NONE], taken[taken != NONE]
        given = np.flatnonzero(self.enqueue)
        number = self.correlation(taken)
        source = Lookup(self.correlation(given)).rows(number)
        source[number == NONE] = NONE
        lost, given = lost[source != NONE], given[source[source != NONE]]
        found[lost] = self._innermost(self.operator, self.thread[given], self.start[given])
        return found

    def _linked(self, connections: Integers) -> Integers:
        """The operator that launched through each connection, as CONNECTION_IDS says."""
        keys, linked = self.links
        rows = np.flatnonzero(self.operator & (self.key != NONE))
        owner = Lookup(self.key[rows]).rows(keys)
        known = np.flatnonzero(owner != NONE)
        link = Lookup(linked[known]).rows(connections)
        if not len(known):
            return np.full(len(connections), NONE)
        return np.where(link == NONE, NONE, rows[owner[known[link]]])

    def _innermost(self, chosen: Mask, thread: Integers, moment: Integers) -> Integers:
        """Of the chosen rows the innermost one on a thread at a moment, NONE without one."""
        found = np.full(len(thread), NONE)
        for one in np.unique(thread).tolist():
            rows = np.flatnonzero(chosen & (self.thread == one))
            rows = rows[np.lexsort((-self.end[rows], self.start[rows]))]
            here = np.flatnonzero(thread == one)
            place = innermost(self.start[rows], self.end[rows], moment[here])
            found[here] = np.append(rows, NONE)[place]
        return found

    def inputs(self, notation: Notation) -> tuple[pa.DictionaryArray, pa.DictionaryArray]:
        """Shapes and types of the inputs; where one of them is told, the other is no less."""
        columns = [array_of(self.table[name]) for name in ("inputShapes", "inputDtypes")]
        if _are_types(columns[0]) and not _are_types(columns[1]):
            # Erratum E23: until 2024-11 each column held what belongs into the other.
            columns.reverse()
        told = pc.or_(columns[0].is_valid(), columns[1].is_valid())
        shapes, types = (filled(column, "") if column.null_count else column for column in columns)
        return _where(told, notation.strings(shapes)), _where(told, notation.strings(types))


def _where(told: pa.Array, column: pa.DictionaryArray) -> pa.DictionaryArray:
    """The column, NULL where nothing was told."""
    indices = pc.if_else(told, column.indices, None)
    return pa.DictionaryArray.from_arrays(indices, column.dictionary)


def _are_types(column: pa.DictionaryArray) -> bool:
    """Whether a column of inputs names types: shapes have no letters."""
    return bool(pc.any(pc.match_substring_regex(column.dictionary, "[A-Za-z]")).as_py())


class CallStacks:
    """PYTORCH_CALLCHAINS as texts, put together when they are asked for."""

    def __init__(self, recorded: Recorded, notation: Notation) -> None:
        table = recorded.table("PYTORCH_CALLCHAINS")
        chain, depth = integers(table, "id", NONE), integers(table, "stackDepth", 0)
        frames = filled(array_of(table["stack"]), "")
        steps = np.diff(chain)
        if (steps < 0).any() or ((steps == 0) & (np.diff(depth) < 0)).any():
            order = np.lexsort((depth, chain))
            chain, frames = chain[order], frames.take(pa.array(order))
        self._frames = notation.strings(frames)
        self._separator = notation.string(FRAMES_BETWEEN)
        self._chains, self._first = np.unique(chain, return_index=True)
        self._stops = np.append(self._first[1:], len(chain))

    def texts(self, chains: Integers) -> pa.DictionaryArray:
        """The stacks with these numbers, innermost frame first; NULL where there is none."""
        distinct, number = np.unique(chains, return_inverse=True)
        row = Lookup(self._chains).rows(distinct)
        row[distinct == NONE] = NONE
        known = np.flatnonzero(row != NONE)
        first, count = self._first[row[known]], (self._stops - self._first)[row[known]]
        ends = np.cumsum(count)
        rows = np.arange(int(ends[-1]) if len(ends) else 0)
        rows += np.repeat(first - (ends - count), count)
        frames = self._frames.take(pa.array(rows)).dictionary_decode()
        offsets = pa.array(np.concatenate([[0], ends]).astype(np.int32))
        texts = pc.binary_join(pa.ListArray.from_arrays(offsets, frames), self._separator)
        place = np.full(len(distinct), NONE, np.int32)
        place[known] = np.arange(len(known))
        indices = place[number]
        return pa.DictionaryArray.from_arrays(pa.array(indices, mask=indices == NONE), texts)
