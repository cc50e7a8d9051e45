"""The clock of the AI cores and the voltages, each from one change to the next.

One writer shows what holds again and again until it changes.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ascend_ref.arrays import integers, is_one_of, reals
from ascend_ref.capture.batch import Integers, Reals
from ascend_spec import catalog, text_catalog

from ..events import Events, Item
from ..lookup import distinct
from ..notation import reals as real_texts
from ..notation import wholes
from ..rows import Fragment
from ..session import Session
from .counters import Samples, opened, processes

CLOCK, VOLTAGES = "AI Core Freq", "Voltage Info"
RATED = "rated-clock"
"""The row of the matrix of products where changes of the clock are not recorded."""
RECORD = "voltage"
"""The extra of a recording."""
NO_DIE = -1

REPEATING = "python"
"""The writer that shows a clock again and again until it changes, as older ones of its kind do
(text-outputs.md 6)."""
REPEAT_NS = 1_000_000
"""How often they do."""
LARGEST_WHOLE = 1 << 53
"""Floats below it that have no fraction are integers of the same digits."""
SAMPLES_AT_ONCE = 1 << 16
MOST_SAMPLES = 1 << 24
"""With repetitions: those of 4 hours. A recording that seems to last longer has wrong times, and
repeating would never end.
"""


def clock(session: Session) -> Iterator[Item]:
    """The clock of the AI cores, in order of time."""
    samples = opened(session, CLOCK)
    if samples is None:
        yield from _rated_clock(session)
        return
    yield from processes(samples)
    yield from _recorded_clock(samples)


def voltages(session: Session) -> Iterator[Item]:
    """The voltages, one supply after the other."""
    layer, table = session.layer(VOLTAGES), session.recorded.extras.get(RECORD)
    if layer is None or table is None:
        return
    device, time = integers(table["device"], 0), integers(table["time"])
    value = integers(table["millivolts"], 0)
    for (home,) in zip(*(one.tolist() for one in distinct(device)), strict=True):
        yield from session.process(layer, home)
        for kind in layer.events:
            own = is_one_of(table["supply"], [kind.name.template]) & (device == home)
            rows = np.flatnonzero(own)
            rows = rows[np.argsort(time[rows], kind="stable")]
            for start, shown in steady(time[rows], repeats(session)):
                args = {"mV": wholes(value[rows[shown]])}
                yield Events(layer, kind, start, home, args=args)


def _rated_clock(session: Session) -> Iterator[Item]:
    """The clock that the device has by its description, at both ends of the session."""
    layer, origin = session.layer(CLOCK), session.recorded.origin
    facts, family = origin.facts, origin.family
    if layer is None or facts is None or not session.recorded.switches.npu:
        return
    if family not in catalog().products.data[RATED].cells:
        return
    bounds = [origin.start] if origin.end is None else [origin.start, origin.end]
    for home in origin.devices:
        yield from session.process(layer, home)
        for start, shown in steady(np.array(bounds, np.int64), repeats(session)):
            args = {"MHz": wholes(np.full(len(shown), facts.frequency))}
            yield Events(layer, layer.event("frequency"), start, home, args=args)


def _recorded_clock(samples: Samples) -> Iterator[Events]:
    time, device = samples.times, samples.devices
    clock, die = reals(samples.table["freq"]), integers(samples.table["dieId"], NO_DIE)
    again = repeats(samples.session)
    for one, number in zip(*(column.tolist() for column in distinct(device, die)), strict=True):
        rows = np.flatnonzero((device == one) & (die == number))
        rows = rows[np.argsort(time[rows], kind="stable")]
        if number != NO_DIE:
            # That writer has a thread for each die, and no repetitions (erratum T73).
            own = {"thread": number} if again else {}
            args = _shown_clock(clock[rows])
            yield samples.events("frequency-of-a-die", rows, args=args, **own)
            continue
        for start, shown in steady(time[rows], again):
            args = _shown_clock(clock[rows[shown]])
            yield samples.events("frequency", rows[shown], start=start, args=args)


def _shown_clock(value: Reals) -> dict[str, Fragment]:
    text = _frequencies(value)
    return {"MHz": text, "value": text}


def _frequencies(value: Reals) -> Fragment:
    """Whole numbers of MHz as such."""
    whole = (np.rint(value) == value) & (np.abs(value) < LARGEST_WHOLE)
    return wholes(value.astype(np.int64)) if whole.all() else real_texts(value)


def repeats(session: Session) -> bool:
    """Whether the writer shows again and again what holds."""
    return REPEATING in text_catalog().writers[session.engine].kin


def steady(time: Integers, again: bool) -> Iterator[tuple[Integers, Integers]]:
    """Times and the samples that are shown at them, again and again where the writer does so."""
    gaps = np.append(np.maximum(time[1:] - time[:-1] - 1, 0), 0)[: len(time)]
    count = 1 + gaps // REPEAT_NS
    if not again or not len(time) or count.sum(dtype=np.float64) > MOST_SAMPLES:
        yield time, np.arange(len(time))
        return
    last = np.cumsum(count)
    for first in range(0, int(last[-1]), SAMPLES_AT_ONCE):
        shown = np.arange(first, min(first + SAMPLES_AT_ONCE, int(last[-1])))
        row = np.searchsorted(last, shown, side="right")
        yield time[row] + (shown - (last[row] - count[row])) * REPEAT_NS, row
