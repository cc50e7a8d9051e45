"""Text for people: drawn on a terminal, plain in a pipe or a file."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ascend_ref.markdown import PLAIN, RENDERED, Style


def print_page(render: Callable[[Style], str]) -> None:
    """Show a Markdown page; where the output is no terminal, it stays Markdown as written."""
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console()
    if console.is_terminal:
        console.print(Markdown(render(RENDERED)))
    else:
        print(render(PLAIN).rstrip("\n"))


def print_columns(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Show rows of text under headers; in a pipe each row is one line, padded and never cut."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    if console.is_terminal:
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
