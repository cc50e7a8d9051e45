"""Calls and events of a host as facts, and which call of a thread holds a moment."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ascend_ref.capture.kinds import COMMUNICATION, NODE
from ascend_ref.raw.binding import Tree
from ascend_ref.raw.layout import Layout
from ascend_ref.raw.slices import Block
from ascend_ref.raw.vocabulary import named
from ascend_spec.raw.records import EVENT_FLAG

from ...engine.sqlite_facts import SqlValue
from .reading import Folder, known_types

Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

WITH_TEXTS = (COMMUNICATION, NODE)
"""Levels whose items are numbers of texts."""


def gather_calls(folder: Folder) -> None:
    """Every call and event."""
    host = folder.host
    if host is None:
        return
    for layout, block, number in folder.blocks(host, "api_event"):
        folder.facts.add("call", _calls(folder, layout, block, number))


def _calls(
    folder: Folder, layout: Layout, block: Block, number: int
) -> Iterator[tuple[SqlValue, ...]]:
    rows = layout.view(0, block.rows)
    is_event = rows["endTime"] == np.uint64(EVENT_FLAG)
    offsets = offsets_of(block, layout)
    levels, types = rows["level"].tolist(), rows["type"].tolist()
    items = rows["itemId"].tolist()
    level_texts, known = named("levels"), known_types()
    columns = zip(
        offsets,
        levels,
        types,
        rows["threadId"].tolist(),
        rows["beginTime"].astype(np.int64).tolist(),
        rows["endTime"].astype(np.int64).tolist(),
        items,
        rows["reserve"].tolist(),
        is_event.tolist(),
        strict=True,
    )
    for offset, level, value, thread, begin, end, item, request, event in columns:
        name = folder.types.get((level, value)) or known.get((level, value))
        text = folder.texts.get(item) if level in WITH_TEXTS else None
        yield (
            *(number, None, offset, level, level_texts.get(level), value, name),
            *(int(name is not None), thread, begin, None if event else end),
            *(signed(item), text, request, int(event)),
        )


def offsets_of(block: Block, layout: Layout) -> list[int]:
    """The byte of each record of a block."""
    places = block.offset + np.arange(len(block.rows)) * layout.size
    found: list[int] = np.maximum(places, 0).tolist()
    return found


def signed(number: int) -> int:
    """A number of 64 bits as SQLite holds it."""
    return number - (1 << 64) if number >> 63 else number


@dataclass(frozen=True)
class Holders:
    """Calls of the layer of nodes: which of them holds a moment (raw-prof 5)."""

    tree: Tree
    items: Integers

    def __bool__(self) -> bool:
        return len(self.items) > 0

    def of(self, threads: Integers, times: Integers) -> tuple[Flags, Integers]:
        """Whether a call holds each moment, and the item of the innermost one that does."""
        rows = self.tree.holding(threads, times)
        held = rows >= 0
        items = np.zeros(len(times), np.int64)
        items[held] = self.items[self.tree.place[rows[held]]]
        return held, items


def holders(folder: Folder) -> Holders:
    """The calls of nodes of the facts."""
    rows = folder.facts.connection.execute(
        'SELECT thread, begin, "end", item FROM call WHERE level = ? AND is_event = 0 AND begin <= '
        '"end" ORDER BY thread, begin, "end" DESC',
        (NODE,),
    )
    columns = ("thread", "begin", "end", "item")
    found = np.fromiter(rows, [(name, np.int64) for name in columns])
    thread, begin, end, items = (found[name].copy() for name in columns)
    return Holders(Tree.of(thread, begin, end, np.full(len(found), NODE)), items)
