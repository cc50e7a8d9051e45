"""From the values of a column to the text of its cells, in the form of its writer.

What a column is given as decides what it means:

- text, plain or by dictionary: stands in the file as it is;
- int64 in a column of microseconds: ns, printed with three decimals and no rounding;
- int64 in any other column: a whole number, without decimals in every form;
- double: a number in the unit of the column;
- NULL: the column's first sentinel; where it has none, N/A of a text (text-outputs.md 2.5) and
  an empty cell of a number.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ascend_ref.arrays import addresses, joined
from ascend_ref.derive.decimals import Form, decimal_texts, number_texts, shortest_texts
from ascend_ref.forms import NOT_COLLECTED
from ascend_spec.text.model import CsvColumn, NumberFormat, Writer

from .setting import Setting

NANOSECONDS_IN = "us"
"""Unit of the columns whose integers are ns."""
PLACES = 3
"""Decimals of ns as us."""
FORMS = {
    "fixed": Form.FIXED,
    "rounded": Form.REPR,
    "shortest": Form.REPR,
    "stripped": Form.STRIPPED,
    "text": Form.STRIPPED,
}
"""Forms of the styles of the spec; what was copied as text is taken to have no zeros at its end."""
STRUCTURAL = '[",\r\n]'
"""What makes Python's csv module quote a cell under QUOTE_MINIMAL (a CR always, as since 3.13)."""


class CellTexts:
    """The cells of one column, batch by batch, quoted as the writer does; never NULL."""

    def __init__(self, column: CsvColumn, writer: Writer, family: str, quotes: bool) -> None:
        self._format = column.format_by(writer, family) or NumberFormat("text")
        self._in_nanoseconds = column.unit == NANOSECONDS_IN
        self._tab = column.tab and writer.tabbed
        self._quotes = quotes
        nothing = NOT_COLLECTED if "text" in column.storage else ""
        self._none = column.sentinels[0] if column.sentinels else nothing
        self._dictionary: tuple[pa.Array, pa.Array] | None = None

    def __call__(self, values: pa.Array) -> pa.StringArray | pa.DictionaryArray:
        """The cells of some rows."""
        kind = values.type
        if pa.types.is_dictionary(kind):
            return self._of_dictionary(values)
        if pa.types.is_string(kind):
            return self._quoted(values.fill_null(self._none))
        if pa.types.is_null(kind):
            none = self._quoted(pa.array([self._none], pa.string()))
            return pa.DictionaryArray.from_arrays(np.zeros(len(values), np.int32), none)
        if not values.null_count:
            return self._numbers(values)
        none = pa.scalar(self._none, pa.string())
        return pc.if_else(values.is_valid(), self._numbers(values.fill_null(0)), none)

    def _numbers(self, values: pa.Array) -> pa.StringArray:
        style, places = self._format.style, self._format.decimals
        if pa.types.is_integer(values.type):
            return self._times(values) if self._in_nanoseconds else values.cast(pa.string())
        if style == "integer":
            return pc.trunc(values).cast(pa.int64(), safe=False).cast(pa.string())
        if style == "shortest" or places is None:
            return shortest_texts(values)
        return number_texts(values, FORMS[style], places=places, tab=self._tab)

    def _times(self, nanoseconds: pa.Array) -> pa.StringArray:
        style, places = self._format.style, self._format.decimals or PLACES
        if style == "integer":
            return pc.divide(nanoseconds, 10**PLACES).cast(pa.string())
        # Zeros behind the places that ns have.
        scaled = places > PLACES
        units = pc.multiply(nanoseconds, 10 ** (places - PLACES)) if scaled else nanoseconds
        return decimal_texts(units, FORMS[style], places=max(places, PLACES), tab=self._tab)

    def _of_dictionary(self, values: pa.DictionaryArray) -> pa.DictionaryArray:
        given = values.dictionary
        if self._dictionary is None or addresses(self._dictionary[0]) != addresses(given):
            # The sentinel comes last, for rows without a text.
            texts = pa.concat_arrays([given.cast(pa.string()), pa.array([self._none], pa.string())])
            self._dictionary = given, self._quoted(texts)
        indices = values.indices
        if indices.null_count:
            indices = indices.fill_null(len(given))
        return pa.DictionaryArray.from_arrays(indices, self._dictionary[1])

    def _quoted(self, texts: pa.StringArray) -> pa.StringArray:
        return quoted(texts) if self._quotes else texts


def cells_of(setting: Setting, name: str, values: pa.Array) -> pa.StringArray:
    """The cells of a column by canonical name, before quoting, where some rows differ in form."""
    column = setting.column(name)
    return CellTexts(column, setting.writer, setting.family, quotes=False)(values)


def quoted(texts: pa.StringArray) -> pa.StringArray:
    """The texts as CSV cells: those with a comma, a quote or a line end in double quotes.

    Quotes within are doubled. NULL stays NULL.
    """
    structural = pc.match_substring_regex(texts, STRUCTURAL)
    if not pc.any(structural).as_py():
        return texts
    doubled = pc.replace_substring(texts, '"', '""')
    enclosed = joined('"', doubled, '"')
    return pc.if_else(structural, enclosed, texts)
