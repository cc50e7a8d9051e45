"""The records of one kind through all their slices, read in bounded memory, and written.

What a device loses goes at the front: where the bytes are no whole number of records, the first of
them are the rest of one that was cut away (raw-prof 2). Records that begin with a magic number show
where they begin, so that a torn one is known wherever it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from ascend_spec.core.names import NameForm
from ascend_spec.raw import Side

from .damage import Damage, Damaged, few
from .fields import opaque
from .layout import Bytes, Layout
from .series import Slice

AT_ONCE = 1 << 21
"""Bytes that are read at a time."""

PROBES = 64
"""Records that decide where a slice begins."""

TRIES = 1 << 16
"""Places at which the next record is looked for behind one that is torn."""


@dataclass(frozen=True, slots=True)
class Block:
    """Whole records that follow each other in a file, from a byte of it.

    The first may have begun in the slice before; its offset is then negative.
    """

    path: Path
    offset: int
    rows: Bytes


def read_blocks(
    slices: Sequence[Slice], layout: Layout, side: Side, damage: list[Damage]
) -> Iterator[Block]:
    """The records of slices that agree in their names, but for the number.

    What is no record is left out, and stated in ``damage`` by file and byte. Where bytes are lost
    within a file, the record before that place may end with bytes of another: only some of these
    show it.
    """
    with few(damage) as stated:
        reader = _Reader(layout, side, stated)
        state_missing(slices, stated)
        following = 0
        for place, one in enumerate(slices):
            try:
                with one.path.open("rb") as file:
                    if place == 0:
                        reader.start(file, one.path, slices)
                    elif one.number > following:
                        reader.finish()
                    else:
                        reader.join(file, one.path)
                    yield from reader.blocks(file, one.path)
            except OSError as error:
                reader.lose(one.path, error.strerror or str(error))
            following = one.number + 1
        reader.finish()


def write_slices(
    folder: Path, form: NameForm, rows: npt.NDArray[Any], most: int, **parts: object
) -> None:
    """Write records as they are, with what stands in them where no field is.

    most: bytes of a slice, which ends with a whole record and has at least one. form, parts: the
    name of the file, and its changing parts but for the number of the slice. Raises ``OSError``.
    """
    content = np.ascontiguousarray(opaque(rows)).view(np.uint8).data
    size = rows.dtype.itemsize
    each = max(most // size, 1) * size
    for number, start in enumerate(range(0, len(content), each)):
        name = form.of(slice=number, **parts)
        (folder / name).write_bytes(content[start : start + each])


def state_missing(slices: Iterable[Slice], damage: Damaged) -> None:
    """State in ``damage`` which slices of one file, given in order, are missing by their numbers.

    The limit of storage takes the oldest ones (raw-prof 2).
    """
    expected = 0
    for one in slices:
        if one.number > expected:
            last = one.number - 1
            numbers = (
                f"slice {last:,} is" if last == expected else f"slices {expected:,} to {last:,} are"
            )
            oldest = ", the oldest" if expected == 0 else ""
            damage.append(Damage(one.path, f"{numbers} missing before it{oldest}"))
        expected = one.number + 1


class _Reader:
    """What is left of a slice until the next one shows whose it is."""

    def __init__(self, layout: Layout, side: Side, damage: Damaged) -> None:
        self.layout = layout
        self.side = side
        self.damage = damage
        self.rest = b""
        self.rest_of: tuple[Path, int] | None = None

    def start(self, file: BinaryIO, path: Path, slices: Sequence[Slice]) -> None:
        """Leave out the rest of a record that was cut away at the front, which devices do."""
        if self.side != "device":
            return
        lead = sum(_size(one.path) for one in slices) % self.layout.size
        if lead and not self._begins_better(file, 0, lead):
            file.seek(lead)
            text = f"the first {lead:,} bytes are the rest of a record whose start is lost"
            self.damage.append(Damage(path, text, 0))

    def join(self, file: BinaryIO, path: Path) -> None:
        """Leave out what the slice before ended with, where the next does not go on with it."""
        if not self.rest:
            return
        if self._begins_better(file, 0, self.layout.size - len(self.rest)):
            self.finish()
        elif self.side == "host":
            # The exporter in C++ gives up such a file as a whole (raw-prof 2).
            text = (
                f"a record goes on from the slice before: {len(self.rest):,} of "
                f"{self.layout.size:,} bytes stand there"
            )
            self.damage.append(Damage(path, text, 0))

    def blocks(self, file: BinaryIO, path: Path) -> Iterator[Block]:
        """The records of an open slice from where it stands."""
        size = self.layout.size
        offset = file.tell() - len(self.rest)
        at_once = max(size, AT_ONCE - AT_ONCE % size)
        while chunk := file.read(at_once):
            content = self.rest + chunk if self.rest else chunk
            whole = len(content) - len(content) % size
            rows = np.frombuffer(content, np.uint8, whole).reshape(-1, size)
            right = self.layout.is_record(rows)
            if right.all() and not self._is_other(content[whole:]):
                yield Block(path, offset, rows)
                self.rest = content[whole:]
                offset += whole
            else:
                yield from self._torn(path, offset, content, right)
                offset += len(content) - len(self.rest)
        self.rest_of = (path, offset) if self.rest else None

    def finish(self) -> None:
        """State what the last slice ended with."""
        if self.rest and self.rest_of:
            path, offset = self.rest_of
            text = f"the last {len(self.rest):,} bytes are no whole record of {self.layout.size:,}"
            self.damage.append(Damage(path, text, max(offset, 0)))
        self.rest, self.rest_of = b"", None

    def lose(self, path: Path, reason: str) -> None:
        """State that a slice cannot be read."""
        self.finish()
        self.damage.append(Damage(path, reason))

    def _torn(
        self,
        path: Path,
        offset: int,
        content: bytes,
        right: np.ndarray[tuple[int], np.dtype[np.bool_]],
    ) -> Iterator[Block]:
        """The runs of records in bytes some of which are none; the last piece is kept."""
        size = self.layout.size
        at = 0
        while True:
            rows = np.frombuffer(content, np.uint8, (len(content) - at) // size * size, at)
            rows = rows.reshape(-1, size)
            right = self.layout.is_record(rows)
            run = int(np.argmin(right)) if not right.all() else len(rows)
            end = at + run * size
            if len(content) - end < size:
                found = end
                if run and self._is_other(content[end:]):
                    found = self._next_record(content, end - size + 1)
                if found + size > len(content) or found == end:
                    yield from self._run_of(path, offset + at, rows[:run])
                    at = end
                    break
            else:
                found = self._next_record(content, end - size + 1 if run else end + 1)
            if found < end:
                # The next record begins within the last one: bytes are lost in that one.
                run, end = run - 1, end - size
            yield from self._run_of(path, offset + at, rows[:run])
            text = f"{found - end:,} bytes are no whole record with its magic number"
            self.damage.append(Damage(path, text, max(offset + end, 0)))
            at = found
        self.rest = content[at:]

    def _is_other(self, rest: bytes) -> bool:
        """Whether bytes behind whole records are not those with which the next one begins.

        Then bytes are lost in the last of these. Fewer than a magic number may be either.
        """
        if self.layout.magic is None or not rest:
            return False
        place, value = self.layout.magic
        return rest[place : place + len(value)] != value

    def _run_of(self, path: Path, offset: int, rows: Bytes) -> Iterator[Block]:
        if len(rows):
            yield Block(path, offset, rows)

    def _next_record(self, content: bytes, start: int) -> int:
        """Where the next record begins, or where the bytes end in which one could.

        Two of them in a row are asked for, since other bytes may look like a magic number.
        """
        size = self.layout.size
        place, value = self.layout.magic or (0, b"")
        at = start
        for _ in range(TRIES):
            at = content.find(value, at + place) - place
            if at < start or at + size > len(content):
                break
            following = content[at + size + place : at + size + place + len(value)]
            if following in (value, b""):
                return at
            at += 1
        return max(start, len(content) - size + 1)

    def _begins_better(self, file: BinaryIO, here: int, there: int) -> bool:
        """Whether records begin rather at one byte of a slice than at another."""
        if self.layout.magic is None:
            return False
        size = self.layout.size
        place = file.tell()
        content = file.read(there + PROBES * size)
        file.seek(place)
        return self._run(content[here:]) > self._run(content[there:])

    def _run(self, content: bytes) -> int:
        """How many records follow each other from the first byte on."""
        size = self.layout.size
        place, value = self.layout.magic or (0, b"")
        starts = range(0, PROBES * size, size)
        ends = ((n, at + place) for n, at in enumerate(starts))
        wrong = (n for n, at in ends if content[at : at + len(value)] != value)
        return next(wrong, PROBES)


def _size(path: Path) -> int:
    try:
        return path.lstat().st_size
    except OSError:
        return 0
