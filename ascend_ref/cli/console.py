"""Text for people: drawn on a terminal, plain in a pipe or a file."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ascend_ref.markdown import PLAIN, RENDERED, Style

if TYPE_CHECKING:
    from rich.console import Console

OBEYED = ("FORCE_COLOR", "TTY_COMPATIBLE")
"""Variables by which users make rich draw where there is no terminal."""


def print_page(render: Callable[[Style], str]) -> None:
    """Show a Markdown page; where the output is no terminal, it stays Markdown as written."""
    console = _terminal()
    if console is None:
        print(render(PLAIN).rstrip("\n"))
        return
    from rich.markdown import Markdown

    console.print(Markdown(render(RENDERED)))


def print_rows(headers: Sequence[str], rows: Sequence[Sequence[str]], *, as_json: bool) -> None:
    """Show rows of text under headers, or as JSON objects with these keys."""
    if as_json:
        print(json.dumps([dict(zip(headers, row, strict=True)) for row in rows], indent=2))
    else:
        print_columns(headers, rows)


def print_columns(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Show rows of text under headers; in a pipe each row is one line, padded and never cut."""
    console = _terminal()
    if console is not None:
        from rich.table import Table
        from rich.text import Text

        table = Table(*headers, box=None, header_style="bold", pad_edge=False)
        for row in rows:
            table.add_row(*(Text(cell) for cell in row))
        console.print(table)
        return
    everything = [headers, *rows]
    widths = [max(len(row[place]) for row in everything) for place in range(len(headers))]
    for row in everything:
        padded = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        print("  ".join(padded).rstrip())


def _terminal() -> Console | None:
    """The terminal to draw on; ``None`` for a pipe or a file, for which rich is not even loaded."""
    if not sys.stdout.isatty() and not any(map(os.environ.get, OBEYED)):
        return None
    from rich.console import Console

    console = Console()
    return console if console.is_terminal else None
