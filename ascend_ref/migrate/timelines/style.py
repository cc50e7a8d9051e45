"""What one generation of a writer does to each layer of a timeline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ascend_ref.timeline.session import FIRST_FREE_NUMBER
from ascend_spec import timeline_catalog
from ascend_spec.timeline import EventKind, FlowKind, Layer, PidRule, Thread, WriterForm
from ascend_spec.timeline.model import PartForm, Side


@dataclass(frozen=True, slots=True)
class Style:
    """A writer, the engine whose layers of msprof it passes on, and the kind of the file."""

    writer: str
    engine: str
    file: str

    @property
    def form(self) -> WriterForm:
        """How the writer writes."""
        return timeline_catalog().form(self.writer)

    def of(self, layer: Layer) -> str:
        """The writer whose choices the events of a layer follow."""
        return self.writer if layer.part in self.form.parts else self.engine

    def has(self, layer: Layer) -> bool:
        """Whether the file can hold a layer."""
        return self.of(layer) in layer.writers and self.file in layer.files

    def shown(self, layer: Layer) -> tuple[Layer, ...]:
        """The layers in the process of a layer."""
        every = timeline_catalog().layers.values()
        return tuple(
            one for one in every if (one is layer or one.shown_in == layer.name) and self.has(one)
        )

    def kinds(self, layer: Layer) -> tuple[EventKind, ...]:
        """The kinds of events in the process of a layer."""
        return tuple(kind for one in self.shown(layer) for kind in one.events_of(self.of(one)))

    def threads(self, layer: Layer) -> tuple[Thread, ...]:
        """The kinds of threads in the process of a layer."""
        return tuple(
            thread
            for one in self.shown(layer)
            for thread in one.threads_of(self.of(one))
            if not thread.files or self.file in thread.files
        )

    def part(self, layer: Layer) -> PartForm:
        """How the events of a layer are written."""
        return timeline_catalog().form(self.of(layer)).parts[layer.part]

    def pid_rule(self, layer: Layer) -> PidRule:
        """How the pid of a layer is made."""
        return timeline_catalog().pids[layer.pids.get(self.of(layer), self.form.pid)]

    def sort_index(self, layer: Layer) -> int | None:
        """The place of a layer; ``None`` where the writer numbers them as they come."""
        return layer.sort_index.get(self.of(layer))

    @property
    def first_free(self) -> int:
        """The first number of layers that have none of their own."""
        return timeline_catalog().form(self.engine).first_free or FIRST_FREE_NUMBER

    def label(self, side: Side, device: int | None) -> str | None:
        """The label of a process; ``None`` where it is not known, or there is none."""
        form = self.form.labels.get(side)
        if form is None or (device is None and not form.is_fixed):
            return None
        return form.of(deviceId=device)

    def has_flow(self, flow: FlowKind) -> bool:
        """Whether the file can hold an arrow."""
        return flow.id_of(self.of_flow(flow)) is not None

    def of_flow(self, flow: FlowKind) -> str:
        """The writer whose choices an arrow follows."""
        return self.of(timeline_catalog().layers[flow.start.layer])

    def facts(self) -> tuple[Any, ...]:
        """All that decides a text: two styles with the same facts write the same."""
        layers = [one for one in timeline_catalog().layers.values() if self.has(one)]
        flows = [one for one in timeline_catalog().flows.values() if self.has_flow(one)]
        return (
            self.form.labels,
            self.form.types,
            [(one.name, *self._of_layer(one)) for one in layers],
            [(one.flow, *self._ends(one)) for one in flows],
        )

    def _of_layer(self, layer: Layer) -> tuple[Any, ...]:
        style = self.of(layer)
        return (
            layer.process_name(style),
            self.sort_index(layer),
            self.pid_rule(layer).rule,
            layer.metadata.get(style),
            self.part(layer),
            self.threads(layer),
            [
                (kind.kind, kind.keys.get(style), kind.args_of(style), style in kind.bare_ts)
                for kind in self.kinds(layer)
            ],
        )

    def _ends(self, flow: FlowKind) -> tuple[Any, ...]:
        style = self.of_flow(flow)
        return tuple((style in end.bp, end.keys.get(style)) for end in (flow.start, flow.end))
