"""What the layers of one timeline share: the recording, the writer's spec, pids and texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

import pyarrow as pa

from ascend_ref.arrays import one_piece
from ascend_ref.recorded import Recorded
from ascend_ref.recorded.model import USUAL_FAMILY
from ascend_spec import text_catalog, timeline_catalog
from ascend_spec.timeline import (
    FlowId,
    FlowKind,
    Layer,
    Thread,
    TimelineCatalog,
    WriterForm,
)

from .activity import Activity
from .communication import Communication
from .device_work import Calls, DeviceWork
from .events import HOST, Metadata
from .filling import Filling
from .lookup import filled
from .notation import Notation

FIRST_FREE_NUMBER = 20
"""From here the Python engine numbers the layers that have no fixed place (text-outputs.md 5.2)."""
CURRENT_ADAPTER = "adapter"
"""The writer of the spec that names the engine for a family of products."""
ONE = {"one": 1}
"""A quantity of pids that are the same everywhere."""
WHOLE = ("timeline", "trace_view")
"""Files that hold all layers."""


def engine_of(family: str | None) -> str:
    """The engine of msprof that writes the timeline of a family of products today."""
    return text_catalog().writers[CURRENT_ADAPTER].copied(family or USUAL_FAMILY)


class Session:
    """A recording on its way into one file.

    writer: of the file. file: its kind (spec: timeline/files.yaml). Raises ``ValueError``
    naming the known writers for one that does not write such files.
    """

    def __init__(self, recorded: Recorded, writer: str, file: str) -> None:
        self.recorded = recorded
        self.spill = recorded.spill
        self.spec: TimelineCatalog = timeline_catalog()
        known = self.spec.files[file].writers
        if writer not in known:
            raise ValueError(f"writer: {writer!r}; expected one of {', '.join(known)}")
        self.writer = writer
        self.file = file
        self.form: WriterForm = self.spec.form(writer)
        engines = self.form.engines
        self.engine = engines[0] if len(engines) == 1 else engine_of(recorded.origin.family)
        self.notation = Notation(
            self.form.item_separator, self.form.key_separator, self.form.escapes_unicode
        )
        self.os_pid = recorded.origin.pid
        self.devices = recorded.origin.devices
        self._numbers: dict[str, int] = {}

    @property
    def device(self) -> int:
        """The device of rows that name none, as those of older databases."""
        return self.devices[0] if self.devices else 0

    def style_of(self, layer: Layer) -> str:
        """The writer whose choices the events of a layer follow."""
        return self.writer if layer.part in self.form.parts else self.engine

    def layer(self, name: str) -> Layer | None:
        """A layer by its newest name; ``None`` where this writer has it in no such file."""
        layer = self.spec.layers[name]
        there = self.style_of(layer) in layer.writers and self.file in layer.files
        return layer if there else None

    def shows(self, levels: tuple[int, ...]) -> bool:
        """Whether events of these levels are written.

        Only the adapter takes away what its level 0 should not show.
        """
        return not self.form.pruned or self.recorded.switches.level in levels

    def flow(self, name: str) -> FlowKind | None:
        """A kind of flow by its id; ``None`` where this writer has none."""
        flow = self.spec.flows[name]
        return flow if flow.id_of(self._style_of_flow(flow)) is not None else None

    def flow_id(self, flow: FlowKind) -> FlowId:
        """How ids of a flow that the writer has are made."""
        form = flow.id_of(self._style_of_flow(flow))
        if form is None:
            raise KeyError(f"{flow.flow}: {self.writer} has no such flow")
        return form

    def _style_of_flow(self, flow: FlowKind) -> str:
        return self.style_of(self.spec.layers[flow.start.layer])

    def pid(self, layer: Layer, device: int, unit: int = 0) -> int:
        """The pid of a layer; HOST for a layer of the host. unit: of several on a device."""
        if layer.shown_in is not None and self.file in WHOLE:
            layer = self.spec.layers[layer.shown_in]
        style = self.style_of(layer)
        rule = self.spec.pids[layer.pids.get(style, self.form.pid)]
        quantities = {
            "osPid": self.os_pid,
            "sortIndex": self.sort_index(layer),
            "unitPid": unit,
        } | ONE
        if device != HOST:
            quantities["deviceId"] = device
        elif rule.host_device is None:
            quantities["deviceId"] = self.device
        return rule.pid(**quantities)

    def sort_index(self, layer: Layer) -> int:
        """The place of a layer; one without a fixed place gets the next free number."""
        fixed = layer.sort_index.get(self.style_of(layer))
        if fixed is not None:
            return fixed
        first = self.spec.form(self.engine).first_free or FIRST_FREE_NUMBER
        return self._numbers.setdefault(layer.name, first + len(self._numbers))

    def process(
        self, layer: Layer, device: int = HOST, unit: int = 0, **parts: object
    ) -> Iterator[Metadata]:
        """The metadata of a process. parts: the changing parts of its name."""
        style = self.style_of(layer)
        name = layer.process_name(style) if layer.form is None else layer.form.of(**parts)
        label = self.form.labels[layer.side].of(deviceId=device)
        index = self.sort_index(layer)
        of_msprof = self.file in WHOLE and layer.part == "msprof"
        stated = None if of_msprof else layer.metadata.get(style)
        for event, arg, value in (
            ("process_name", "name", name),
            ("process_labels", "labels", label),
            ("process_sort_index", "sort_index", index),
        ):
            if stated is None or event in stated:
                yield Metadata(layer, event, arg, value, device, unit=unit)

    def thread(
        self, layer: Layer, name: str, device: int = HOST, unit: int = 0, **quantities: int | str
    ) -> Iterator[Metadata]:
        """The metadata of a thread. quantities: what its name and its numbers are made of."""
        thread = self.thread_kind(layer, name)
        if thread is None:
            return
        tid = total(thread.tid, quantities)
        if thread.name is not None:
            title = thread.name.of(**quantities)
            yield Metadata(layer, "thread_name", "name", title, device, tid, unit)
        if thread.sort_index is not None:
            index = total(thread.sort_index, quantities)
            yield Metadata(layer, "thread_sort_index", "sort_index", index, device, tid, unit)

    def thread_kind(self, layer: Layer, name: str) -> Thread | None:
        """A kind of thread of a layer, as the writer has it in this file."""
        for thread in layer.threads_of(self.style_of(layer)):
            if thread.thread == name and (not thread.files or self.file in thread.files):
                return thread
        return None

    def texts(self, table: pa.Table, name: str, missing: str | None = "") -> pa.DictionaryArray:
        """A text column as JSON without quotes; ``missing`` where it is NULL, None: NULL."""
        column = one_piece(table[name])
        if missing is not None and column.null_count:
            column = filled(column, missing)
        return self.notation.strings(column)

    @cached_property
    def filling(self) -> Filling:
        """Fills events from the rows that they show."""
        return Filling(self.recorded, self.notation, self.device)

    @cached_property
    def kernels(self) -> pa.Table:
        """COMPUTE_TASK_INFO, as far as others than :attr:`filling` look at it."""
        return self.recorded.table("COMPUTE_TASK_INFO", ("globalTaskId", "name", "taskType"))

    @cached_property
    def calls(self) -> Calls:
        """The calls of CANN."""
        return Calls(self.recorded)

    @cached_property
    def work(self) -> DeviceWork:
        """What ran on the devices."""
        return DeviceWork(self.recorded, self.kernels, self.calls, self.device)

    @cached_property
    def communication(self) -> Communication:
        """The communication operators."""
        return Communication(self.recorded, self.work, self.device)

    @cached_property
    def activity(self) -> Activity:
        """What the framework did."""
        return Activity(self.recorded)


def total(parts: tuple[int | str, ...], quantities: Mapping[str, int | str]) -> int:
    """A tid or a sort index from the quantities that it is the sum of."""
    return sum(one if isinstance(one, int) else int(quantities.get(one, one)) for one in parts)
