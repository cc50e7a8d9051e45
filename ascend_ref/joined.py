"""Texts of several columns, joined row by row."""

from __future__ import annotations

from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

Piece: TypeAlias = "str | pa.Array | pa.Scalar"
"""A text that is the same in every row, or a column of texts."""
NOTHING = pa.scalar("", pa.string())


def joined(*pieces: Piece, null_is_nothing: bool = False) -> pa.Array:
    """The pieces of each row as one text; NULL where one of them is, unless it counts as no text.

    Arrow looks at every Python text for a date, and each time tries to import dateutil, which takes
    longer than many a join; here the type of a text is given.
    """
    columns = [pa.scalar(one, pa.string()) if isinstance(one, str) else one for one in pieces]
    handling = "replace" if null_is_nothing else "emit_null"
    options = pc.JoinOptions(null_handling=handling, null_replacement="")
    return pc.binary_join_element_wise(*columns, NOTHING, options=options)
