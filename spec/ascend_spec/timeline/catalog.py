"""The timelines in memory: load once, then ask what a writer makes of a layer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from ascend_spec.core import Loader
from ascend_spec.core.bounds import allows

from . import loader
from .model import (
    EventKey,
    EventKind,
    FlowKind,
    Layer,
    MetadataEvent,
    PidRule,
    Thread,
    TimelineFile,
    WriterForm,
)

LABEL = "process_labels"
"""The event that states where a layer is."""


class TimelineCatalog:
    """Every fact about the timelines, all writers together; ``Spec.timeline`` is the loaded one.

    A writer is named by its id; ``KeyError`` naming the known ones for any other.
    """

    def __init__(self, documents: Loader) -> None:
        self.documents = documents

    @cached_property
    def layers(self) -> Mapping[str, Layer]:
        """Layers by their newest process_name."""
        return loader.load_layers(self.documents)

    @cached_property
    def flows(self) -> Mapping[str, FlowKind]:
        """Kinds of arrows by id."""
        return loader.load_named(self.documents, "flows.yaml", "flow", FlowKind, "name")

    @cached_property
    def forms(self) -> Mapping[str, WriterForm]:
        """How each writer writes, by its id: spacing, order of keys, types, labels."""
        return loader.load_named(self.documents, "forms.yaml", "writer", WriterForm, "labels")

    @cached_property
    def pids(self) -> Mapping[str, PidRule]:
        """Rules of the pid by id."""
        return loader.load_named(self.documents, "pids.yaml", "rule", PidRule)

    @cached_property
    def files(self) -> Mapping[str, TimelineFile]:
        """Files that hold a timeline, by id."""
        names = "name", "sliced"
        return loader.load_named(self.documents, "files.yaml", "file", TimelineFile, *names)

    @cached_property
    def keys(self) -> Mapping[str, EventKey]:
        """Keys of an event by name; what viewers compute stands under the empty text."""
        return loader.load_named(self.documents, "keys.yaml", "key", EventKey)

    @cached_property
    def metadata(self) -> Mapping[str, MetadataEvent]:
        """Events of phase M by name."""
        return loader.load_named(self.documents, "metadata.yaml", "name", MetadataEvent)

    def form(self, writer: str) -> WriterForm:
        """How a writer writes."""
        if writer not in self.forms:
            raise KeyError(f"no writer {writer!r} of timelines; known: {', '.join(self.forms)}")
        return self.forms[writer]

    def layer_of(self, process_name: str, label: str, writer: str) -> Layer | None:
        """The layer of a process in the whole timeline of a writer, by its name and its label.

        Any name of a host process that is no other layer is that of a program with marks.
        """
        labels = self.form(writer).labels
        fitting = [
            layer
            for layer in self.layers_of(writer)
            if layer.shown_in is None
            and (
                (layer.side in labels and labels[layer.side].fits(label))
                or (layer.part == "framework" and LABEL not in layer.metadata.get(writer, (LABEL,)))
            )
            and any(
                layer.form.fits(process_name)
                if layer.form is not None
                else layer.process_name(one) == process_name
                for one in self.engines(writer, layer)
            )
        ]
        fitting.sort(key=lambda layer: layer.form is not None and len(layer.form.template))
        return fitting[0] if fitting else None

    def engines(self, writer: str, layer: Layer) -> tuple[str, ...]:
        """Whose facts hold for a layer in the file of a writer: its own, or where it passes the
        layers of msprof on, those of the engines that it reads.
        """
        form = self.form(writer)
        return (writer,) if layer.part in form.parts else form.engines

    def layers_of(self, writer: str, file: str | None = None) -> tuple[Layer, ...]:
        """The layers that a writer may write, into one kind of file or into any."""
        return tuple(
            layer
            for layer in self.layers.values()
            if any(one in layer.writers for one in self.engines(writer, layer))
            and (file is None or file in layer.files)
        )

    def events(self, layer: Layer, writer: str, file: str | None = None) -> tuple[EventKind, ...]:
        """The kinds of events in the process of a layer, in one kind of file or in any; those of
        layers shown in it are among them.
        """
        shown = self._shown(layer, file)
        engines = self.engines(writer, layer)
        return tuple(
            kind
            for one in shown
            for kind in one.events
            if any(engine in one.writers and allows(kind.writers, engine) for engine in engines)
        )

    def kinds(
        self,
        layer: Layer,
        phase: str,
        name: str,
        cat: str | None,
        args: Sequence[str],
        writer: str,
        file: str | None = None,
    ) -> tuple[EventKind, ...]:
        """The kinds that an event in the process of a layer can be of: one, in a sound file.

        ``args`` are the keys of its args. A kind that yields to another one that fits is left out.
        """
        engines = self.engines(writer, layer)
        fitting = [
            kind
            for kind in self.events(layer, writer, file)
            if kind.phase == phase and any(kind.fits(name, cat, args, one) for one in engines)
        ]
        names = {kind.kind for kind in fitting}
        return tuple(kind for kind in fitting if not names.intersection(kind.yields_to))

    def threads(self, layer: Layer, writer: str, file: str | None = None) -> tuple[Thread, ...]:
        """The kinds of threads in the process of a layer, as :meth:`events` gives the events."""
        shown = self._shown(layer, file)
        engines = self.engines(writer, layer)
        return tuple(
            thread
            for one in shown
            for thread in one.threads
            if any(allows(thread.writers, engine) for engine in engines)
            and (file is None or not thread.files or file in thread.files)
        )

    def _shown(self, layer: Layer, file: str | None) -> tuple[Layer, ...]:
        """The layers in the process of a layer in a kind of file."""
        return tuple(
            one
            for one in self.layers.values()
            if (one is layer or one.shown_in == layer.name) and (file is None or file in one.files)
        )

    def pid_rule(self, layer: Layer, engine: str) -> PidRule:
        """How the pid of a layer is made; ``engine`` is one of :meth:`engines`."""
        return self.pids[layer.pids.get(engine, self.form(engine).pid)]

    def flows_of(self, writer: str) -> tuple[FlowKind, ...]:
        """The kinds of arrows in the file of a writer, the engines' own included."""
        whose = {writer, *self.form(writer).engines}
        return tuple(
            flow
            for flow in self.flows.values()
            if any(whose.intersection(one.writers) for one in flow.ids)
        )
