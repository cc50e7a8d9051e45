"""The timeline of the kernel."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from damaged_profiles import Bin
from exporter_defects import defect

from .payloads import INSTRUCTIONS, TRACE


def _events(value: Any, phases: str = "X") -> list[Any]:
    found = [event for event in value["traceEvents"] if event["ph"] in phases]
    if not found:
        raise KeyError(phases)
    return found


@defect("bin", "the timeline must be an object")
def timeline_as_a_list(bin_: Bin) -> None:
    """The list of events is written without the object around it."""
    bin_.write(
        [
            replace(one, payload=json.dumps(json.loads(bytes(one.payload))["traceEvents"]).encode())
            if one.type == TRACE
            else one
            for one in bin_.blocks()
        ]
    )


@defect("bin", "cycles and durations give no clock")
def timeline_in_ns(bin_: Bin) -> None:
    """ns are written for us."""

    def change(value: Any) -> None:
        for event in _events(value, "XBEst"):
            for key in ("ts", "dur"):
                if key in event:
                    event[key] *= 1000

    bin_.each(TRACE, change)


@defect("bin", "the viewer ignores such phases")
def flows_end_in_another_phase(bin_: Bin) -> None:
    """Flows end in f instead of t."""

    def change(value: Any) -> None:
        for event in _events(value, "t"):
            event["ph"] = "f"

    bin_.each(TRACE, change)


@defect("bin", "a flow has the id of no pair")
def flow_ids_off_by_one(bin_: Bin) -> None:
    """Flows are counted from another number."""

    def change(value: Any) -> None:
        for event in _events(value, "st"):
            core, _, number = event["id"].rpartition("_")
            event["id"] = f"{core}_{int(number) + 100000}"

    bin_.each(TRACE, change)


@defect("bin", "a pair ends before it begins")
def begins_and_ends_exchanged(bin_: Bin) -> None:
    """Phases B and E are exchanged."""

    def change(value: Any) -> None:
        for event in _events(value, "BE"):
            event["ph"] = {"B": "E", "E": "B"}[event["ph"]]

    bin_.each(TRACE, change)


@defect("bin", "a begin has no end")
def ends_of_pairs_lost(bin_: Bin) -> None:
    """Ends are not written."""

    def change(value: Any) -> None:
        _events(value, "E")
        value["traceEvents"] = [one for one in value["traceEvents"] if one["ph"] != "E"]

    bin_.each(TRACE, change)


@defect("bin", "the instruction list has no such address")
def addresses_of_events_in_decimal(bin_: Bin) -> None:
    """Addresses are decimal."""

    def change(value: Any) -> None:
        for event in _events(value):
            if "pc_addr" in event.get("args", {}):
                event["args"]["pc_addr"] = str(int(event["args"]["pc_addr"], 16))

    bin_.each(TRACE, change)


@defect("bin", "the instruction list has no such core")
def lanes_of_other_cores(bin_: Bin) -> None:
    """Cores are counted from 1 in the timeline."""

    def change(value: Any) -> None:
        for event in value["traceEvents"]:
            for key in ("pid", "tid"):
                name = event[key]
                if isinstance(name, str) and name.startswith("core"):
                    number, dot, rest = name[4:].partition(".")
                    event[key] = f"core{int(number) + 10}{dot}{rest}"

    bin_.need(INSTRUCTIONS)
    bin_.each(TRACE, change)


@defect("bin", "an event must have a lane")
def events_without_lane(bin_: Bin) -> None:
    """The lane of events is not written."""

    def change(value: Any) -> None:
        for event in _events(value):
            del event["tid"]

    bin_.each(TRACE, change)


@defect("bin", "instructions of one lane overlap")
def durations_hold_the_end(bin_: Bin) -> None:
    """The end is written where the length belongs."""

    def change(value: Any) -> None:
        for event in _events(value):
            event["dur"] += event["ts"]

    bin_.each(TRACE, change)


@defect("bin", "instructions ran in the timeline and none of the time is in the list")
def times_start_at_the_clock(bin_: Bin) -> None:
    """Times do not start at 0 but are those of the machine."""

    def change(value: Any) -> None:
        for event in _events(value, "XBEst"):
            event["ts"] = -event["ts"] - 1.0

    bin_.each(TRACE, change)
