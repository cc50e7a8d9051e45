"""Timelines without some of their events."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ascend_ref.timeline.elements import Elements
from ascend_ref.timeline.recognition import FLOWS
from ascend_spec import timeline_catalog
from ascend_spec.core.units import FACTORS

from ..media.text.splices import Events
from .reducible import NEVER, Integers, Tie, tie, tie_of_times
from .spans import Spans, nanoseconds

NS_PER_US = FACTORS["us", "ns"]


METADATA = "M"
"""The phase of events that name and place processes and threads."""

NAME_OF_PROCESS = "process_name"

OF_PROCESSES = "process_"
"""What names of those begin with that are about a whole process."""


class Timeline(Spans):
    """A timeline; its lanes are what its events are in.

    Both ends of an arrow are tied, and each is to what begins at its time. An event refers to the
    metadata of its process and thread.
    """

    def __init__(self, path: Path, events: Events) -> None:
        spans = np.array(events.spans, np.int64).reshape(-1, 2)
        super().__init__(path, spans[:, 0].copy(), spans[:, 1].copy(), b", ")
        lanes: dict[str, int] = {}
        part, times = [], []
        arrows: tuple[list[int], list[Any]] = ([], [])
        self._processes: list[str] = []
        self._metadata: dict[str, list[int]] = {}
        names: dict[str, str] = {}
        with path.open("rb") as file:
            for row, (begin, end) in enumerate(events.spans):
                file.seek(begin)
                event = _event(file.read(end - begin))
                lane = f"{event.get('pid')}/{event.get('tid')}"
                if lane not in lanes:
                    self._processes.append(str(event.get("pid")))
                part.append(lanes.setdefault(lane, len(lanes)))
                if event.get("ph") == METADATA:
                    is_of_process = str(event.get("name")).startswith(OF_PROCESSES)
                    about = self._processes[part[-1]] if is_of_process else lane
                    self._metadata.setdefault(about, []).append(row)
                    if event.get("name") == NAME_OF_PROCESS and isinstance(event.get("args"), dict):
                        names[self._processes[part[-1]]] = str(event["args"].get("name"))
                times.append(nanoseconds(event["ts"], NS_PER_US) if "ts" in event else NEVER)
                if event.get("ph") in FLOWS:
                    arrows[0].append(row)
                    arrows[1].append(f"{event.get('cat')} {event.get('id')}")
        self.parts = tuple(lanes)
        self.part, self._times = np.array(part, np.int64), np.array(times, np.int64)
        self._names = [names.get(one, "") for one in self._processes]
        self._arrows = tie(f"arrow of {path}", *arrows)

    @property
    def labels(self) -> Sequence[Sequence[str]]:
        """Of each lane the name of its process, which is a layer, and how rules call that."""
        layers = timeline_catalog().layers
        return [(one, layers[one].slug) if one in layers else (one,) for one in self._names]

    @property
    def times(self) -> Integers:
        """Of each event that has one."""
        return self._times

    @property
    def ties(self) -> Sequence[Tie]:
        """The times of the events, and the arrows that they are ends of."""
        return tie_of_times(self._times), self._arrows

    @property
    def metadata(self) -> Integers:
        """The events that name and place processes and threads."""
        rows = [row for found in self._metadata.values() for row in found]
        return np.array(sorted(rows), np.int64)

    @property
    def describing(self) -> Integers:
        """All metadata."""
        return self.metadata

    def needed_by(self, rows: Integers) -> Iterable[int]:
        """The metadata of the processes and threads that these events are in."""
        for part in np.unique(self.part[rows]).tolist():
            for about in (self._processes[part], self.parts[part]):
                yield from self._metadata.get(about, ())


def timeline_of(path: Path) -> Timeline | None:
    """The events of a file; ``None`` where they cannot all be read. Raises ``OSError``."""
    elements = Elements(path)
    for _ in elements.batches():
        pass  # finds where the events begin
    if elements.damage is not None:
        return None
    return Timeline(path, Events(elements))


def _event(text: bytes) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):  # of more digits, or deeper, than Python takes
        return {}
    return value if isinstance(value, dict) else {}
