"""Files of records: their layout on a day, and their bytes taken apart and put together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ascend_ref.raw.damage import Damage, Damaged, few
from ascend_ref.raw.fields import opaque
from ascend_ref.raw.layout import Bytes, Layout
from ascend_ref.raw.series import Slice
from ascend_ref.raw.slices import Block, read_blocks
from ascend_spec import mindspore_catalog
from ascend_spec.raw import Side

Rows = npt.NDArray[Any]


def layout_of(kind: str, day: str) -> Layout:
    """The records of a kind of file on a day; ``KeyError`` for a kind that has none then."""
    catalog = mindspore_catalog()
    file = catalog.files[kind]
    members = file.members_on(day)
    if not members:
        raise KeyError(f"{kind} has no records on {day}")
    size = catalog.record(members[0].record).sizeof()
    return Layout(size, members, file.select, catalog)


@dataclass(frozen=True, slots=True)
class KnownBlock(Block):
    """Whole records that follow each other in a file, each of a known kind.

    ``kinds``: the numbers of these; 0 where there is one kind.
    """

    kinds: npt.NDArray[np.int64]


def read_records(
    slices: Sequence[Slice], kind: str, day: str, damage: list[Damage]
) -> Iterator[KnownBlock]:
    """The records of slices in blocks of which every one is of a kind that is known.

    What is no record, and records of other kinds, are left out and stated in ``damage`` by file and
    byte. Raises ``KeyError`` as :func:`layout_of` does.
    """
    layout = layout_of(kind, day)
    # Where no magic number shows the begin of a record, the first one is at the first byte, as
    # parsers have it; what is cut away is then at the end.
    is_host = mindspore_catalog().files[kind].target == "host" or layout.magic is None
    side: Side = "host" if is_host else "device"
    with few(damage) as stated:
        for block in read_blocks(slices, layout, side, damage):
            yield from _known(block, layout, stated)


def _known(block: Block, layout: Layout, damage: Damaged) -> Iterator[KnownBlock]:
    """The runs of records of known kinds."""
    kinds = layout.kinds(block.rows)
    values = [value for one in layout.members for value in one.values] or [0]
    known = are_among(kinds, values)
    if known.all():
        if len(known):
            yield KnownBlock(block.path, block.offset, block.rows, kinds)
        return
    edges = np.flatnonzero(np.diff(known)) + 1
    for start, end in zip([0, *edges.tolist()], [*edges.tolist(), len(known)], strict=True):
        offset = block.offset + start * layout.size
        if known[start]:
            yield KnownBlock(block.path, offset, block.rows[start:end], kinds[start:end])
        else:
            found = ", ".join(map(str, np.unique(kinds[start:end]).tolist()))
            text = f"{end - start:,} records of a {layout.select} that is not known: {found}"
            damage.append(Damage(block.path, text, max(offset, 0)))


def are_among(numbers: npt.NDArray[np.int64], values: Sequence[int]) -> npt.NDArray[np.bool_]:
    """Which numbers are one of some, which are mostly all from one to another."""
    first, last = min(values), max(values)
    if last - first + 1 == len(values):
        found: npt.NDArray[np.bool_] = (numbers >= first) & (numbers <= last)
        return found
    return np.isin(numbers, values)


@dataclass(frozen=True)
class RecordFile:
    """The whole content of a file of records.

    ``records`` by their declaration, each with its place among all; ``others``: those of no known
    kind. ``rest``: bytes behind the last whole record.
    """

    size: int
    records: Mapping[str, tuple[npt.NDArray[np.int64], Rows]]
    others: tuple[npt.NDArray[np.int64], Bytes]
    rest: bytes = field(default=b"")

    def __len__(self) -> int:
        return len(self.others[0]) + sum(len(places) for places, _ in self.records.values())


def decode_records(content: bytes, layout: Layout) -> RecordFile:
    """The records of a whole file, of which :func:`encode_records` makes the same bytes."""
    whole = len(content) - len(content) % layout.size
    rows = np.frombuffer(content, np.uint8, whole).reshape(-1, layout.size)
    masks = layout.split(rows)
    records = {
        one.record: (np.flatnonzero(mask), layout.view(number, rows[mask]))
        for number, (one, mask) in enumerate(zip(layout.members, masks, strict=True))
    }
    other = ~np.logical_or.reduce(masks)
    return RecordFile(layout.size, records, (np.flatnonzero(other), rows[other]), content[whole:])


def encode_records(file: RecordFile) -> bytes:
    """The bytes of a file: every record at its place."""
    rows = np.zeros((len(file), file.size), np.uint8)
    rows[file.others[0]] = file.others[1]
    for places, records in file.records.values():
        rows[places] = opaque(records).view(np.uint8).reshape(-1, file.size)
    return rows.tobytes() + file.rest
