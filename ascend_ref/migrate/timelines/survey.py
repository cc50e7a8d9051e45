"""What a timeline is made of, as far as its migration depends on it; and whose it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

import msgspec

from ascend_ref.timeline.elements import Elements
from ascend_ref.timeline.parts import whole_elements
from ascend_ref.timeline.recognition import Reading, Shape, read_as

from ..refusal import Refusal

Progress: TypeAlias = Callable[[int, int, str], None]

Event: TypeAlias = dict[str, bytes]
"""The keys of an event, or of its args, in their order, with their values as JSON."""

MOST_NAMES = 200_000
"""Processes and threads of one file; real ones have some hundred."""
MOST_SHAPES = 10_000
"""Sets of keys that are looked into; real files have some hundred."""
HEAD = 1 << 20

_RAW: msgspec.json.Decoder[dict[str, msgspec.Raw]] = msgspec.json.Decoder(dict[str, msgspec.Raw])
_TEXT: msgspec.json.Decoder[str] = msgspec.json.Decoder(str)
_INTEGER: msgspec.json.Decoder[int] = msgspec.json.Decoder(int)


def members(text: bytes | None) -> Event | None:
    """The members of an object; ``None`` for what is none."""
    if text is None:
        return None
    try:
        return {key: bytes(value) for key, value in _RAW.decode(text).items()}
    except (msgspec.DecodeError, RecursionError):
        return None


def text_of(value: bytes | None) -> str | None:
    """A text in JSON; ``None`` for what is none."""
    if value is None or value[:1] != b'"':
        return None
    try:
        return _TEXT.decode(value)
    except msgspec.DecodeError:
        return None


def integer_of(value: bytes | None) -> int | None:
    """A whole number in JSON; ``None`` for what is none."""
    if value is None:
        return None
    try:
        return _INTEGER.decode(value)
    except msgspec.DecodeError:
        return None


@dataclass(slots=True)
class Named:
    """What the metadata say of a process. ``keys``: those of the first of its metadata."""

    name: str | None = None
    label: str | None = None
    sort_index: int | None = None
    keys: tuple[str, ...] = ()


@dataclass(slots=True)
class Survey:
    """``processes``: by pid in the order in which they come, those without metadata, too.
    ``threads``: names by pid and tid. ``shapes``: a name of an event by the pid, phase, category
    and args of all alike.
    """

    elements: Elements
    processes: dict[int, Named] = field(default_factory=dict)
    threads: dict[tuple[int, int], str] = field(default_factory=dict)
    shapes: dict[tuple[int, str, str | None, tuple[str, ...]], str | None] = field(
        default_factory=dict
    )

    def note(self, event: Event) -> None:
        """Look at an event."""
        pid, phase = integer_of(event.get("pid")), text_of(event.get("ph"))
        if pid is None or phase is None:
            return
        process = self.processes.get(pid)
        if process is None:
            process = self.processes[pid] = Named()
        args = members(event.get("args")) or {}
        if phase == "M":
            self._note_name(event, args, pid, process)
        if len(self.processes) + len(self.threads) > MOST_NAMES:
            raise Refusal(f"it names more than {MOST_NAMES:,} processes and threads")
        key = (pid, phase, text_of(event.get("cat")), tuple(args))
        if phase != "M" and key not in self.shapes and len(self.shapes) < MOST_SHAPES:
            self.shapes[key] = text_of(event.get("name"))

    def _note_name(self, event: Event, args: Event, pid: int, process: Named) -> None:
        what = text_of(event.get("name"))
        process.keys = process.keys or tuple(event)
        if what == "process_name":
            process.name = process.name or text_of(args.get("name"))
        elif what == "process_labels":
            process.label = process.label or text_of(args.get("labels"))
        elif what == "process_sort_index":
            process.sort_index = integer_of(args.get("sort_index"))
        elif what == "thread_name":
            tid, name = integer_of(event.get("tid")), text_of(args.get("name"))
            if tid is not None and name is not None:
                self.threads.setdefault((pid, tid), name)

    def reading(self, file: str, likely: Sequence[str]) -> Reading:
        """Whose the file is. ``likely``: writers that are, of those that it fits alike."""
        shapes = [
            Shape(number, pid, phase, cat, keys, name, events=1)
            for number, ((pid, phase, cat, keys), name) in enumerate(self.shapes.items())
        ]
        processes = [
            (pid, one.name, one.label)
            for pid, one in self.processes.items()
            if one.name is not None
        ]
        threads = [(pid, tid, name) for (pid, tid), name in self.threads.items()]
        with self.elements.path.open("rb") as source:
            head = source.read(HEAD)
        return read_as(file, processes, shapes, threads, head, likely)


def survey(path: Path, progress: Progress | None = None) -> Survey:
    """Look through a timeline. Raises :class:`.Refusal` for one that is damaged, ``OSError``."""
    found = Survey(Elements(path, text_lengths=True))
    size = path.stat().st_size
    for batch in found.elements.batches():
        text = batch.column("text")[0].as_buffer().to_pybytes()
        for start, end in whole_elements(text):
            event = members(text[start:end])
            if event is not None:
                found.note(event)
        if progress:
            progress(found.elements.starts[-1][1], 2 * size, "read")
    elements = found.elements
    if elements.damage is not None:
        raise Refusal(f"byte {elements.damage.offset:,}: {elements.damage.reason}")
    if elements.marked:
        raise Refusal("it stands behind a byte order mark")
    foreign = sum(one.count for one in elements.faults.found.values() if not one.key)
    if foreign:
        raise Refusal(f"{foreign:,} elements are no events")
    return found


def events_of(found: Survey) -> Iterator[tuple[bytes, Sequence[tuple[int, int]], int]]:
    """The text of a file, part after part, with the places of its events and where it stands.

    A part begins where the one before ended; the last goes to the end of the file.
    """
    starts = found.elements.starts
    with found.elements.path.open("rb") as file:
        yield file.read(starts[0][1]) if starts else file.read(), (), 0
        for place, (_, begin, _) in enumerate(starts):
            file.seek(begin)
            following = starts[place + 1][1] if place + 1 < len(starts) else None
            text = file.read() if following is None else file.read(following - begin)
            spans = whole_elements(b"[" + text)
            yield text, [(start - 1, end - 1) for start, end in spans], begin
