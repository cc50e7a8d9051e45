"""Progress on a terminal, silence everywhere else."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ..engine.progress import Progress


@contextmanager
def file_progress() -> Iterator[Callable[[Path], Progress] | None]:
    """A progress display on stderr for files that take long; ``None`` where nobody looks."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import Progress as Display

    with Display(console=Console(stderr=True), transient=True) as display:

        def begin(path: Path) -> Progress:
            for task in display.task_ids:
                display.remove_task(task)
            bar = display.add_task(escape(path.name), total=None)

            def advance(done: int, total: int, what: str) -> None:
                display.update(
                    bar, completed=done, total=total, description=escape(f"{path.name} {what}")
                )

            return advance

        yield begin
