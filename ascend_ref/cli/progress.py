"""Progress on a terminal, silence everywhere else."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

Advance: TypeAlias = Callable[[int, int, str], None]
"""Is called with the number of units done, the number of all units, and the current one."""


@contextmanager
def progress_bar(title: str) -> Iterator[Advance | None]:
    """A bar on stderr, ``None`` where that is no terminal."""
    with progress_bars() as begin:
        yield begin and begin(title)


@contextmanager
def progress_bars() -> Iterator[Callable[[str], Advance] | None]:
    """Begins a bar of a title on stderr, in place of the one before."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as display:

        def begin(title: str) -> Advance:
            for task in display.task_ids:
                display.remove_task(task)
            bar = display.add_task(escape(title), total=None)

            def advance(done: int, total: int, what: str) -> None:
                display.update(bar, completed=done, total=total, description=escape(what))

            return advance

        yield begin
