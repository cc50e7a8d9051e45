"""Cells of a CSV file in the form of another writer."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ascend_ref.arrays import joined
from ascend_ref.text.cells import NANOSECONDS_IN, PLACES, CellTexts
from ascend_spec.text.model import CsvColumn, Writer

TIME = "timestampUs"
"""Type of the columns whose cells are instants, which are exact as whole ns."""
NUMBER = r"^-?[0-9]{1,15}(\.[0-9]{1,9})?$"
ANY_NUMBER = r"^-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?$"
DIGITS = 9
"""Decimals of instants that are read; exporters write three."""


class Recast:
    """The cells of one column, from one writer to another. What is no number stays as it is."""

    def __init__(self, column: CsvColumn, old: Writer, new: Writer, family: str) -> None:
        forms = [column.format_by(one, family) for one in (old, new)]
        tabs = [column.tab and one.tabbed for one in (old, new)]
        self.is_same = forms[0] == forms[1] and tabs[0] == tabs[1]
        self.is_text = "text" in column.storage
        self._exact = column.type == TIME and column.unit == NANOSECONDS_IN
        self._whole = column.storage == ("integer",)
        self._tab = "\t" if tabs[1] else ""
        self._texts = CellTexts(column, new, family, quotes=False)

    def __call__(self, cells: pa.Array) -> pa.Array:
        """The same values in the other form."""
        return cells if self.is_same else self.written(cells)

    def written(self, cells: pa.Array) -> pa.Array:
        """The values as the new writer writes them, also where it writes them as the old one."""
        bare = pc.utf8_rtrim(cells, "\t")
        is_number = pc.match_substring_regex(bare, NUMBER if self._exact else ANY_NUMBER)
        texts = pc.if_else(is_number, bare, "0")
        if self._whole:
            made = joined(texts, self._tab) if self._tab else texts
        else:
            made = _plain(self._texts(self._values(texts)))
        return pc.if_else(is_number, made, cells)

    def _values(self, texts: pa.Array) -> pa.Array:
        if not self._exact:
            return pc.cast(texts, pa.float64())
        decimals = pc.cast(texts, pa.decimal128(15 + DIGITS, DIGITS))
        scaled = pc.multiply(decimals, pa.scalar(10**PLACES, pa.decimal128(4, 0)))
        return pc.cast(pc.floor(scaled), pa.int64(), safe=False)


def nothing(column: CsvColumn, writer: Writer, family: str) -> str:
    """What stands in a cell of which nothing is known."""
    texts = _plain(CellTexts(column, writer, family, quotes=False)(pa.nulls(1)))
    return str(texts[0].as_py())


def _plain(texts: Any) -> pa.Array:
    return texts.dictionary_decode() if pa.types.is_dictionary(texts.type) else texts
