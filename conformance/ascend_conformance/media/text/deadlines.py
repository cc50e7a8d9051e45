"""Ends what takes too long."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

TICK = 0.1
"""Seconds between two looks at what is running."""


class Deadlines:
    """One thread that looks after all: to start one for each of hundreds of queries costs more than
    most of these.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: dict[object, tuple[float, Callable[[], object]]] = {}
        self._thread: threading.Thread | None = None

    @contextmanager
    def within(self, seconds: float, interrupt: Callable[[], object]) -> Iterator[None]:
        """Calls ``interrupt``, once, where the block takes longer; never after its end."""
        key = object()
        with self._lock:
            self._running[key] = time.monotonic() + seconds, interrupt
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._watch, daemon=True)
                self._thread.start()
        try:
            yield
        finally:
            with self._lock:
                self._running.pop(key, None)

    def _watch(self) -> None:
        while True:
            time.sleep(TICK)
            with self._lock:
                if not self._running:
                    self._thread = None
                    return
                now = time.monotonic()
                overdue = [key for key, (end, _) in self._running.items() if end <= now]
                for key in overdue:
                    _, interrupt = self._running.pop(key)
                    interrupt()
