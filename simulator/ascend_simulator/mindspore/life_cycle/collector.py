"""The collector: records what a device does between two commands, and writes raw files."""

from __future__ import annotations

import string
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeAlias

from ascend_ref.atomic import staged

Source: TypeAlias = Callable[[int, int], Mapping[str, bytes]]
"""The raw files of what happened from one tick on until another, by their paths in a job."""

LETTERS = 10


class Clock:
    """The counter of the device, in ticks of 10 ns. A run moves it on."""

    def __init__(self, now: int = 0) -> None:
        self.now = now

    def advance(self, ticks: int) -> None:
        """Let time pass."""
        self.now += ticks


class Collector:
    """Records a run. Each recording gets a folder of a job in ``place``, complete or not at all."""

    def __init__(self, source: Source, clock: Clock, place: Path) -> None:
        self._source = source
        self._clock = clock
        self._place = place
        self._since: int | None = None
        self._jobs = 0

    def start(self) -> None:
        """Record from now on; what is being recorded goes on."""
        if self._since is None:
            self._since = self._clock.now

    def stop(self) -> Path | None:
        """Record no more. The folder of the job; ``None`` where nothing is being recorded."""
        if self._since is None:
            return None
        files = self._source(self._since, self._clock.now)
        self._since = None
        self._jobs += 1
        folder = self._place / _job_name(self._jobs)
        with staged(folder) as draft:
            for name, content in files.items():
                path = draft / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
        return folder


def _job_name(number: int) -> str:
    """JOB with letters, as the service of the driver names its folders."""
    letters = ""
    for _ in range(LETTERS):
        number, letter = divmod(number, len(string.ascii_uppercase))
        letters = string.ascii_uppercase[letter] + letters
    return f"JOB{letters}"
