"""Timelines with one fault each: what readers of timelines go wrong on, and random ones.

The slices of most have names of their own, so that what a reader made of each can be told.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import Any

Event = dict[str, Any]
Edit = Callable[[list[Event]], None]

EPOCH = 1_736_408_883_000_000
"""us of a day on which doubles lie 0.25 us apart."""


def base(slices: int = 60, seed: int = 0) -> list[Event]:
    """Two threads of a host and a stream of a device, with arrows from each call to its task.

    Tasks touch, by the nanosecond, and calls are nested.
    """
    draw = random.Random(seed)
    events: list[Event] = [
        {"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": name}}
        for pid, name in ((7, "Python"), (9, "Ascend Hardware"))
    ]
    host, device = 1_000, 50_000
    for number in range(slices // 3):
        took = draw.randrange(800, 4_000)
        events += [
            _slice(f"call {number}", 7, 70 + number % 2, host, took),
            _slice(f"launch {number}", 7, 70 + number % 2, host + 100, took - 200),
            _slice(f"task {number}", 9, 3, device, length := draw.randrange(60, 3_000)),
            _end("s", number + 1, 7, 70 + number % 2, host + 100),
            _end("f", number + 1, 9, 3, device),
        ]
        host += took + draw.randrange(1, 900)
        device += length + draw.choice((0, 0, 1, 500))
    return events


def _slice(name: str, pid: int, tid: int, begin: int, length: int) -> Event:
    return {
        "ph": "X",
        "name": name,
        "pid": pid,
        "tid": tid,
        "ts": _text(begin),
        "dur": length / 1000,
        "cat": "op",
        "args": {},
    }


def _end(phase: str, number: int | str, pid: int, tid: int, at: int) -> Event:
    return {
        "ph": phase,
        "bp": "e",
        "name": "launch",
        "cat": "async_npu",
        "id": number,
        "pid": pid,
        "tid": tid,
        "ts": _text(at),
    }


def _text(ns: int) -> str:
    """ns after the epoch as the adapter writes it."""
    whole = EPOCH * 1000 + ns
    return f"{whole // 1000}.{whole % 1000:03}"


def instant(event: Event) -> int:
    """ns of an event, exactly."""
    whole, _, fraction = str(event["ts"]).partition(".")
    return int(whole) * 1000 + int(fraction.ljust(3, "0")[:3] or 0)


def _slices(events: list[Event]) -> list[Event]:
    return [event for event in events if event["ph"] == "X"]


def _ends(events: list[Event], phases: str = "sf") -> list[Event]:
    return [event for event in events if event["ph"] in phases]


def _overlap(count: int, by: int = 100) -> Edit:
    """So many tasks that begin inside the one before, and end behind it."""

    def edit(events: list[Event]) -> None:
        tasks = [event for event in _slices(events) if event["pid"] == 9]
        for one, other in list(pairwise(tasks))[: 2 * count : 2]:
            end = instant(one) + round(one["dur"] * 1000)
            other["dur"] = (instant(other) - (end - by)) / 1000 + other["dur"]
            other["ts"] = _text(end - by - EPOCH * 1000)

    return edit


def _change(phases: str, every: int = 1, /, **keys: Any) -> Edit:
    """Keys of every so manieth event of some phases; ``None`` takes the key away."""

    def edit(events: list[Event]) -> None:
        for place, event in enumerate([one for one in events if one["ph"] in phases]):
            if place % every == 0:
                for key, value in keys.items():
                    if value is None:
                        event.pop(key, None)
                    else:
                        event[key] = value(event) if callable(value) else value

    return edit


def _without(phase: str) -> Edit:
    def edit(events: list[Event]) -> None:
        events[:] = [event for event in events if event["ph"] != phase]

    return edit


def _deep(events: list[Event]) -> None:
    events += [_slice(f"deep {at}", 11, 5, at * 10, 20_000 - 20 * at) for at in range(600)]


def _instants(events: list[Event]) -> None:
    for at, event in enumerate(_slices(events)[:12]):
        begin = instant(event) - EPOCH * 1000
        end = begin + round(event["dur"] * 1000)
        events += [
            _slice(f"instant {at} {place}", event["pid"], event["tid"], place, 0)
            for place in (begin, end, end, begin + 10)
        ]


def _twice(events: list[Event]) -> None:
    events += [{**event, "name": f"{event['name']} again"} for event in _slices(events)[::4]]


def _another_process(events: list[Event]) -> None:
    """A second profile whose processes have the same numbers."""
    events += [
        {**event, "name": f"other {event['name']}"} for event in base(30, 5) if event["ph"] == "X"
    ]


def _main_thread(events: list[Event]) -> None:
    for place, event in enumerate(_slices(events)):
        if event["pid"] == 7:
            event["tid"] = 7 if place % 2 else 0


def _shifted(events: list[Event]) -> None:
    for event in _ends(events, "f"):
        event["ts"] = _text(instant(event) - EPOCH * 1000 + 40)


def _before(events: list[Event]) -> None:
    for event in _ends(events, "s")[::2]:
        event["ts"] = _text(900_000)


def _outside(events: list[Event]) -> None:
    for event in _ends(events, "s")[::3]:
        event["tid"] = 99


def _ids(make: Callable[[int], Any]) -> Edit:
    def edit(events: list[Event]) -> None:
        for event in _ends(events):
            event["id"] = make(event["id"])

    return edit


FITTED: Mapping[str, Edit] = {
    "as it is": lambda events: None,
    "an overlap": _overlap(1),
    "overlaps": _overlap(4),
    "short overlaps": _overlap(5, 3),
    "negative lengths": _change("X", 5, dur=-1.5),
    "no lengths": _change("X", 7, dur=None),
    "no times": _change("X", 6, ts=None),
    "times that are none": _change("X", 6, ts="soon"),
    "a length that is none": _change("X", 11, dur="long"),
    "a length that is null": _change("X", 17, dur=lambda _: None),
    "lengths as texts": _change("X", dur=lambda event: str(event["dur"])),
    "large processes": _change("X", 2, pid=lambda event: event["pid"] + 2**32),
    "negative processes": _change("X", pid=lambda event: -event["pid"]),
    "large threads": _change("Xsf", tid=lambda event: event["tid"] + 2**40),
    "no threads": _change("X", 3, tid=None),
    "thread 0": _main_thread,
    "times before 0": _change("X", 9, ts="-5.000"),
    "instants": _instants,
    "deep": _deep,
    "hexadecimal ids": _ids(lambda number: f"0x{number:x}"),
    "ids that are words": _ids(lambda number: f"launch {number}"),
    "some ids that are words": _change("sf", 3, id="none_7"),
    "ids of 20 digits": _ids(lambda number: f"{40_004_068_119_343_529_000 + number}"),
    "ids from 2^63": _ids(lambda number: 2**63 + number),
    "ids above 2^53": _ids(lambda number: 2**60 + number),
}
"""The variants that the contracts and their code were fitted to."""

HELD_BACK: Mapping[str, Edit] = {
    "twice": _twice,
    "another process": _another_process,
    "all ids the same": _change("sf", id=8),
    "no starts": _without("s"),
    "no ends": _without("f"),
    "ends before starts": _before,
    "ends outside slices": _outside,
    "ends behind the start": _shifted,
    "ends that wait": _change("f", 2, bp=None),
    "no categories": _change("Xsf", cat=None),
    "categories of one end": _change("f", 4, cat="other"),
    "names of one end": _change("f", 4, name="other"),
    "times as numbers": _change("Xsf", ts=lambda event: float(event["ts"])),
    "times in whole us": _change("Xsf", ts=lambda event: int(event["ts"].split(".")[0])),
    "lengths of 0": _change("X", 4, dur=0),
    "whole lengths": _change("X", dur=lambda event: round(event["dur"]) + 1),
    "long lengths": _change("X", 5, dur=1e6),
    "times from 0": _change(
        "Xsf", ts=lambda event: f"{(instant(event) - EPOCH * 1000) / 1000:.3f}"
    ),
    "starts twice": _change("f", 5, ph="s"),
}
"""Variants that nothing was fitted to."""

TEXTS: Mapping[str, Callable[[str], str]] = {
    "cut in an event": lambda text: text[:-40],
    "cut between events": lambda text: text[: text.rindex("{")],
    "no bracket at the end": lambda text: text[:-1],
    "a word": lambda text: text.replace('"bp"', "bp", 1),
    "a comma at the end": lambda text: f"{text[:-1]},]",
    "something behind": lambda text: f"{text}\nend",
    "a byte order mark": lambda text: f"\ufeff{text}",
    "an object": lambda text: f'{{"displayTimeUnit": "ns", "traceEvents": {text}}}',
    "an empty list": lambda text: "[]",
    "NaN": lambda text: text.replace('"dur": ', '"dur": NaN, "was": ', 1),
}
"""Changes of the text; ``fitted`` as well."""


def drawn(seed: int) -> list[Event]:
    """A random timeline in 100 us, whose slices cross, nest and touch as they come."""
    draw = random.Random(seed)
    grid = draw.choice((1, 50, 128, 256, 1000))
    events = [
        _slice(
            f"slice {number}",
            7,
            70 + draw.randrange(3),
            grid * draw.randrange(100_000 // grid),
            grid * draw.randrange(20_000 // grid + 1),
        )
        for number in range(120)
    ]
    for number in range(60):
        events += [
            _end(phase, draw.randrange(40), 7, 70 + draw.randrange(3), draw.randrange(100_000))
            for phase in ("s", draw.choice("ft" if number > 55 else "f"))
        ]
    draw.shuffle(events)
    return [event for event in events if event["ph"] != "t"]


def variants() -> Iterator[tuple[str, str]]:
    """Every variant by its name, as the text of a file."""
    for name, edit in {**FITTED, **HELD_BACK}.items():
        events = base()
        edit(events)
        yield name, json.dumps(events)
    for name, change in TEXTS.items():
        yield name, change(json.dumps(base()))
    for seed in range(8):
        yield f"drawn {seed}", json.dumps(drawn(seed))
