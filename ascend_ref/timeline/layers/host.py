"""CANN: the calls of the host below the framework, and system calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa

from ascend_ref.arrays import Mask, first_known, one_piece, text_places
from ascend_ref.capture.batch import Integers
from ascend_ref.derive.call_classes import HOST_COMMUNICATION, call_class
from ascend_ref.spill import batches
from ascend_spec.timeline import Layer

from ..events import Events, Item, rows_of
from ..lookup import NONE, Columns, Lookup, combinations, filled, taken
from ..notation import wholes
from ..session import Session
from .counters import opened, rows_in_turn

CANN = "CANN"
SYSTEM_CALLS = "OS Runtime API"

COMMUNICATION_LEVELS = ("communication", "hccl")
OLD_WRITERS = ("adapter-2025-01",)
"""Writers that call this level hccl (erratum T3)."""
UNKNOWN_LEVEL = "Api"

NO_ITEM = "0"
MASTER = "master"
"""Mode of calls of communication; it shows whose stream they serve."""


def calls(session: Session) -> Iterator[Item]:
    """The calls of CANN."""
    layer = session.layer(CANN)
    table = session.calls.table
    if layer is None or not table.num_rows or not session.shows(layer.event("call").levels):
        return
    yield from session.process(layer)
    for (thread,) in combinations(session.spill, session.calls.thread):
        yield from session.thread(layer, "calls", threadId=thread)
    texts = _CallTexts(session, layer, table)
    for part in batches(table.num_rows):
        yield texts.events(part)


class _CallTexts:
    """The texts of calls; each distinct pair of level and name is put together once."""

    def __init__(self, session: Session, layer: Layer, table: pa.Table) -> None:
        self._session, self._layer, self._kind = session, layer, layer.event("call")
        titles = {str(level): title for title, level in self._kind.shows["name.level"].words}
        levels = filled(one_piece(table["type"]), "")
        names = filled(one_piece(table["name"]), "")
        self._levels, self._names = text_places(levels), text_places(names)
        level_texts, name_texts = levels.dictionary.to_pylist(), names.dictionary.to_pylist()
        strings = session.notation.string
        communication = level_of_communication(session.engine)
        self._width = len(name_texts)
        pairs = combinations(session.spill, self._levels, self._names)
        self._pairs = np.array([level * self._width + name for level, name in pairs], np.int64)
        details = [
            _level(level_texts[level], titles, communication)
            + _details(level_texts[level], name_texts[name])
            for level, name in pairs
        ]
        self._texts = [pa.array([strings(one[place]) for one in details]) for place in range(6)]
        self._launched = _Launched(session)

    def events(self, part: slice) -> Events:
        calls, filling = self._session.calls, self._session.filling
        number = self._levels[part].astype(np.int64) * self._width + self._names[part]
        pair = pa.array(np.searchsorted(self._pairs, number).astype(np.int32))
        title, level, name, mode, identity, item = (
            pa.DictionaryArray.from_arrays(pair, texts) for texts in self._texts
        )
        args = {
            "Thread Id": wholes(calls.thread[part]),
            "Mode": mode,
            "level": level,
            "id": identity,
            "item_id": self._launched.items(calls.connection[part], calls.node[part], item),
        }
        shown, parts = {"CANN_API": rows_of(part)}, {"level": title, "api": name}
        return filling.events(self._layer, self._kind, shown, parts=parts, args=args)


class _Launched:
    """What launches are about: the kernel, or the type of the communication operator."""

    def __init__(self, session: Session) -> None:
        work, spill = session.work, session.spill
        kernels = session.kernels
        operators = session.communication.operators
        launched = spill.where(lambda kernel: kernel != NONE, work.kernel)
        self._kernels = spill.taken(work.kernel, launched)
        self._by_task = Lookup(spill.taken(work.connection, launched), spill)
        self._by_operator = Lookup(session.communication.connection, spill)
        self._texts = (
            session.texts(kernels, "name"),
            session.texts(operators, "opType"),
        )

    def items(
        self, connection: Integers, node: Mask, others: pa.DictionaryArray
    ) -> pa.DictionaryArray:
        """item_id of calls: that of ``others`` where they launch nothing."""
        task = self._by_task.rows(connection)
        kernel = np.full(len(task), NONE)
        if len(self._kernels):
            kernel = np.where(node & (task != NONE), self._kernels[task], NONE)
        operator = np.where(node, self._by_operator.rows(connection), NONE)
        kernels, operators = self._texts
        return first_known([taken(kernels, kernel), taken(operators, operator), others])


def level_of_communication(engine: str) -> tuple[str, str]:
    """What a writer calls the level of communication: begin of the name, and the arg level."""
    return ("Hccl", "hccl") if engine in OLD_WRITERS else ("Communication", "communication")


def _level(
    level: str, titles: Mapping[str, str], communication: tuple[str, str]
) -> tuple[str, str]:
    """Begin of the name, and the arg level. ``communication``: those of that level."""
    if level in COMMUNICATION_LEVELS:
        return communication
    return (titles[level], level) if level in titles else (UNKNOWN_LEVEL, "")


def _details(level: str, name: str) -> tuple[str, str, str, str]:
    """What was called, Mode, id and item_id (text-outputs.md 3.2, api_statistic)."""
    if level == "acl":
        mode = call_class(name)
        return name, mode, name, name if mode == HOST_COMMUNICATION else NO_ITEM
    if level in COMMUNICATION_LEVELS:
        return name, MASTER, NO_ITEM, name
    return name, name, NO_ITEM, NO_ITEM


def system_calls(session: Session) -> Iterator[Item]:
    """Calls of the operating system."""
    samples = opened(session, SYSTEM_CALLS)
    if samples is None:
        return
    thread = Columns(samples.table, session.spill).low_words("globalTid")
    yield from session.process(samples.layer)
    for (number,) in combinations(session.spill, thread):
        yield from session.thread(samples.layer, "calls", threadId=number)
    yield from rows_in_turn(samples)
