"""Times of every layer in another clock or unit, and ways to change its events."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from damaged_profiles import Event, Timeline, later
from exporter_defects import Inapplicable, defect

HOURS_8_US = 8 * 3600 * 1_000_000

LAYERS = {
    "python": "Python",
    "cann": "CANN",
    "hardware": "Ascend Hardware",
    "communication": ("HCCL", "Communication"),
    "overlap": "Overlap Analysis",
    "hbm": "HBM",
    "llc": "LLC",
    "npu-mem": "NPU MEM",
    "qos": "QoS",
    "acc-pmu": "Acc PMU",
    "soc": "Stars Soc Info",
    "freq": "AI Core Freq",
}
"""Layers by a short name."""

COLLECTIVES = LAYERS["communication"]


def _layer(timeline: Timeline, names: str | Sequence[str], phases: str) -> list[Event]:
    wanted = (names,) if isinstance(names, str) else names
    for name in wanted[:-1]:
        try:
            return timeline.layer(name, phases)
        except Inapplicable:
            continue
    return timeline.layer(wanted[-1], phases)


def _register(
    name: str, seen_by: str, names: str | Sequence[str], change: Callable[[Event], object]
) -> None:
    """Register a defect that changes each slice, sample and arrow end of a layer."""

    def apply(timeline: Timeline) -> None:
        for event in _layer(timeline, names, "XCsf"):
            change(event)
        timeline.write()

    apply.__doc__ = change.__doc__
    defect("timeline", seen_by, name)(apply)


def shift(event: Event, by_us: float) -> None:
    event["ts"] = later(event["ts"], by_us)


def _change_text(event: Event, name: str, pattern: str, by: str) -> None:
    event[name] = re.sub(pattern, by, event[name])


def _clocks(label: str, names: str | Sequence[str]) -> None:
    def local(event: Event) -> None:
        """Local time is written as if it were UTC."""
        shift(event, HOURS_8_US)

    def in_ms(event: Event) -> None:
        """Milliseconds are written where us belong."""
        event["ts"] = f"{int(float(event['ts'])) // 1000}.000"

    _register(f"{label}-layer-in-local-time", "it lies hours outside the others", names, local)
    _register(f"{label}-layer-in-ms", "it lies decades outside the others", names, in_ms)


for _label, _names in LAYERS.items():
    _clocks(_label, _names)


def on_layer(
    names: str | Sequence[str], seen_by: str, phases: str = "X"
) -> Callable[[Callable[[list[Event]], object]], None]:
    """Register a defect that changes the events of a layer; what it returns is left of them."""

    def register(change: Callable[[list[Event]], object]) -> None:
        def apply(timeline: Timeline) -> None:
            events = _layer(timeline, names, phases)
            left = change(events)
            if isinstance(left, list):
                replace_events(timeline, events, left)
            timeline.write()

        apply.__doc__ = change.__doc__
        defect("timeline", seen_by, change.__name__.strip("_").replace("_", "-"))(apply)

    return register


def replace_events(timeline: Timeline, events: Iterable[Event], left: Iterable[Event]) -> None:
    """Keep of these events only what is left, and append what is new."""
    gone = {id(one) for one in events}
    kept = {id(one) for one in left}
    new = [one for one in left if id(one) not in gone]
    timeline.all[:] = [one for one in timeline.all if id(one) not in gone or id(one) in kept] + new


def next_values(events: Sequence[Event], *path: str) -> None:
    """Each event gets the value of the next."""
    holders = [event for event in events for _ in (0,) if _holds(event, path)]
    values = [_inside(event, path)[path[-1]] for event in holders]
    if len(set(map(str, values))) < 2:
        raise Inapplicable
    for event, value in zip(holders, [*values[1:], values[0]], strict=True):
        _inside(event, path)[path[-1]] = value


def _inside(event: Event, path: Sequence[str]) -> Event:
    for name in path[:-1]:
        event = event[name]
    return event


def _holds(event: Event, path: Sequence[str]) -> bool:
    for name in path[:-1]:
        event = event.get(name, {})
    return path[-1] in event
