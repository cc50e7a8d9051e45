"""The files of a ``FRAMEWORK`` folder: which one holds which records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ascend_ref.capture import Integers, Texts
from ascend_ref.capture.model import NONE
from ascend_spec import per_spec, raw_catalog
from ascend_spec.core.packed import dtype_of
from ascend_spec.raw import RawFile
from ascend_spec.raw.records import FRAMEWORK_RECORDS, FrameworkRecord

from ..clocks import OUT_OF_RANGE, Clock
from ..context import Context
from ..damage import Damage
from ..fields import put
from ..tagged import Tagged, TextColumn, read_tagged, write_tagged


@per_spec
def kind_of_record(record: str) -> RawFile:
    """The kind of files that holds records of a declaration; ``KeyError`` for an unknown one."""
    for kind in raw_catalog().files.values():
        if kind.side == "framework" and kind.members and kind.members[0].record == record:
            return kind
    raise KeyError(record)


class Spelled(NamedTuple):
    """A column of numbers of texts, and how the file spells each text; ``None`` for none."""

    numbers: Integers
    spelling: Callable[[str], str | None] = str


def write_records(
    folder: Path,
    record: str,
    columns: Mapping[str, npt.NDArray[Any] | int],
    texts: Texts,
    tagged: Mapping[str, Spelled] | None = None,
) -> None:
    """Write the file of a kind of records; none where there are no records.

    ``columns``: of the fixed parts by their names, 0 where left out; at least one is an array.
    ``tagged``: texts by the names of their fields. Raises ``OSError``.
    """
    path = folder / kind_of_record(record).name.template
    write_record_file(path, FRAMEWORK_RECORDS[record], columns, texts, tagged)


def write_record_file(
    path: Path,
    declared: FrameworkRecord,
    columns: Mapping[str, npt.NDArray[Any] | int],
    texts: Texts,
    tagged: Mapping[str, Spelled] | None = None,
) -> None:
    """As :func:`write_records`, of any declaration into a file of any name; one without a fixed
    part has no columns, but at least one of ``tagged``.
    """
    spelled = tagged or {}
    every = [*columns.values(), *(one.numbers for one in spelled.values())]
    count = next(len(one) for one in every if isinstance(one, np.ndarray))
    if not count:
        return
    rows = np.zeros(count, dtype_of(declared.fixed))
    for name, values in columns.items():
        put(declared.fixed, rows, name, values)
    tags = tags_of(declared)
    written = {tags[name]: _column(texts, one) for name, one in spelled.items()}
    write_tagged(path, declared, rows, written)


def _column(texts: Texts, column: Spelled) -> TextColumn:
    every = texts.all
    used = np.unique(column.numbers[column.numbers >= 0])
    spelled = [column.spelling(every[one]) for one in used.tolist()]
    known = [one.encode("utf-8", "backslashreplace") for one in spelled if one is not None]
    having = np.array([one is not None for one in spelled], np.bool_)
    table = np.full(len(every) + 1, NONE)
    table[used[having]] = np.arange(len(known))
    return TextColumn(known, table[column.numbers])


def tags_of(record: FrameworkRecord) -> Mapping[str, int]:
    """The tags of the texts of a record by their names."""
    return {one.field.name: tag for tag, one in record.texts.items()}


@dataclass(frozen=True)
class Files:
    """The files of a ``FRAMEWORK`` folder, and what of them cannot be read.

    ``clock``: by which all of them count.
    """

    context: Context
    clock: Clock

    @property
    def damage(self) -> list[Damage]:
        """What of the files cannot be read."""
        return self.context.damage

    def read(self, record: str) -> Records:
        """The records of a declaration; none where there is no such file."""
        declared, kind = FRAMEWORK_RECORDS[record], kind_of_record(record).file
        folder = self.context.folder
        found = folder.files.get(kind, ())
        if found:
            read = read_tagged(found[0].path, declared, self.damage)
            self.context.counts[kind] = self.context.counts[f"{kind}/{record}"] = len(read)
            return Records(found[0].path, declared, read)
        nothing = Tagged(np.empty(0, np.int64), np.empty(0, dtype_of(declared.fixed)), {})
        return Records(folder.path, declared, nothing)

    def times(self, records: Records, *names: str) -> tuple[Records, list[Integers]]:
        """The records whose fields of these names are times, and these as Unix times.

        Others, whose numbers no clock shows, are damage.
        """
        columns = [self.clock.times(records.rows[name].astype(np.uint64)) for name in names]
        right = np.logical_and.reduce([one != OUT_OF_RANGE for one in columns])
        if not right.all():
            first = int(records.tagged.offset[np.flatnonzero(~right)[0]])
            text = f"{int(np.sum(~right)):,} records whose times no clock shows"
            self.damage.append(Damage(records.path, text, first))
        return records.take(right), [one[right] for one in columns]


@dataclass(frozen=True)
class Records:
    """The records of one file."""

    path: Path
    declared: FrameworkRecord
    tagged: Tagged

    @property
    def rows(self) -> npt.NDArray[Any]:
        """The fixed parts."""
        return self.tagged.fixed

    def __len__(self) -> int:
        return len(self.tagged)

    def numbers(self, name: str) -> Integers:
        """A field; what exceeds 63 bits is negative."""
        found: Integers = self.rows[name].astype(np.int64)
        return found

    def column(self, name: str) -> TextColumn:
        """The texts of a field, as bytes."""
        tag = tags_of(self.declared)[name]
        return self.tagged.texts.get(tag, TextColumn([], np.full(len(self), NONE)))

    def texts(
        self,
        name: str,
        texts: Texts,
        damage: list[Damage],
        reading: Callable[[str], str | None] = str,
    ) -> Integers:
        """The numbers of the texts of a field, NONE without one or where ``reading`` finds none."""
        column = self.column(name)
        read = [reading(one) for one in self.decoded(name, column.distinct, damage)]
        table = [NONE if one is None else texts.number(one) for one in read]
        return np.array([*table, NONE], np.int64)[column.place]

    def decoded(self, name: str, distinct: Iterable[bytes], damage: list[Damage]) -> list[str]:
        """Texts of bytes; those that are no UTF-8 are damage and shown with their numbers."""
        found: list[str] = []
        for one in distinct:
            try:
                found.append(one.decode())
            except UnicodeDecodeError as problem:
                shown = one.decode("utf-8", "backslashreplace")
                text = f"{name} {shown[:40]!r} is no UTF-8 at its byte {problem.start:,}"
                damage.append(Damage(self.path, text))
                found.append(shown)
        return found

    def take(self, rows: npt.NDArray[Any]) -> Records:
        """The records at these places, or where a mask is true."""
        places = np.flatnonzero(rows) if rows.dtype == np.bool_ else rows
        if len(places) == len(self) and np.array_equal(places, np.arange(len(self))):
            return self
        texts = {
            tag: TextColumn(one.distinct, one.place[places])
            for tag, one in self.tagged.texts.items()
        }
        kept = Tagged(self.tagged.offset[places], self.tagged.fixed[places], texts)
        return Records(self.path, self.declared, kept)
