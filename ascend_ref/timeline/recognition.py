"""Who wrote a timeline: which layer a process is, of which kind its events can be."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ascend_spec import timeline_catalog
from ascend_spec.core.bounds import allows
from ascend_spec.timeline import EventKind, Layer

STEP_TRACE = "step_trace_json"
"""The file in which a layer that is shown in another one stands alone."""

FLOWS = ("s", "t", "f")
"""Phases of the points of an arrow."""


Process: TypeAlias = tuple[int, str, str | None]
"""pid, name and label of a process of a timeline, as its metadata describe it."""


NamedThread: TypeAlias = tuple[int, int, str]
"""pid, tid and name of a thread of a timeline."""


@dataclass(frozen=True, slots=True)
class Shape:
    """Events of one process, phase, category and set of args, with the name of one of them."""

    id: int
    pid: int | None
    phase: str | None
    cat: str | None
    keys: tuple[str, ...]
    name: str | None
    events: int


@dataclass(frozen=True, slots=True)
class Reading:
    """How a file is read: by whose facts, and the layers of its processes."""

    writer: str
    file: str
    layers: Mapping[int, Layer]

    def candidates(self, shape: Shape) -> tuple[EventKind, ...]:
        """The kinds that events of a shape can be of, whatever their names; most special first."""
        layer = self.layers.get(shape.pid) if shape.pid is not None else None
        if layer is None:
            return ()
        facts = timeline_catalog()
        engines = facts.engines(self.writer, layer)
        fitting = [
            kind
            for kind in facts.events(layer, self.writer, self.file)
            if kind.phase == shape.phase
            and kind.cat == shape.cat
            and any(
                allows(kind.writers, one) and kind.matched(shape.keys, one) is not None
                for one in engines
            )
        ]
        return tuple(sorted(fitting, key=lambda kind: (len(kind.yields_to), kind.name.is_fixed)))

    def placed(self, threads: Iterable[NamedThread]) -> int:
        """How many threads with a name and a number of their own have those of the writer."""
        return sum(
            any(
                thread.name is not None and thread.name.fits(name) and thread.tid == (tid,)
                for thread in timeline_catalog().threads(self.layers[pid], self.writer, self.file)
            )
            for pid, tid, name in threads
            if pid in self.layers
        )

    def named(self, threads: Iterable[NamedThread]) -> int:
        """How many threads have a name that the writer gives."""
        return sum(
            any(
                thread.name is not None and thread.name.fits(name)
                for thread in timeline_catalog().threads(self.layers[pid], self.writer, self.file)
            )
            for pid, _, name in threads
            if pid in self.layers
        )

    def is_flow(self, shape: Shape) -> bool:
        """Whether events of a shape are points of an arrow of the spec."""
        flows = timeline_catalog().flows_of(self.writer)
        return shape.phase in FLOWS and any(flow.cat == shape.cat for flow in flows)


def is_free(kind: EventKind) -> bool:
    """Whether any name fits a kind."""
    (field, *others) = kind.name.fields.values() or (None,)
    return (
        field is not None
        and not others
        and kind.name.template == f"{{{field.name}}}"
        and field.kind == "text"
        and not field.values
    )


def read_as(
    file: str,
    processes: Sequence[Process],
    shapes: Sequence[Shape],
    threads: Sequence[NamedThread],
    head: bytes,
    likely: Sequence[str] = (),
    is_by: Callable[[str], bool] | None = None,
) -> Reading:
    """The reading of a file: of writers that explain every event of it, if there are any.

    Else, and among them, it is one that writes times and separators like these, which a tool that
    reformats JSON changes; then one that explains most events; then one that numbers most of the
    ``threads`` like these, and names them so; then a ``likely`` one.

    ``is_by``: whether a writer can have written the file. ``head``: its first events, which show
    whether times are texts, and a space behind colons.
    """
    known = timeline_catalog()
    _, _, behind = head.partition(b'"ts"')
    text_times = not behind or behind.lstrip(b" \t\r\n:")[:1] == b'"'
    spaced = b'": ' in head[:4096]
    every = known.files[file].writers
    writers = [one for one in every if is_by is None or is_by(one)] or every
    readings = [Reading(one, file, _layers(processes, one, file)) for one in writers]

    def merit(reading: Reading) -> tuple[bool, int, int, int, int, bool]:
        wanted = known.form(reading.writer).types["ts"]
        explained = sum(
            reading.is_flow(shape)
            or any(kind.name.fits(shape.name or "") for kind in reading.candidates(shape))
            for shape in shapes
        )
        alike = int(("string" in wanted) == text_times)
        alike += (known.form(reading.writer).key_separator == ": ") == spaced
        threads_alike = reading.placed(threads), reading.named(threads)
        return explained == len(shapes), alike, explained, *threads_alike, reading.writer in likely

    return max(readings, key=merit)


def _layers(processes: Iterable[Process], writer: str, file: str) -> Mapping[int, Layer]:
    found: dict[int, Layer] = {}
    for pid, name, label in processes:
        layer = timeline_catalog().layer_of(name, label or "", writer)
        if layer is None and file == STEP_TRACE:
            layer = timeline_catalog().layers.get(name)
        if layer is not None:
            found[pid] = layer
    return found
