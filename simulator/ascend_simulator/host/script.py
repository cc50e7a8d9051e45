"""A program as the host sees it: runs of items that pass the queue together, and their lengths."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from zlib import crc32

import numpy as np

from ascend_ref.capture import Integers

from ..hardware.model import Chip
from ..program.model import (
    Annotate,
    Collective,
    Copy,
    Item,
    Launch,
    Operator,
    Prepare,
    Program,
    Synchronize,
)
from ..world.timeline import HostPlan
from .templates import Passage, passage

Launched = Sequence[tuple[str, int]]
MARK_HOST_NS = 300
QUEUED_MARK_HOST_NS = 1_500
"""What it costs the framework thread to set a mark."""


@dataclass(frozen=True, slots=True)
class Run:
    """Items ``first`` to ``last`` of one operator that the framework hands over in one go.

    passage: what the consumer does for them; None for items that do not pass the queue.
    share: ns of the framework thread, of which ``after`` come once the items are handed over.
    """

    operator: int
    first: int
    last: int
    passage: Passage | None
    share: int
    after: int


class HostScript:
    """What the host does in one step of a program on a chip, the same for every run and rank.

    Building one walks over the program's items; build it once per stage.
    """

    def __init__(
        self, program: Program, chip: Chip, launches: Callable[[Collective], Launched] | None = None
    ) -> None:
        """launches: the small tasks of a collective, needed where there is no FFTS+."""
        self.program = program
        self.chip = chip
        self._launches = launches
        self._known: set[tuple[object, ...]] = set()
        self.runs: tuple[Run, ...] = tuple(
            run
            for number, places in groupby(
                range(len(program.items)), key=lambda place: program.items[place].operator
            )
            for run in self._runs(number, list(places))
        )

    def _runs(self, number: int, places: list[int]) -> Iterator[Run]:
        operator, items = self.program.operators[number], self.program.items
        parts = _parts(items, places)
        costly = [part for part in parts if not isinstance(items[part[0]], Annotate)]
        for part in parts:
            found = items[part[0]]
            work = None
            if not isinstance(found, Synchronize | Prepare) and (
                not isinstance(found, Annotate) or found.on_device
            ):
                chosen = [
                    item
                    for item in items[part[0] : part[-1] + 1]
                    if not isinstance(item, Synchronize | Prepare)
                ]
                work = passage(
                    operator,
                    chosen,
                    self.chip,
                    known=self._seen(operator, chosen),
                    launches=self._launched(found),
                )
            if isinstance(found, Annotate):
                share = MARK_HOST_NS if work is None else QUEUED_MARK_HOST_NS
            else:
                share = operator.host // len(costly)
                if part is costly[0]:
                    share += operator.host - share * len(costly)
            after = 0 if work is None else min(share // 3, 2_500 + share // 40)
            yield Run(number, part[0], part[-1], work, share, after)

    def _launched(self, item: Item) -> Launched:
        if self.chip.ffts or self._launches is None or not isinstance(item, Collective):
            return ()
        return self._launches(item)

    def _seen(self, operator: Operator, items: Sequence[Item]) -> bool:
        """Whether the step has run the same operator before; remembers it.

        Graphs with work for the cube are compiled for their shapes, others for any shape. A third
        of the former are found at once even so, as in real steps.
        """
        item = items[0]
        if isinstance(item, Collective):
            key: tuple[object, ...] = (item.kind, item.dimension, item.count, item.data_type)
        elif not any(
            isinstance(item, Launch) and item.variants[0].pipes.get("mac") for item in items
        ):
            key = (operator.api, operator.name)
        else:
            key = (operator.api, operator.name, operator.shapes)
            if crc32(repr(key).encode()) % 3 == 0:
                return True
        known = key in self._known
        self._known.add(key)
        return known

    @cached_property
    def plan(self) -> HostPlan:
        """How long the host is busy with each item.

        The first item of a run carries all of ``before``, the last one all of ``after``: the items
        are handed over at one moment, so the consumer works for them without a break.
        """
        count = len(self.program.items)
        before, after, occupied, visible = (np.zeros(count, np.int64) for _ in range(4))
        for run in self.runs:
            before[run.first] = run.share - run.after
            after[run.last] = run.after
            if run.passage is not None:
                part = slice(run.first, run.last + 1)
                starts: Integers = np.array([0, *run.passage.ends[:-1]], np.int64)
                occupied[part] = np.array(run.passage.ends, np.int64) - starts
                visible[part] = np.array(run.passage.visible, np.int64) - starts
        return HostPlan(before, after, occupied, visible)


def _parts(items: tuple[Item, ...], places: list[int]) -> list[list[int]]:
    """Launches and copies that stand together form one part; any other item is one by itself."""
    parts: list[list[int]] = []
    for place in places:
        joins = isinstance(items[place], Launch | Copy)
        if joins and parts and isinstance(items[parts[-1][-1]], Launch | Copy):
            parts[-1].append(place)
        else:
            parts.append([place])
    return parts
