"""A ``PROF_*`` folder that is being written: its files of records, slices and dictionaries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import construct
import numpy as np
import numpy.typing as npt

from ascend_ref.capture import Integers, Texts
from ascend_ref.derive.text_hash import name_id
from ascend_spec import raw_catalog
from ascend_spec.core.packed import dtype_of
from ascend_spec.raw import RawFile, records

from ..dictionaries import TEXTS, TYPES
from ..fields import bits_of, joined, put, taken
from ..lines import Entry, encode_lines
from ..samples import clock_name
from ..side import SideFiles
from ..slices import write_slices
from ..tree import DATA, HOST

Rows = npt.NDArray[Any]
"""Records of one kind."""

SLICE = 1 << 21
"""Bytes after which collectors begin the next slice of a file, at the latest."""

KEPT = "unaging"
"""How the name of a file begins that the limit of storage does not take away."""

_COUNTED = 16
"""Records are numbered modulo this where they are."""


class RawTree:
    """Files of one capture below ``folder``, written one kind after the other.

    ``chip`` decides which files there are and what their records are. ``slice_size``: most bytes of
    a slice; it ends with a whole record. ``side``: what the side files of the host and of each
    device state, from which the clocks follow. The dictionaries are written at the end.
    """

    def __init__(
        self,
        folder: Path,
        chip: int,
        side: Mapping[int | None, SideFiles],
        slice_size: int = SLICE,
    ) -> None:
        self.folder = folder
        self.chip = chip
        self.side = side
        self.slice_size = slice_size
        self._hashes: dict[str, int] = {}
        self._types: dict[tuple[int, str], int] = {}
        self._added: dict[tuple[str, str], list[Rows]] = {}
        self._tracks: dict[int, list[Rows]] = {}

    @property
    def host(self) -> SideFiles:
        """The side files of the host."""
        return self.side[None]

    @property
    def devices(self) -> tuple[int, ...]:
        """The devices that have a folder, ascending."""
        return tuple(sorted(one for one in self.side if one is not None))

    def writes(self, kind: str) -> bool:
        """Whether the chip has a kind of files."""
        return self.chip in raw_catalog().files[kind].chips

    # --- numbers of texts -------------------------------------------------------------------------

    def hash(self, text: str) -> int:
        """The number by which records refer to a text; the dictionary shows it."""
        return self._hashes.setdefault(text, name_id(text))

    def hashes(self, texts: Texts, numbers: Integers) -> npt.NDArray[np.uint64]:
        """Those of numbered texts."""
        every = texts.all
        distinct, place = np.unique(numbers, return_inverse=True)
        found = [self.hash(every[one]) for one in distinct.tolist()]
        return np.array(found, np.uint64)[place]

    def type_number(self, level: int, name: str, first: int) -> int:
        """The number of a kind of calls or tasks by its name; the dictionary shows it.

        ``first``: the least number that a name may have whose own is not known.
        """
        key = (level, name)
        if key not in self._types:
            taken = {number for (of, _), number in self._types.items() if of == level}
            self._types[key] = next(one for one in _from(first) if one not in taken)
        return self._types[key]

    def known_type(self, level: int, number: int, name: str) -> int:
        """A number that the format gives to a name; the dictionary shows it."""
        return self._types.setdefault((level, name), number)

    # --- files ------------------------------------------------------------------------------------

    def declaration(self, kind: str, record: str | None = None) -> construct.Struct:
        """The declaration of a kind's records, or of one of them by name."""
        return raw_catalog().record(self._record(raw_catalog().files[kind], record))

    def rows(self, kind: str, count: int, record: str | None = None, level: int = 0) -> Rows:
        """Records of zeros, but for what all of a kind have: magic numbers, level and type."""
        file = raw_catalog().files[kind]
        declaration = self.declaration(kind, record)
        made = np.zeros(count, dtype_of(declaration))
        names = made.dtype.names or ()
        if "magicNumber" in names:
            made["magicNumber"] = records.MAGIC
        if "magic" in names:
            made["magic"] = records.DEVICE_MAGIC
        if file.levels and "level" in names:
            made["level"] = level or file.levels[0]
        if file.type is not None and "type" in names:
            made["type"] = file.type
        return made

    def write(
        self,
        kind: str,
        rows: Rows,
        device: int | None = None,
        age: str = KEPT,
        record: str | None = None,
        **parts: object,
    ) -> None:
        """Write the slices of a kind, none for no records. Rows are in the order of the file.

        ``record``: the declaration by which they are numbered, where they are.
        """
        if not len(rows):
            return
        file = raw_catalog().files[kind]
        if "cnt" in self._numbered(file, record):
            put(self.declaration(kind, record), rows, "cnt", np.arange(len(rows)) % _COUNTED)
        parts |= {"age": age, "device": device}
        write_slices(self._place(device), file.name, rows, self.slice_size, **parts)

    def add(self, kind: str, rows: Rows, age: str = KEPT) -> None:
        """Records of the host that may stand with others of their kind; :meth:`finish` writes them,
        in order of time.
        """
        self._added.setdefault((kind, age), []).append(rows)

    def track(self, rows: Rows, ticks: Integers, device: int) -> None:
        """Records of the run of a device, of one kind; :meth:`finish` writes them likewise."""
        rows["mode"] = 1
        rows["size"] = rows.dtype.itemsize
        rows["timestamp"] = ticks
        self._tracks.setdefault(device, []).append(rows)

    def ticks(self, kind: str, times: Integers, device: int | None) -> Integers:
        """Unix ns of samples by the clock of their kind of files."""
        return self.side[device].by_name(clock_name(kind)).ticks(times)

    def has(self, kind: str, record: str) -> bool:
        """Whether files of a kind have a record on this chip."""
        file = raw_catalog().files[kind]
        return record in {one.record for one in file.members_of(self.chip, self._settings)}

    @staticmethod
    def kind(kind: str, record: str) -> int:
        """The number by which records of a declaration are known in the files of a kind."""
        members = raw_catalog().files[kind].members
        return next(one.values[0] for one in members if one.record == record)

    def finish(self) -> None:
        """Write what was added, and what the numbers of texts and types are called."""
        for device, parts in self._tracks.items():
            rows = joined(parts)
            order = np.argsort(rows["timestamp"], kind="stable")
            self.write("ts_track", taken(rows, order), device, record="TS_FLIP")
        for (kind, age), parts in self._added.items():
            rows = joined(parts)
            self.write(kind, taken(rows, np.argsort(rows["timeStamp"], kind="stable")), age=age)
        self._write_dictionaries()

    def write_lines(
        self, kind: str, lines: Iterable[Entry], device: int | None = None, **parts: object
    ) -> None:
        """Write a file of text in one slice, none for no lines; parts: others of its name."""
        file = raw_catalog().files[kind]
        content = encode_lines(lines, raw_catalog().grammar_of(kind))
        if content:
            name = file.name.of(age=KEPT, device=device, slice=0, **parts)
            (self._place(device) / name).write_bytes(content)

    def _write_dictionaries(self) -> None:
        self.write_lines(
            TEXTS,
            (
                Entry("entry", {"hash": number, "text": text})
                for text, number in self._hashes.items()
            ),
        )
        self.write_lines(
            TYPES,
            (
                Entry("entry", {"level": level, "type": number, "name": name})
                for (level, name), number in sorted(self._types.items())
            ),
        )

    def _place(self, device: int | None) -> Path:
        place = self.folder / (HOST if device is None else f"device_{device}") / DATA
        place.mkdir(parents=True, exist_ok=True)
        return place

    def _record(self, file: RawFile, record: str | None) -> str:
        members = {one.record for one in file.members_of(self.chip, self._settings)}
        if record is None:
            (record,) = members
        if record not in members:
            raise KeyError(f"chip {self.chip} has no {record} in {file.file}")
        return record

    def _numbered(self, file: RawFile, record: str | None) -> set[str]:
        declaration = raw_catalog().record(self._record(file, record or file.members[0].record))
        return {name for field in declaration.subcons for name in bits_of(field)}

    @cached_property
    def _settings(self) -> Mapping[str, str]:
        device = next(iter(self.devices), None)
        return self.side[device].settings


def _from(first: int) -> Iterable[int]:
    return range(first, 1 << 31)
