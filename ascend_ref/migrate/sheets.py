"""CSV files of one writer as those of another: columns, header texts and forms of numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pyarrow.compute as pc

from ascend_ref.text.headers import Circumstance, recognise, repeats
from ascend_ref.text.rows import CsvRows
from ascend_ref.text.setting import Setting
from ascend_ref.text.sheet import LINE_ENDS, header_line, lines
from ascend_ref.text.verbatim import NoSpareByte
from ascend_spec import text_catalog
from ascend_spec.text.model import CsvColumn

from .account import Effect, Entry, Migrated
from .recast import Recast, nothing
from .refusal import Refusal

LOOKED_AT = 1_000
"""Rows that show on which product a file was written."""


@dataclass(slots=True)
class _Column:
    """A column of either file. ``source``: where it stands in the old one, ``target`` in the new.

    ``text``: its cells where it appears, of one that goes those that coming back would write.
    ``lost``: cells that do not come back; ``changed``: that are written otherwise.
    """

    column: CsvColumn
    source: int | None
    target: int | None
    there: Recast
    back: Recast
    text: str
    lost: int = 0
    changed: int = 0

    def cells(self, batch: pa.RecordBatch) -> pa.Array:
        """The new cells of some rows; counts what they lose."""
        if self.source is None:
            return pa.DictionaryArray.from_arrays(
                pa.array([0] * batch.num_rows, pa.int32()), pa.array([self.text], pa.string())
            )
        old = batch.column(str(self.source))
        if self.target is None:
            self.lost += _count(pc.not_equal(old, self.text))
            return old
        if self.there.is_same:
            return old
        new = self.there(old)
        self.changed += _count(pc.not_equal(old, new))
        self.lost += _count(pc.not_equal(old, self.back(new)))
        return new


def circumstances_of(files: Mapping[Path, str], writer: str) -> Mapping[Path, Circumstance]:
    """Under what circumstances generations of a writer wrote the CSV files of a folder.

    ``files``: with their names in the spec; those that none of them wrote are left out. Where
    several could have, it is the one, on a product, whose header most of the files have; of equal
    ones the one in whose form most cells of their first rows are. Raises ``OSError``.
    """
    found: dict[Path, list[Circumstance]] = {}
    first: dict[Path, tuple[int, pa.RecordBatch]] = {}
    families = text_catalog().writers[writer].families
    for path, name in files.items():
        rows = CsvRows(path, verbatim=True)
        try:
            batch = next(rows.batches(), None)
        except NoSpareByte:
            continue
        file = text_catalog().csv[name]
        known = recognise(file, rows.header, partial(is_kin, writer))
        ats = [at for at in known.circumstances if known.exact and is_kin(writer, at.writer)]
        if ats:
            # Headers do not show on which product a file was written.
            found[path] = [at for at in ats if at.family in families] or ats
            if batch is not None:
                first[path] = repeats(file, rows.header), batch.slice(0, LOOKED_AT)
    votes: Counter[tuple[str, str]] = Counter()
    for ats in found.values():
        votes.update({(at.writer, at.family) for at in ats})
    most = max(votes.values(), default=0)
    departing: Counter[tuple[str, str]] = Counter()
    for path, ats in found.items():
        for at in {(one.writer, one.family): one for one in ats}.values():
            if votes[at.writer, at.family] == most and path in first:
                setting = _setting(files[path], at, at.writer)
                departing[at.writer, at.family] += _departing(setting, *first[path])
    rank = {pair: (count, -departing[pair]) for pair, count in votes.items()}
    return {
        path: max(ats, key=lambda at: rank[at.writer, at.family]) for path, ats in found.items()
    }


def _departing(setting: Setting, repeated: int, batch: pa.RecordBatch) -> int:
    """How many cells of some rows are not as the writer writes them."""
    found = 0
    for place, column in enumerate(setting.columns(repeated)):
        recast = Recast(column, setting.writer, setting.writer, setting.family)
        if not recast.is_text:
            cells = batch.column(str(place))
            found += _count(pc.not_equal(cells, recast.written(cells)))
    return found


def is_kin(writer: str, other: str) -> bool:
    """Whether two writers are generations of one program."""
    one, another = (text_catalog().writers[name] for name in (writer, other))
    return (one.output, one.engine) == (another.output, another.engine)


def migrate_sheet(source: Path, name: str, at: Circumstance, writer: str, target: Path) -> Migrated:
    """Write a CSV file as another writer would have written it under the same circumstances.

    Rows stay in their order, and in as many files. Raises :class:`.Refusal` where that writer has
    no such file, or rows are broken; ``OSError``.
    """
    old, new = _setting(name, at, at.writer), _setting(name, at, writer)
    rows = CsvRows(source, verbatim=True)
    batches = rows.batches()
    first = next(batches, None)
    if rows.header_damage or rows.marked:
        raise Refusal("its header is damaged, or stands behind a byte order mark")
    repeated = repeats(old.file, rows.header)
    columns = list(_columns(old, new, repeated))
    with target.open("xb") as file:
        try:
            _write(file, new, columns, chain(() if first is None else (first,), batches))
        except NoSpareByte as problem:
            raise Refusal(str(problem)) from None
    if rows.faults or rows.skipped_from is not None:
        target.unlink()
        raise Refusal(f"{sum(one.count for one in rows.faults.values()):,} rows are broken")
    entries = list(_entries(columns, old, new, rows.count))
    return Migrated(source.name, "migrated", at.writer, writer, entries=tuple(entries))


def _setting(name: str, at: Circumstance, writer: str) -> Setting:
    file, by = text_catalog().csv[name], text_catalog().writers[writer]
    if writer not in file.writers:
        raise Refusal(f"{writer} writes no {name}.csv")
    if at.family not in by.families or at.level not in file.levels_by(writer):
        raise Refusal(f"{writer} writes no {name}.csv on {at.family} at level {at.level}")
    return Setting(file, by, at.family, at.level, at.metrics, at.scene)


def _columns(old: Setting, new: Setting, repeated: int) -> Iterator[_Column]:
    """Those of the new file in their order, then those that go."""
    left = {key: (place, one) for place, (key, one) in enumerate(_keyed(old.columns(repeated)))}
    for target, (key, column) in enumerate(_keyed(new.columns(repeated))):
        source, _ = left.pop(key, (None, column))
        yield _column(column, source, target, old, new, nothing(column, new.writer, new.family))
    for source, column in left.values():
        yield _column(column, source, None, old, new, nothing(column, old.writer, old.family))


def _keyed(columns: Iterable[CsvColumn]) -> Iterator[tuple[tuple[str, int], CsvColumn]]:
    """Columns by name, and by how often it stood there before."""
    seen: Counter[str] = Counter()
    for column in columns:
        yield (column.name, seen[column.name]), column
        seen[column.name] += 1


def _column(
    column: CsvColumn, source: int | None, target: int | None, old: Setting, new: Setting, text: str
) -> _Column:
    there = Recast(column, old.writer, new.writer, new.family)
    back = Recast(column, new.writer, old.writer, new.family)
    return _Column(column, source, target, there, back, text)


def _write(
    file: BinaryIO, new: Setting, columns: Sequence[_Column], batches: Iterable[pa.RecordBatch]
) -> None:
    comma = "," if new.writer.id in new.file.trailing_comma else ""
    written = [one.column for one in columns if one.target is not None]
    file.write(header_line(written, new.writer, new.notation, comma))
    for batch in batches:
        made = [(one.target, one.cells(batch)) for one in columns]
        cells = [cells for target, cells in made if target is not None]
        for block in lines(cells, comma + LINE_ENDS[new.notation.line_end]):
            file.write(block)


def _count(flags: pa.Array) -> int:
    return int(pc.sum(flags).as_py() or 0)


def _entries(columns: Sequence[_Column], old: Setting, new: Setting, rows: int) -> Iterator[Entry]:
    file = old.file.name
    for one in columns:
        before, after = one.column.name_by(old.writer), one.column.name_by(new.writer)
        place = f"{file}.csv: {after}"
        if one.source is None:
            yield Entry("defaulted", place, one.text or "an empty cell", rows)
        elif one.target is None:
            effect: Effect = "lost" if one.lost else "gone"
            words = f"no column of {new.writer.id}"
            yield Entry(effect, f"{file}.csv: {before}", words, one.lost)
            continue
        if one.source is not None and before != after:
            yield Entry("renamed", place, f"{before} before", rows)
        if one.changed:
            yield Entry("converted", place, "the form of numbers", one.changed)
        if one.lost:
            yield Entry("lost", place, "digits, or another form than that of its writer", one.lost)
