"""What the framework did on the host: PYTORCH_API with what its rows refer to."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ascend_ref.arrays import Mask, integers, one_piece, text_places
from ascend_ref.capture.batch import Integers
from ascend_ref.recorded import Recorded

from .lookup import NONE, Columns, Lookup, filled
from .notation import Notation
from .threads import OpenCalls

ENQUEUE = "Enqueue"
SEPARATOR = "@"
"""Between it and the work."""
FIRST_PRIVATE = 5 << 28
"""Connections from here on are the framework's own; until 2025-08 they had no offset (4.5)."""
FRAMES_BETWEEN = ";\r\n"
WHERE = ("startNs", "endNs", "globalTid", "connectionId", "name", "type")
"""Columns that say what called what."""


class Activity:
    """key: CONNECTION_IDS.id, NONE without links. operator, enqueue, dequeue: rows."""

    def __init__(self, recorded: Recorded) -> None:
        self._recorded = recorded
        self._spill = spill = recorded.spill
        self._columns = columns = Columns(recorded.table("PYTORCH_API", WHERE), spill)
        self.start = columns.integers("startNs", 0)
        self.end = columns.integers("endNs", 0)
        self.thread = columns.low_words("globalTid")
        self.key = columns.integers("connectionId", NONE)
        self.operator = self._rows(columns.holds("type", "op", "mstx"))
        names = filled(one_piece(columns.table["name"]), "")
        entering = [text.startswith(ENQUEUE) for text in names.dictionary.to_pylist()]
        enters: Mask = np.array([*entering, False])
        queue, place = columns.holds("type", "queue"), text_places(names)
        self.enqueue = spill.where(lambda queue, place: queue & enters[place], queue, place)
        self.dequeue = spill.where(lambda queue, place: queue & ~enters[place], queue, place)
        self.names = names

    def __len__(self) -> int:
        return len(self.start)

    @cached_property
    def table(self) -> pa.Table:
        """PYTORCH_API with all columns."""
        return self._recorded.table("PYTORCH_API")

    @cached_property
    def sequence(self) -> Integers:
        """The number by which forward and backward operators belong together, NONE without one."""
        return Columns(self.table, self._spill).integers("sequenceNumber", NONE)

    @cached_property
    def forward_thread(self) -> Integers:
        """The thread of the forward operator of a backward one, 0 without one."""
        return Columns(self.table, self._spill).integers("fwdThreadId", 0)

    @cached_property
    def function(self) -> Integers:
        """The rows of the Python trace."""
        return self._rows(self._columns.holds("type", "trace"))

    def _rows(self, mask: Mask) -> Integers:
        return self._spill.where(lambda mask: mask, mask)

    @cached_property
    def _links(self) -> tuple[Integers, Integers]:
        """CONNECTION_IDS: keys and connections."""
        table = self._recorded.table("CONNECTION_IDS", ("id", "connectionId"))
        columns = Columns(table, self._spill)
        return columns.integers("id", NONE), columns.integers("connectionId", NONE)

    @cached_property
    def _link_of_key(self) -> Lookup:
        return Lookup(self._links[0], self._spill)

    def correlation(self, rows: Integers) -> Integers:
        """The number that both ends of a queue entry have, NONE without one."""
        return self._spill.made(self._correlation, rows)

    def _correlation(self, rows: Integers) -> Integers:
        key, connections = self.key[rows], self._links[1]
        row = np.where(key == NONE, NONE, self._link_of_key.rows(key))
        if not len(connections):
            return row
        found = connections[row]
        plain = np.where(found >= FIRST_PRIVATE, found - FIRST_PRIVATE, found)
        return np.where(row == NONE, NONE, plain)

    def launching(self, connections: Integers, thread: Integers, moment: Integers) -> Integers:
        """The operator that caused calls of CANN, NONE without one.

        connections, thread, moment: of the calls. Links exist only for launches of kernels. For the
        other calls the exporter takes the operator that put the work into the queue, if they lie
        in the event that takes it out; without a queue, the innermost operator around them.
        """
        return self._spill.made(self._launching, connections, thread, moment)

    def _launching(self, connections: Integers, thread: Integers, moment: Integers) -> Integers:
        found = self._linked(connections)
        lost = np.flatnonzero(found == NONE)
        if not len(self.dequeue):
            found[lost] = self._operators.innermost(thread[lost], moment[lost])
            return found
        taken = self.taking(thread[lost], moment[lost])
        lost, taken = lost[taken != NONE], taken[taken != NONE]
        number = self._correlation(taken)
        source = np.where(number == NONE, NONE, self._giving.rows(number))
        lost, given = lost[source != NONE], self.enqueue[source[source != NONE]]
        found[lost] = self._operators.innermost(self.thread[given], self.start[given])
        return found

    def taking(self, thread: Integers, moment: Integers) -> Integers:
        """The row that took work out of the queue around each moment of a thread, NONE without."""
        if not len(self.dequeue):
            return np.full(len(thread), NONE)
        return self._takings.innermost(thread, moment)

    @cached_property
    def _giving(self) -> Lookup:
        """Where a number was put into the queue."""
        return Lookup(self.correlation(self.enqueue), self._spill)

    @cached_property
    def _operators(self) -> OpenCalls:
        return self._open(self.operator)

    @cached_property
    def _takings(self) -> OpenCalls:
        return self._open(self.dequeue)

    def _open(self, rows: Integers) -> OpenCalls:
        return OpenCalls(self._spill, rows, self.thread, self.start, self.end)

    @cached_property
    def _owners(self) -> tuple[Lookup, Integers]:
        """Where connections stand among those that operators launched through; the operators."""
        keys, linked = self._links
        keyed = self._spill.where(lambda row: self.key[row] != NONE, self.operator)
        rows = self._spill.taken(self.operator, keyed)
        of_key = Lookup(self._spill.taken(self.key, rows), self._spill)
        owner = of_key.rows(keys)
        known = self._spill.where(lambda owner: owner != NONE, owner)
        connections = self._spill.taken(linked, known)
        operators = self._spill.made(lambda link: rows[owner[link]], known)
        return Lookup(connections, self._spill), operators

    def _linked(self, connections: Integers) -> Integers:
        """The operator that launched through each connection, as CONNECTION_IDS says."""
        lookup, operators = self._owners
        link = lookup.rows(connections)
        if not len(operators):
            return np.full(len(connections), NONE)
        return np.where(link == NONE, NONE, operators[link])


class CallStacks:
    """PYTORCH_CALLCHAINS as texts, as they are or in a notation, put together when asked for."""

    def __init__(self, recorded: Recorded, notation: Notation | None = None) -> None:
        table = recorded.table("PYTORCH_CALLCHAINS")
        chain, depth = integers(table["id"], NONE), integers(table["stackDepth"], 0)
        frames = filled(one_piece(table["stack"]), "")
        steps = np.diff(chain)
        if (steps < 0).any() or ((steps == 0) & (np.diff(depth) < 0)).any():
            order = np.lexsort((depth, chain))
            chain, frames = chain[order], frames.take(pa.array(order))
        self._frames = notation.strings(frames) if notation else frames
        self._separator = notation.string(FRAMES_BETWEEN) if notation else FRAMES_BETWEEN
        self._chains, self._first = np.unique(chain, return_index=True)
        self._stops = np.append(self._first[1:], len(chain))
        self._row_of = Lookup(self._chains, recorded.spill)

    def texts(self, chains: Integers) -> pa.DictionaryArray:
        """The stacks with these numbers, innermost frame first; NULL where there is none."""
        distinct, number = np.unique(chains, return_inverse=True)
        row = np.where(distinct == NONE, NONE, self._row_of.rows(distinct))
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
