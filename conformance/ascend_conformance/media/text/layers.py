"""Which layer a process is, of which kind an event, and who wrote a timeline."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ascend_spec import per_spec, timeline_catalog
from ascend_spec.core.bounds import allows
from ascend_spec.timeline import Arg, EventKind, Layer

STEP_TRACE = "step_trace_json"
"""The file in which a layer that is shown in another one stands alone."""

FLOWS = ("s", "t", "f")
"""Phases of the points of an arrow."""


@dataclass(frozen=True, slots=True)
class Process:
    """A process of a timeline as its metadata describe it."""

    pid: int
    name: str | None
    label: str | None
    sort_index: int | None = None


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
class Spelling:
    """How the first events are spelled: times as texts, and a space behind colons."""

    text_times: bool
    spaced: bool


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
    processes: Iterable[Process],
    shapes: Sequence[Shape],
    spelling: Spelling,
    likely: Sequence[str] = (),
) -> Reading:
    """The reading that explains most events of a file; ``likely`` writers win where several do."""
    known = timeline_catalog()
    processes = tuple(processes)
    writers = known.files[file].writers
    readings = [Reading(one, file, _layers(processes, one, file)) for one in writers]

    def merit(reading: Reading) -> tuple[int, int, bool]:
        wanted = known.form(reading.writer).types["ts"]
        explained = sum(
            bool(reading.is_flow(shape) or _explains(reading, shape)) for shape in shapes
        )
        alike = int(("string" in wanted) == spelling.text_times)
        alike += (known.form(reading.writer).key_separator == ": ") == spelling.spaced
        return alike, explained, reading.writer in likely

    return max(readings, key=merit)


def _explains(reading: Reading, shape: Shape) -> bool:
    return any(kind.name.fits(shape.name or "") for kind in reading.candidates(shape))


def _layers(processes: Iterable[Process], writer: str, file: str) -> Mapping[int, Layer]:
    found: dict[int, Layer] = {}
    for process in processes:
        if process.name is None:
            continue
        layer = timeline_catalog().layer_of(process.name, process.label or "", writer)
        if layer is None and file == STEP_TRACE:
            layer = timeline_catalog().layers.get(process.name)
        if layer is not None:
            found[process.pid] = layer
    return found


@dataclass(frozen=True, slots=True)
class ArgColumn:
    """An arg of a layer as a column: what the spec says of it for each kind of event."""

    name: str
    type: str
    args: tuple[tuple[str, Arg], ...]


@per_spec
def arg_columns(slug: str) -> tuple[ArgColumn, ...]:
    """The args of a layer that have fixed names, over all writers, in the order of the spec.

    Their SQL type is BIGINT or DOUBLE where every writer gives a number, else VARCHAR.
    """
    layer = layer_of_slug(slug)
    found: dict[str, list[tuple[str, Arg]]] = {}
    for kind in layer.events:
        for arg in kind.args:
            if arg.name.is_fixed:
                found.setdefault(arg.name.template, []).append((kind.kind, arg))
    return tuple(
        ArgColumn(name, _sql_type(arg for _, arg in args), tuple(args))
        for name, args in found.items()
    )


class _Layers:
    """Holds every layer; arrows are none."""

    def __contains__(self, name: object) -> bool:
        return name != "arrow"


ALL_LAYERS = _Layers()
"""For :func:`.loadtrace.describe`: every layer becomes a table."""


@per_spec
def layer_of_slug(slug: str) -> Layer:
    """A layer by its slug."""
    return next(layer for layer in timeline_catalog().layers.values() if layer.slug == slug)


def _sql_type(args: Iterable[Arg]) -> str:
    types = {one for arg in args for one in arg.json} - {"null"}
    if types == {"integer"}:
        return "BIGINT"
    return "DOUBLE" if types <= {"integer", "number"} else "VARCHAR"
