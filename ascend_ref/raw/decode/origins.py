"""Which records the rows of a recording were read from, for those who state where a row stands."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ascend_ref.capture import Integers
from ascend_ref.spill import Spill
from ascend_spec import raw_catalog

from ..context import Context
from ..layout import Ambiguous, Layout, layout_of
from ..slices import read_blocks

NO_PLACE = -1
BITS = 44
"""A place is the number of a source above so many bits, and the number of a record in it."""


class Source(NamedTuple):
    """The records of one declaration in all files of a kind, in their order."""

    context: Context
    kind: str
    record: str


class Origin(NamedTuple):
    """The places of the rows of a table: of row after row, or by a number in a ``column``, from
    ``first`` on; :data:`NO_PLACE` for what no record holds.
    """

    places: Integers
    column: str | None = None
    first: int = 0


class Stands(NamedTuple):
    """Where a record stands."""

    path: Path
    offset: int
    size: int
    source: Source


@dataclass
class Origins:
    """The origins of tables, by their names in databases."""

    sources: list[Source] = field(default_factory=list)
    tables: dict[str, Origin] = field(default_factory=dict)

    def places(self, spill: Spill, source: Source, records: Integers) -> Integers:
        """The places of records by their numbers in a source; negative ones are none."""
        if source not in self.sources:
            self.sources.append(source)
        base = self.sources.index(source) << BITS
        return spill.made(lambda one: np.where(one >= 0, one + base, NO_PLACE), records)

    def by_number(
        self, spill: Spill, table: str, count: int, numbers: Integers, places: Integers
    ) -> None:
        """Note the places of the rows whose column ``globalTaskId`` has these numbers."""
        found = spill.changeable(count, NO_PLACE)
        for batch in reversed(list(spill.batches(len(numbers)))):
            found[numbers[batch][::-1]] = places[batch][::-1]
        self.tables[table] = Origin(found, "globalTaskId")

    def stands(self, place: int) -> Stands | None:
        """Where the record of a place stands; ``None`` for no place.

        The files up to it are read again, which nobody does who finds nothing.
        """
        if place < 0:
            return None
        source, number = self.sources[place >> BITS], place & ((1 << BITS) - 1)
        layout = layout_in(source.context, source.kind)
        slices = source.context.folder.files.get(source.kind)
        if layout is None or slices is None:
            return None
        member = [one.record for one in layout.members].index(source.record)
        for _, run in slices.runs():
            for block in read_blocks(run, layout, source.context.folder.side, []):
                own = np.flatnonzero(layout.split(block.rows)[member])
                if number < len(own):
                    offset = block.offset + int(own[number]) * layout.size
                    return Stands(block.path, offset, layout.size, source)
                number -= len(own)
        return None


def layout_in(context: Context, kind: str) -> Layout | None:
    """The layout of a kind of file in a folder; ``None`` where that cannot be known."""
    try:
        side = context.side
        return layout_of(raw_catalog().files[kind], side.chip, side.settings)
    except Ambiguous:
        return None
