"""Samples."""

from __future__ import annotations

from collections.abc import Callable

from damaged_profiles import Event, Timeline
from exporter_defects import defect

from .layers import on_layer


def _samples(
    names: str, seen_by: str, argument: str, factor: float
) -> Callable[[Callable[[], None]], None]:
    def register(described: Callable[[], None]) -> None:
        def apply(timeline: Timeline) -> None:
            for event in timeline.layer(names, "C"):
                for name in event["args"]:
                    if argument in name:
                        event["args"][name] *= factor
            timeline.write()

        apply.__doc__ = described.__doc__
        defect("timeline", seen_by, described.__name__.replace("_", "-"))(apply)

    return register


@_samples("AI Core Freq", "no core has such a clock", "MHz", 1_000_000)
def frequency_in_hertz() -> None:
    """Hz are written under a name that says MHz."""


@_samples("LLC", "rates above one hundred", "Hit Rate", 10_000)
def hit_rates_in_percent_of_percent() -> None:
    """Rates are multiplied twice."""


@_samples("NPU MEM", "no device has so much memory", "KB", 1024)
def npu_memory_in_bytes() -> None:
    """Bytes are written under a name that says KB."""


@on_layer("NPU MEM", "the sum of DDR and HBM is not the memory", "C")
def npu_memory_kinds_exchanged(events: list[Event]) -> None:
    """DDR and the sum are written under each other's name."""
    other = {"DDR": "Memory", "Memory": "DDR"}
    for event in events:
        owner, _, kind = event["name"].partition("/")
        event["name"] = f"{owner}/{other.get(kind, kind)}"


@on_layer("HBM", "samples of one counter have one time twice", "C")
def hbm_samples_twice(events: list[Event]) -> list[Event]:
    """The samples are flushed twice."""
    return [*events, *(dict(event) for event in events)]
