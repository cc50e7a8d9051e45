"""The real timelines, with the layer and the kind of each event by the spec."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from ascend_spec import timeline_catalog
from ascend_spec.timeline import EventKind, FlowKind, Layer

DATA = Path(__file__).parents[2] / ".." / "shared" / "data"
ADAPTER = DATA / "text" / "pytorch_level1_rank0"
LEGACY = DATA / "text" / "mindspore_legacy"

Event = dict[str, Any]


@dataclass(frozen=True)
class Timeline:
    """One real file, its kind and its writer."""

    path: Path
    file: str
    writer: str

    @cached_property
    def text(self) -> str:
        if not self.path.is_file():
            pytest.skip(f"needs the real timeline {self.path.name} of ../shared/data")
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def events(self) -> list[Event]:
        events: list[Event] = json.loads(self.text)
        return events

    @cached_property
    def layers(self) -> Mapping[int, Layer]:
        """The layers by pid."""
        told: dict[int, dict[str, str]] = {}
        for event in self.events:
            if event["name"] in ("process_name", "process_labels"):
                told.setdefault(event["pid"], {})[event["name"]] = next(
                    iter(event["args"].values())
                )
        return dict(self._layers(told))

    def _layers(self, told: Mapping[int, Mapping[str, str]]) -> Iterator[tuple[int, Layer]]:
        facts = timeline_catalog()
        for pid, names in told.items():
            told_by = (names["process_name"], names.get("process_labels", ""), self.writer)
            layer = facts.layer_of(*told_by) or facts.layers[names["process_name"]]
            yield pid, layer

    def kinds_of(self, event: Event) -> tuple[EventKind, ...]:
        return timeline_catalog().kinds(
            self.layers[event["pid"]],
            event["ph"],
            event["name"],
            event.get("cat"),
            tuple(event.get("args", ())),
            self.writer,
            self.file,
        )

    def flows_of(self, event: Event) -> tuple[FlowKind, ...]:
        """The kinds of arrows that a point can be of, by its category and layer."""
        layer = self.layers[event["pid"]].name
        return tuple(
            flow
            for flow in timeline_catalog().flows_of(self.writer)
            if flow.cat == event.get("cat")
            and flow.name.fits(event["name"])
            and layer in {"s": flow.start, "f": flow.end}[event["ph"]].at
        )


TRACE_VIEW = Timeline(
    ADAPTER / "ASCEND_PROFILER_OUTPUT" / "trace_view.json", "trace_view", "adapter-2025-01"
)
MSPROF = Timeline(LEGACY / "msprof_0_2_1.json", "timeline", "python-2023")
STEP_TRACE = Timeline(LEGACY / "step_trace_0_2_1.json", "step_trace_json", "python-2023")
TIMELINES = (TRACE_VIEW, MSPROF, STEP_TRACE)
