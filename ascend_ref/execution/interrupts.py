"""Interrupts that would be lost: those that have to wait, and those that DuckDB drops."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

INTERRUPTS = (signal.SIGINT, signal.SIGTERM)

DROPPED = "Query interrupted"
"""What DuckDB raises in the place of the exception of a signal that ended a query."""


def raise_if_dropped(problem: Exception) -> None:
    """Raise the ``KeyboardInterrupt`` that DuckDB made an error of.

    For all that goes on after an error: Ctrl-C and SIGTERM are to end it.
    """
    if type(problem) is RuntimeError and str(problem) == DROPPED:
        raise KeyboardInterrupt from problem


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Keep Ctrl-C and SIGTERM back; processes and threads started meanwhile keep them back too.

    For imports of compiled modules, which swallow exceptions of others, and for the start of
    processes: a terminal sends Ctrl-C to all of them, and one that is still importing, or that is
    left half started, would print a traceback.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # which no signal interrupts
        return
    held: list[int] = []
    handlers = {number: signal.getsignal(number) for number in INTERRUPTS}
    ours = [number for number, handler in handlers.items() if callable(handler)]
    for number in ours:
        # The mask below is not enough: a thread of a library may take the signal instead.
        signal.signal(number, lambda caught, _: held.append(caught))
    masks = hasattr(signal, "pthread_sigmask")
    before = signal.pthread_sigmask(signal.SIG_BLOCK, INTERRUPTS) if masks else set()
    try:
        yield
    finally:
        if masks:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        for number in ours:
            signal.signal(number, handlers[number])
        for caught in dict.fromkeys(held):
            signal.raise_signal(caught)
