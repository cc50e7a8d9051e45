"""One CSV file from batches of typed columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa

from ascend_ref.atomic import Drafts, Naming
from ascend_ref.timeline.rows import Fragment, row_texts
from ascend_spec.text.model import CsvColumn, Output, Slicing, Writer

from .cells import CellTexts, quoted
from .columns import Columns, Filling, row_count
from .setting import Setting

LINE_ENDS: Mapping[str, str] = {"lf": "\n", "crlf": "\r\n"}


class TooManyRows(ValueError):
    """A file that its writer does not cut has more rows than it may."""


def write_sheet(
    setting: Setting,
    batches: Iterable[Columns],
    folder: Path,
    *,
    timestamp: str | None = None,
    limit: int | None = None,
) -> list[Path]:
    """Write the rows of a file and return its slices; no rows make no file.

    ``batches`` hold columns of the file under the setting, in the forms that :mod:`.cells`
    describes; those that they lack are filled from what the spec says they show. ``timestamp`` is
    part of the name where the writer puts one there; ``limit`` replaces the number of rows of a
    full slice. The file has its name only when it is complete.

    Raises ``TooManyRows`` where the writer fails, and ``OSError`` where the folder cannot be
    written.
    """
    filled = (batch for batch in batches if row_count(batch))
    first = next(iter(filled), None)
    if first is None:
        return []
    columns = setting.columns(_repetitions(setting, first))
    notation = setting.notation
    quotes = notation.quoting == "minimal"
    texts = [CellTexts(column, setting.writer, setting.family, quotes) for column in columns]
    filling = Filling(setting)
    comma = "," if setting.writer.id in setting.file.trailing_comma else ""
    end = comma + LINE_ENDS[notation.line_end]
    slicing = _slicing(setting, limit)
    target = SlicedFile(
        folder,
        header_line(columns, setting.writer, notation, comma),
        lambda number: file_name(setting, timestamp, number),
        slicing,
    )
    written = 0
    try:
        for batch in chain([first], filled):
            values = [_column(batch, columns, place, filling) for place in range(len(columns))]
            rows, start = row_count(batch), 0
            written += rows
            if slicing is not None and slicing.fails and written > slicing.rows:
                raise TooManyRows(
                    f"{setting.file.name}: more than {slicing.rows:,} rows; "
                    f"expected at most so many, {setting.writer.id} does not cut this file"
                )
            while start < rows:
                count = target.fitting(rows - start)
                cells = [
                    text(value.slice(start, count))
                    for text, value in zip(texts, values, strict=True)
                ]
                target.write(count, lines(cells, end))
                start += count
        return target.finish()
    except BaseException:
        target.discard()
        raise


def header_line(
    columns: Sequence[CsvColumn], writer: Writer, notation: Writer | None = None, last: str = ""
) -> bytes:
    """The header as its writer prints it, with the line end.

    notation: whose quotes and line ends it has, where they are not those of the writer. last: what
    stands before the line end.
    """
    notation = notation or writer
    names = pa.array([column.name_by(writer) for column in columns], pa.string())
    cells = quoted(names) if notation.quoting == "minimal" else names
    return (",".join(cells.to_pylist()) + last + LINE_ENDS[notation.line_end]).encode()


def file_name(setting: Setting, timestamp: str | None, number: int | None) -> str:
    """Name of a file, or of one of its slices."""
    writer = setting.writer
    template = writer.name if number is None or writer.sliced is None else writer.sliced
    output: Output = writer.output
    return template.format(module=setting.file.modules[output], timestamp=timestamp, slice=number)


def _slicing(setting: Setting, limit: int | None) -> Slicing | None:
    slicing = setting.file.slicing_by(setting.writer.id)
    if slicing is None or limit is None:
        return slicing
    return replace(
        slicing, rows=limit, suffix_from=max(limit + slicing.suffix_from - slicing.rows, 1)
    )


def _repetitions(setting: Setting, batch: Columns) -> int:
    """How often the repeated columns of a file stand in its rows."""
    return max(
        (
            len(given)
            for column in setting.file.own_columns
            if column.group is not None
            and not isinstance(given := batch.get(column.name, ()), pa.Array)
        ),
        default=0,
    )


def _column(batch: Columns, columns: Sequence[CsvColumn], place: int, filling: Filling) -> pa.Array:
    column = columns[place]
    given = batch.get(column.name)
    if given is None:
        return filling.of(column, batch)
    if isinstance(given, pa.Array):
        return given
    return given[[one.name for one in columns[:place]].count(column.name)]


def lines(cells: Sequence[pa.Array], end: str) -> Iterator[memoryview]:
    """The rows as text, some thousands at a time.

    ``cells`` are the columns, plain or by dictionary, as they shall stand in the file.
    """
    fragments: list[Fragment] = []
    for column in cells:
        fragments += [column, ","]
    fragments[-1] = end
    return row_texts(fragments, len(cells[0]))


def slice_numbers(rows: int, slicing: Slicing | None) -> list[int | None]:
    """The numbers of the slices that so many rows are cut into; ``None`` where there is but one."""
    if slicing is None or rows < slicing.suffix_from:
        return [None]
    return list(range(-(-rows // slicing.rows)))


class SlicedFile:
    """Writes blocks of rows to one file or several, each beginning with the same header.

    ``slicing`` is ``None`` where a file is never cut. The names of the slices depend on how many
    rows follow, so every slice has a hidden name until the last row is written.
    """

    def __init__(
        self, folder: Path, header: bytes, naming: Naming, slicing: Slicing | None
    ) -> None:
        self._drafts = Drafts(folder, naming)
        self._header, self._slicing = header, slicing
        self._file: BinaryIO = BytesIO()
        self._rows = 0

    def fitting(self, rows: int) -> int:
        """How many of so many rows fit into the current slice."""
        if self._slicing is None:
            return rows
        return min(rows, self._slicing.rows - self._rows % self._slicing.rows)

    def write(self, rows: int, blocks: Iterable[memoryview]) -> None:
        """Append so many rows, which must fit into the current slice."""
        if not self._rows or (self._slicing and self._rows % self._slicing.rows == 0):
            self._file.close()
            self._file = self._drafts.open()
            self._file.write(self._header)
        for block in blocks:
            self._file.write(block)
        self._rows += rows

    def finish(self) -> list[Path]:
        """Give the slices their names and return them; none where no row was written."""
        if not self._rows:
            return []
        return self._drafts.keep(slice_numbers(self._rows, self._slicing))

    def discard(self) -> None:
        """Remove what has not been finished."""
        self._drafts.discard()
