"""Tables that are drawn for reading, as a library of Python draws them (mindspore-profiler 3.2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

Cell: TypeAlias = "str | int | float"

BETWEEN = "  "
ROOM = 2
"""By how much a column is wider than its header at least."""


def drawn(header: Sequence[str], rows: Sequence[Sequence[Cell]]) -> list[str]:
    """The lines of a table: the header, one of dashes, the rows, of which some may be shorter.

    Columns of numbers alone stand on the right, with their points below each other and 6 digits of
    a fraction; others on the left.
    """
    columns = [
        _column(title, [row[place] if place < len(row) else None for row in rows])
        for place, title in enumerate(header)
    ]
    return [BETWEEN.join(cells).rstrip() for cells in zip(*columns, strict=True)]


def _column(title: str, cells: Sequence[Cell | None]) -> list[str]:
    known = [one for one in cells if one is not None]
    is_number = bool(known) and all(map(_is_number, known))
    has_fraction = any(isinstance(one, float) for one in known)
    texts = ["" if one is None else _text(one, has_fraction and is_number) for one in cells]
    if is_number:
        decimals = [_decimals(one) for one in texts]
        most = max(decimals, default=0)
        texts = [text + " " * (most - own) for text, own in zip(texts, decimals, strict=True)]
    width = max([len(title) + ROOM, *map(len, texts)])
    place = str.rjust if is_number else str.ljust
    return [place(title, width), "-" * width, *(place(one, width) for one in texts)]


def _is_number(cell: Cell) -> bool:
    return not isinstance(cell, str) or cell.isdecimal()


def _text(cell: Cell, has_fraction: bool) -> str:
    return format(float(cell), "g") if has_fraction else str(cell)


def _decimals(text: str) -> int:
    """Places behind the point, of which the point is one that whole numbers lack."""
    point = text.rfind(".")
    if point < 0:
        point = text.rfind("e")
    return len(text) - point - 1 if point >= 0 else -1
