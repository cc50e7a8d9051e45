"""From columns of cells to lines of text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa

from ascend_ref.timeline.rows import Fragment, row_texts

SEPARATOR = ","


def lines(cells: Sequence[pa.Array], end: str) -> Iterator[memoryview]:
    """The rows as text, some thousands at a time.

    ``cells`` are the columns, plain or by dictionary, as they shall stand in the file.
    """
    fragments: list[Fragment] = []
    for column in cells:
        fragments += [column, SEPARATOR]
    fragments[-1] = end
    return row_texts(fragments, len(cells[0]))
