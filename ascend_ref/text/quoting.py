"""Quoting of CSV cells, once per distinct text."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from ascend_ref.joined import joined

STRUCTURAL = '[",\r\n]'
"""What makes Python's csv module quote a cell under QUOTE_MINIMAL (a CR always, as since 3.13)."""


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
