"""The controller: between the Profiler, which scripts call, and the collector."""

from __future__ import annotations

from pathlib import Path

from .collector import Collector


class Controller:
    """Sends the collector its commands. ``jobs``: the folders that it has written, oldest first."""

    def __init__(self, collector: Collector) -> None:
        self._collector = collector
        self.jobs: list[Path] = []

    def start(self) -> None:
        """Let the collector record."""
        self._collector.start()

    def stop(self) -> None:
        """Let the collector record no more."""
        job = self._collector.stop()
        if job is not None:
            self.jobs.append(job)
