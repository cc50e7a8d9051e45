"""Progress on a terminal, silence everywhere else."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress_bar(title: str) -> Iterator[Callable[[int, int, str], None] | None]:
    """A bar on stderr, ``None`` where that is no terminal.

    It is called with the number of units done, the number of all units, and the current one.
    """
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as display:
        bar = display.add_task(escape(title), total=None)

        def advance(done: int, total: int, what: str) -> None:
            display.update(bar, completed=done, total=total, description=escape(what))

        yield advance
