"""An end for statements that take too long: one thread that watches all of them."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import duckdb

IDLE = 10.0
"""Seconds after which the thread ends if nothing was watched."""


class Watch:
    """Interrupts connections whose time is over. A thread for each query takes longer than many
    queries do.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._ends: dict[object, tuple[float, duckdb.DuckDBPyConnection]] = {}
        self.is_running = False

    @contextmanager
    def limited(self, connection: duckdb.DuckDBPyConnection, seconds: float) -> Iterator[None]:
        """Interrupt the queries made inside once they have taken this long."""
        token = object()
        with self._changed:
            self._ends[token] = time.monotonic() + seconds, connection
            if not self.is_running:
                self.is_running = True
                threading.Thread(target=self._watch, name="ascend-ref-watch", daemon=True).start()
            elif len(self._ends) == 1:
                self._changed.notify()
        try:
            yield
        finally:
            with self._changed:
                self._ends.pop(token, None)

    def _watch(self) -> None:
        with self._changed:
            while True:
                now = time.monotonic()
                for token in [one for one, (end, _) in self._ends.items() if end <= now]:
                    self._ends.pop(token)[1].interrupt()
                wait = min((end - now for end, _ in self._ends.values()), default=IDLE)
                if not self._changed.wait(wait) and not self._ends:
                    self.is_running = False
                    return


def watch() -> Watch:
    """The one of this process; a fork has no threads of its parent."""
    return _watch_of(os.getpid())


@cache
def _watch_of(_process: int) -> Watch:
    return Watch()
