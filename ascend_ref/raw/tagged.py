"""The files of ``FRAMEWORK``: records of a fixed part and texts, each with tag and length.

Read and written in bulk: the fixed parts as one array, and the texts as columns by their tags.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ascend_ref.capture import Integers
from ascend_ref.capture.model import NONE
from ascend_spec.core.packed import dtype_of
from ascend_spec.raw.records import TLV_HEAD_SIZE, FrameworkRecord

from .damage import Damage

Bytes = npt.NDArray[np.uint8]
"""The bytes of a file or of a part of it."""

LONGEST = 1 << 24
"""Bytes of one record; real ones have some hundred."""

MOST_TEXTS = 64
"""Texts of one record; those of the adapter have at most nine."""

AT_ONCE = 1 << 23
"""Bytes that are read at a time."""

RECORDS_AT_ONCE = 1 << 15
"""Records that are written at a time."""

_HEAD = np.dtype([("type", "<u2"), ("length", "<u4")])


class TextColumn(NamedTuple):
    """One text, or none, per record.

    ``distinct``: every text once. ``place``: for each record its place in it, NONE without one.
    """

    distinct: Sequence[bytes]
    place: Integers


@dataclass(frozen=True, slots=True)
class Tagged:
    """Records that follow each other in a file.

    ``offset``: the byte of the file at which each begins. ``fixed``: their fixed parts, by the
    names of their declaration. ``texts``: the texts of each tag of the declaration.
    """

    offset: Integers
    fixed: npt.NDArray[Any]
    texts: Mapping[int, TextColumn]

    def __len__(self) -> int:
        return len(self.offset)


@dataclass(frozen=True, slots=True)
class TaggedBlock:
    """Records of a part of a file, and where in ``content`` their texts are.

    ``offset``, ``fixed`` as :class:`Tagged` has them. ``owner``, ``tag``, ``first``, ``length``: of
    each text its record, its tag and its bytes in ``content``, record after record and in each in
    the order of the file.
    """

    content: Bytes
    offset: Integers
    fixed: npt.NDArray[Any]
    owner: Integers
    tag: Integers
    first: Integers
    length: Integers

    def texts(self, tag: int) -> TextColumn:
        """The texts of a tag. Of several in one record the last is taken, as readers do."""
        place = np.full(len(self.offset), NONE)
        rows = np.flatnonzero(self.tag == tag)
        place[self.owner[rows]] = rows
        having = np.flatnonzero(place >= 0)
        rows = place[having]
        if not len(rows):
            return TextColumn([], place)
        length = self.length[rows]
        flat = self.content[_ragged(self.first[rows], length)]
        bounds = np.concatenate([[0], np.cumsum(length)]).astype(np.int32)
        buffers = [None, pa.py_buffer(bounds), pa.py_buffer(flat)]
        column = pa.Array.from_buffers(pa.binary(), len(rows), buffers).dictionary_encode()
        place[having] = np.frombuffer(column.indices.buffers()[1], np.int32, len(rows))
        return TextColumn(column.dictionary.to_pylist(), place)


def read_tagged(path: Path, record: FrameworkRecord, damage: list[Damage]) -> Tagged:
    """All records of a file. What cannot be read is left out and stated in ``damage``."""
    offsets = [np.empty(0, np.int64)]
    fixed = [np.empty(0, dtype_of(record.fixed))]
    known: dict[int, dict[bytes, int]] = {tag: {} for tag in record.texts}
    places: dict[int, list[Integers]] = {tag: [np.empty(0, np.int64)] for tag in record.texts}
    for block in tagged_blocks(path, record, damage):
        offsets.append(block.offset)
        fixed.append(block.fixed)
        for tag, numbers in known.items():
            column = block.texts(tag)
            own = [numbers.setdefault(one, len(numbers)) for one in column.distinct]
            places[tag].append(np.array([*own, NONE])[column.place])
    texts = {
        tag: TextColumn(list(numbers), np.concatenate(places[tag]))
        for tag, numbers in known.items()
    }
    return Tagged(np.concatenate(offsets), np.concatenate(fixed), texts)


def tagged_blocks(
    path: Path, record: FrameworkRecord, damage: list[Damage]
) -> Iterator[TaggedBlock]:
    """The records of a file in bounded memory, part after part.

    A record shorter than its fixed part is left out; one whose end cannot be known ends the file:
    where the next begins follows from its length alone.
    """
    try:
        with path.open("rb") as file:
            yield from _blocks(file, path, record, damage)
    except OSError as error:
        damage.append(Damage(path, error.strerror or str(error)))


def _blocks(
    file: BinaryIO, path: Path, record: FrameworkRecord, damage: list[Damage]
) -> Iterator[TaggedBlock]:
    before, rest = 0, b""
    while True:
        more = file.read(AT_ONCE)
        content = rest + more
        walk = _walk(content, record)
        if walk.starts:
            yield _block(content, walk, before, path, record, damage)
        if walk.problem is not None:
            damage.append(Damage(path, walk.problem, before + walk.end))
            return
        before, rest = before + walk.end, content[walk.end :]
        if not more:
            break
    if rest:
        damage.append(Damage(path, f"the last {len(rest):,} bytes are no whole record", before))


class _Walk(NamedTuple):
    """Where whole records begin and end; ``end``: where the next begins, ``problem``: of that."""

    starts: Sequence[int]
    ends: Sequence[int]
    end: int
    problem: str | None


def _walk(content: bytes, record: FrameworkRecord) -> _Walk:
    """One record after the other: where the next begins follows from the length of the last."""
    size: int = record.fixed.sizeof()
    total = len(content)
    if record.tag is None:
        end = total // size * size
        return _Walk(range(0, end, size), range(size, end + 1, size), end, None)
    starts: list[int] = []
    ends: list[int] = []
    at = 0
    wanted = record.tag.to_bytes(2, "little")
    problem = None
    while (value := at + TLV_HEAD_SIZE) <= total:
        if content[at : at + 2] != wanted:
            tag = int.from_bytes(content[at : at + 2], "little")
            problem = f"tag {tag}; expected {record.tag}"
            break
        length = int.from_bytes(content[at + 2 : value], "little")
        if length > LONGEST:
            problem = f"a record of {length:,} bytes"
            break
        if value + length > total:
            break
        starts.append(value)
        at = value + length
        ends.append(at)
    return _Walk(starts, ends, at, problem)


def _block(
    content: bytes,
    walk: _Walk,
    before: int,
    path: Path,
    record: FrameworkRecord,
    damage: list[Damage],
) -> TaggedBlock:
    dtype = dtype_of(record.fixed)
    size = dtype.itemsize
    head = 0 if record.tag is None else TLV_HEAD_SIZE
    data = np.frombuffer(content, np.uint8)
    starts, ends = np.array(walk.starts, np.int64), np.array(walk.ends, np.int64)
    long_enough = ends - starts >= size
    if not long_enough.all():
        short = np.flatnonzero(~long_enough)
        first, number = int(short[0]), len(short)
        had = int(ends[first] - starts[first])
        more = f" ({number:,} such records)" if number > 1 else ""
        text = f"a record of {had:,} bytes; expected at least {size}{more}"
        damage.append(Damage(path, text, before + int(starts[first]) - head))
        starts, ends = starts[long_enough], ends[long_enough]
    # A view of a row of bytes needs them in one piece, as indexing makes them.
    plain = data[starts[:, None] + np.arange(size)]
    fixed = plain.view(dtype)[:, 0] if size else np.empty(len(starts), dtype)
    found = _texts(data, starts + size, ends, path, before, damage)
    return TaggedBlock(data, before + starts - head, fixed, *found)


def _texts(
    data: Bytes, at: Integers, ends: Integers, path: Path, before: int, damage: list[Damage]
) -> tuple[Integers, Integers, Integers, Integers]:
    """Owner, tag, first byte and length of the texts from ``at`` to ``ends`` of each record."""
    owner = np.flatnonzero(at < ends)
    parts: list[tuple[Integers, ...]] = []
    while len(owner):
        first = at[owner] + TLV_HEAD_SIZE
        # A head that exceeds its record is read as far as the file has it, and refused below.
        place = np.minimum(at[owner][:, None] + np.arange(TLV_HEAD_SIZE), len(data) - 1)
        head = data[place].view(_HEAD)[:, 0]
        tag, length = head["type"].astype(np.int64), head["length"].astype(np.int64)
        fits = first + length <= ends[owner]
        if not fits.all():
            row = int(np.flatnonzero(~fits)[0])
            whole = first[row] <= ends[owner[row]]
            of = f"a text of {length[row]:,} bytes" if whole else "the head of a text"
            others = int(np.sum(~fits)) - 1
            more = f" ({others:,} more like it)" if others else ""
            text = f"{of} does not fit into its record{more}"
            damage.append(Damage(path, text, before + int(at[owner[row]])))
        owner, tag, first, length = owner[fits], tag[fits], first[fits], length[fits]
        if len(parts) == MOST_TEXTS:
            if len(owner):
                text = f"a record of more than {MOST_TEXTS} texts"
                damage.append(Damage(path, text, before + int(at[owner[0]])))
            break
        parts.append((owner, tag, first, length))
        at = at.copy()
        at[owner] = first + length
        owner = owner[at[owner] < ends[owner]]
    if not parts:
        nothing = np.empty(0, np.int64)
        return nothing, nothing, nothing, nothing
    owners, tags, firsts, lengths = (np.concatenate(one) for one in zip(*parts, strict=True))
    order = np.argsort(owners, kind="stable")
    return owners[order], tags[order], firsts[order], lengths[order]


def write_tagged(
    path: Path,
    record: FrameworkRecord,
    fixed: npt.NDArray[Any],
    texts: Mapping[int, TextColumn] | None = None,
) -> None:
    """Write the records of a file.

    ``fixed``: their fixed parts, of the type of the declaration. ``texts``: by the tags of the
    declaration, in whose order they are written. Raises ``OSError``.
    """
    columns = {tag: texts[tag] for tag in record.texts if tag in texts} if texts else {}
    flat = {tag: _Flat.of(column.distinct) for tag, column in columns.items()}
    with path.open("wb") as file:
        for start in range(0, len(fixed), RECORDS_AT_ONCE):
            part = slice(start, start + RECORDS_AT_ONCE)
            places = {tag: column.place[part] for tag, column in columns.items()}
            file.write(_written(record, fixed[part], places, flat))


class _Flat(NamedTuple):
    """Texts behind each other, and where each begins and how many bytes it has."""

    content: Bytes
    first: Integers
    length: Integers

    @classmethod
    def of(cls, texts: Sequence[bytes]) -> _Flat:
        length = np.fromiter((len(one) for one in texts), np.int64, len(texts))
        return cls(np.frombuffer(b"".join(texts), np.uint8), np.cumsum(length) - length, length)


def _written(
    record: FrameworkRecord,
    fixed: npt.NDArray[Any],
    places: Mapping[int, Integers],
    flat: Mapping[int, _Flat],
) -> bytes:
    size = fixed.dtype.itemsize
    head = 0 if record.tag is None else TLV_HEAD_SIZE
    lengths = {tag: np.append(flat[tag].length, 0)[place] for tag, place in places.items()}
    total = np.full(len(fixed), size)
    for tag, place in places.items():
        total += np.where(place >= 0, TLV_HEAD_SIZE + lengths[tag], 0)
    starts = np.cumsum(total + head) - total
    content = np.empty(int(np.sum(total + head)), np.uint8)
    if record.tag is not None:
        _put_heads(content, starts - head, record.tag, total)
    if size:
        plain = np.ascontiguousarray(fixed).view(np.uint8).reshape(-1, size)
        content[starts[:, None] + np.arange(size)] = plain
    at = starts + size
    for tag, place in places.items():
        having = place >= 0
        own, length = at[having], lengths[tag][having]
        _put_heads(content, own, tag, length)
        source = _ragged(flat[tag].first[place[having]], length)
        content[_ragged(own + TLV_HEAD_SIZE, length)] = flat[tag].content[source]
        at[having] = own + TLV_HEAD_SIZE + length
    return content.tobytes()


def _put_heads(content: Bytes, at: Integers, tag: int, lengths: Integers) -> None:
    heads = np.empty(len(at), _HEAD)
    heads["type"], heads["length"] = tag, lengths
    plain = heads.view(np.uint8).reshape(-1, TLV_HEAD_SIZE)
    content[at[:, None] + np.arange(TLV_HEAD_SIZE)] = plain


def _ragged(first: Integers, length: Integers) -> Integers:
    """The places of pieces, one piece behind the other."""
    begins = np.cumsum(length) - length
    found: Integers = np.repeat(first - begins, length) + np.arange(int(np.sum(length)))
    return found
