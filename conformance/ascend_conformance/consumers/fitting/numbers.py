"""New numbers for processes and threads that a reader would mistake for others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from ...media.text.database import Facts
from ..seeing import MOST

Track = tuple[int, int]
"""Process and thread, by their numbers in the file."""


@dataclass
class Numbers:
    """``processes`` and ``threads`` have those that get another number, by the one in the file.

    ``lanes``: by track the threads that its further lanes become.
    """

    processes: dict[int, int] = field(default_factory=dict)
    threads: dict[Track, int] = field(default_factory=dict)
    lanes: dict[Track, list[int]] = field(default_factory=dict)

    def process(self, number: int) -> int:
        """The number that a process gets, its own or a new one."""
        return self.processes.get(number, number)

    def thread(self, track: Track, lane: int = 0) -> int:
        """The number that a lane of a thread gets."""
        if lane:
            return self.lanes[track][lane - 1]
        return self.threads.get(track, track[1])


def number_all(facts: Facts, does: Collection[str], most_lanes: dict[Track, int]) -> Numbers:
    """Numbers for a reader with these behaviours; most_lanes: further lanes of tracks."""
    found = Numbers()
    tracks = facts.rows(
        "SELECT DISTINCT pid, coalesce(tid, 0) FROM trace.event "
        "WHERE pid IS NOT NULL AND ph IS DISTINCT FROM 'M' ORDER BY ALL"
    )
    used = {number for track in tracks for number in track}
    free = _unused(used)
    if "process-numbers-of-32-bits" in does:
        wrong = sorted({process for process, _ in tracks if not 0 <= process <= MOST})
        found.processes = {process: next(free) for process in wrong}
    if "thread-0-is-the-main-thread" in does:
        mains = Counter(process for process, thread in tracks if _is_main(process, thread))
        wrong_tracks = [
            track for track in tracks if not 0 < track[1] <= MOST and mains[track[0]] > 1
        ]
        found.threads = {track: next(free) for track in wrong_tracks}
    for track, further in sorted(most_lanes.items()):
        found.lanes[track] = [next(free) for _ in range(further)]
    return found


def _is_main(process: int, thread: int) -> bool:
    """Whether a thread is taken for the one that has the number of its process."""
    return thread == process or not 0 < thread <= MOST


def _unused(used: Collection[int]) -> Iterator[int]:
    """Small numbers that no process or thread has: a thread of the number of its process is taken
    for the main one."""
    return (number for number in range(1, MOST) if number not in used)
