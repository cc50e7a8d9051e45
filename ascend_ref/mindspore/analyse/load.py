"""Columns of answers from the texts of intermediate files."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow.compute as pc

from ascend_spec.mindspore import AnswerColumn

from ..sheet import Cells, Flags, Numbers, Texts, flags, parse_numbers
from .cells import Column, NumberColumn, ObjectColumn, TextColumn
from .files import Folder
from .rounding import rounded, shown

WHOLE_SHARE = 1.5
"""Shares of all types have the sum 1 or 100, so that it says which of both they are parts of."""

JSON_FORM, TEXT_FORM, WHOLE_FORM = "json", "text", "integer"


def load(
    folder: Folder, cells: Cells, columns: Sequence[AnswerColumn]
) -> tuple[Cells, dict[str, Column]]:
    """The columns that take cells of a file, by name, and the cells of the rows that they are of.

    Rows with a cell that is no number are left out, and noted as damage.
    """
    numbers, sound = {}, np.ones(len(cells.lines), np.bool_)
    for column in columns:
        name = next((one for one in column.takes if one in cells.columns), None)
        if name is None or column.form in (JSON_FORM, TEXT_FORM):
            continue
        parsed, bad = parse_numbers(cells.columns[name], whole=column.form == WHOLE_FORM)
        empty = flags(pc.equal(cells.columns[name], ""))
        wrong = bad & ~empty if column.may_be_empty else bad
        if wrong.any():
            folder.state(cells, np.flatnonzero(wrong & sound), name, "no number")
            sound &= ~wrong
        numbers[column.name] = parsed, bad
    if not sound.all():
        cells = cells.taken(np.flatnonzero(sound).astype(np.int64))
    return cells, {
        column.name: _column(folder, cells, column, numbers.get(column.name), sound)
        for column in columns
    }


def _column(
    folder: Folder,
    cells: Cells,
    column: AnswerColumn,
    parsed: tuple[Numbers, Flags] | None,
    sound: Flags,
) -> Column:
    if parsed is not None:
        numbers, missing = parsed[0][sound], parsed[1][sound]
        return number_column(column, numbers, missing)
    texts = cells.first(column.takes)
    count = len(cells.lines)
    if column.form not in (JSON_FORM, TEXT_FORM):
        return number_column(column, np.zeros(count), np.ones(count, np.bool_))
    if texts is None:
        return ObjectColumn([None] * count)
    return (
        TextColumn(texts) if column.form == TEXT_FORM else JsonColumn(folder, cells, column, texts)
    )


class JsonColumn(ObjectColumn):
    """Documents in cells, each read when it is first looked at; nothing is an empty cell."""

    def __init__(self, folder: Folder, cells: Cells, column: AnswerColumn, texts: Texts) -> None:
        self._folder, self._cells, self._texts = folder, cells, texts
        self._name = next(one for one in column.takes if one in cells.columns)
        super().__init__(_Lazy(self))

    def document(self, row: int) -> Any:
        """The document of a row; its text where it is none."""
        text = self._texts[row].as_py()
        try:
            return json.loads(text) if text else None
        except (ValueError, RecursionError):
            self._folder.state(self._cells, np.array([row]), self._name, "no JSON")
            return text


class _Lazy(Sequence[Any]):
    def __init__(self, column: JsonColumn) -> None:
        self._column = column

    def __len__(self) -> int:
        return len(self._column._texts)

    def __getitem__(self, row: Any) -> Any:
        return self._column.document(row)


def number_column(column: AnswerColumn, numbers: Numbers, missing: Flags | None) -> NumberColumn:
    """Numbers in the unit and with the digits of a column of an answer."""
    text = column.empty if isinstance(column.empty, str) else None
    if missing is not None and isinstance(column.empty, int):
        numbers, missing = np.where(missing, column.empty, numbers), None
    if column.form == WHOLE_FORM:
        return NumberColumn(numbers.astype(np.int64), missing, text)
    numbers = numbers.astype(np.float64)
    match column.form:
        case "rounded":
            numbers = shown(numbers * column.factor)
        case "rounded-first":
            numbers = shown(numbers) * column.factor
        case "rounded-twice":
            numbers = rounded(shown(numbers) * column.factor, 6)
        case "share":
            parts = np.abs(numbers).sum() <= WHOLE_SHARE
            numbers = shown(numbers * 100 if parts else numbers)
        case _:
            numbers = numbers * column.factor
    return NumberColumn(numbers, missing, text)
