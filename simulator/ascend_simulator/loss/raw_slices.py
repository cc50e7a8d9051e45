"""The files of records of one kind: cut into slices, and damaged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ascend_ref.raw.series import Slice
from ascend_spec import raw_catalog

from ..draws import Draws

Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Hit:
    """Bytes that a fault took, ``size`` of them from ``offset`` of a file on.

    ``records``: what is lost by it, of the shape (records, size of a record). ``file``: where a
    reader can know it; ``byte``: the place there, ``None`` where it is none. ``gone``: whether the
    whole file is.
    """

    path: Path
    offset: int
    size: int
    gone: bool
    records: Bytes
    file: Path
    byte: int | None = None


def cut(slices: Sequence[Slice], size: int, least: int) -> list[Path]:
    """The slices of one file, cut anew into at least so many of whole records, if it has them.

    The bytes stay what they are, one slice after the other.
    """
    paths = [one.path for one in slices]
    whole = b"".join(path.read_bytes() for path in paths)
    count = len(whole) // size
    wanted = min(least, count)
    if len(paths) >= wanted:
        return paths
    mark = raw_catalog().parts["slice"].before
    stem = paths[0].name.rpartition(mark)[0]
    bounds = [count * place // wanted * size for place in range(wanted)] + [len(whole)]
    found = [paths[0].with_name(f"{stem}{mark}{number}") for number in range(wanted)]
    for path, begin, end in zip(found, bounds, bounds[1:], strict=False):
        path.write_bytes(whole[begin:end])
    return found


def lose_slice(paths: Sequence[Path], size: int, draws: Draws) -> list[Hit]:
    """Delete one slice that has others before and behind it, so that its number is missing."""
    if len(paths) < 3:
        return []
    place = draws.one(1, len(paths) - 2)
    return [_gone(paths[place], size, paths[place + 1])]


def lose_head(paths: Sequence[Path], size: int, draws: Draws) -> list[Hit]:
    """Delete the oldest slices, at least one, as the limit of storage does; the last one stays."""
    if len(paths) < 2:
        return []
    lost = paths[: draws.one(1, len(paths) - 1)]
    return [_gone(path, size, paths[len(lost)]) for path in lost]


def tear(paths: Sequence[Path], size: int, *, at_end: bool, draws: Draws) -> list[Hit]:
    """Take bytes out of one record, those at its end or any of them; a byte stays at least."""
    path = paths[-1] if at_end else paths[draws.one(0, len(paths) - 1)]
    content = path.read_bytes()
    count = len(content) // size
    if not count:
        return []
    record = count - 1 if at_end else draws.one(0, count - 1)
    begin = draws.one(1, size - 1) if at_end else draws.one(0, size - 1)
    length = size - begin if at_end else draws.one(1, min(size - begin, size - 1))
    start = record * size + begin
    path.write_bytes(content[:start] + content[start + length :])
    rows = _rows(content[record * size : (record + 1) * size], size)
    return [Hit(path, start, length, gone=False, records=rows, file=path, byte=record * size)]


def _gone(path: Path, size: int, known_by: Path) -> Hit:
    content = path.read_bytes()
    path.unlink()
    return Hit(path, 0, len(content), gone=True, records=_rows(content, size), file=known_by)


def _rows(content: bytes, size: int) -> Bytes:
    whole = len(content) - len(content) % size
    return np.frombuffer(content, np.uint8, whole).reshape(-1, size)
