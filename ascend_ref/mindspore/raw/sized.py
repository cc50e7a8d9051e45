"""Files whose records state their sizes, of which those of one size are of interest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ascend_ref.raw.damage import Damage, Damaged, few
from ascend_ref.raw.layout import Layout
from ascend_ref.raw.series import Slice
from ascend_ref.raw.slices import AT_ONCE, Block, state_missing
from ascend_spec.core.packed import dtype_of


def read_sized(
    slices: Sequence[Slice], layout: Layout, field: str, damage: list[Damage]
) -> Iterator[Block]:
    """The records of the layout's size, by the field with the size of each record.

    Where a size is none, the next record cannot be found; the rest of the file is left out and
    stated in ``damage`` by its byte.
    """
    with few(damage) as stated:
        reader = _Reader(layout, field, stated)
        state_missing(slices, stated)
        following = 0
        for one in slices:
            if one.number > following:
                reader.finish()
            following = one.number + 1
            try:
                yield from reader.blocks(one.path)
            except OSError as error:
                stated.append(Damage(one.path, error.strerror or str(error)))
        reader.finish()


class _Reader:
    """``rest``: the begin of a record whose end is in the next slice, and where it begins."""

    def __init__(self, layout: Layout, field: str, damage: Damaged) -> None:
        fields: Mapping[str, Any] = dtype_of(layout.declaration(layout.members[0])).fields or {}
        form, self.place = fields[field][:2]
        self.width = form.itemsize
        self.size = layout.size
        self.damage = damage
        self.rest = b""
        self.start = (Path(), 0)

    def blocks(self, path: Path) -> Iterator[Block]:
        """The runs of records of a slice."""
        with path.open("rb") as file:
            offset = -len(self.rest)
            while chunk := file.read(AT_ONCE):
                content = self.rest + chunk
                at = 0
                for start, end in self._runs(content):
                    if start == end:
                        text = "a record of a size that is none; what follows it is left out"
                        self.damage.append(Damage(path, text, max(offset + start, 0)))
                        self.rest = b""
                        return
                    rows = np.frombuffer(content, np.uint8, end - start, start)
                    if (end - start) % self.size == 0 and self._size(content, start) == self.size:
                        yield Block(path, offset + start, rows.reshape(-1, self.size))
                    at = end
                self.rest = content[at:]
                offset += at
                if offset >= 0:
                    self.start = path, offset

    def finish(self) -> None:
        """State what the last slice ended with."""
        if self.rest:
            path, offset = self.start
            text = f"the last {len(self.rest):,} bytes are no whole record"
            self.damage.append(Damage(path, text, offset))
        self.rest = b""

    def _runs(self, content: bytes) -> Iterator[tuple[int, int]]:
        """Where records of one size that follow each other begin and end; an empty one for a record
        of no size.
        """
        least = self.place + self.width
        start = at = 0
        known = 0
        while at + least <= len(content):
            size = self._size(content, at)
            if size != known and at > start:
                yield start, at
                start = at
            known = size
            if size < least:
                yield at, at
                return
            if at + size > len(content):
                break
            at += size
        if at > start:
            yield start, at

    def _size(self, content: bytes, at: int) -> int:
        place = at + self.place
        return int.from_bytes(content[place : place + self.width], "little")
