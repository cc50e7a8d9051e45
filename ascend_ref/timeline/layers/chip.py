"""Sampled values that are put together from several rows: clock, accelerators, dies, cores."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from ascend_ref.arrays import integers, is_one_of, one_piece, reals, text_places
from ascend_ref.capture.batch import Integers, Reals
from ascend_ref.derive.traffic import MEBIBYTE
from ascend_ref.spill import batches

from ..events import Item
from ..lookup import NONE, Rows, distinct, filled, packed, taken
from ..notation import reals as real_texts
from ..notation import wholes
from ..rows import Fragment
from ..session import Session
from .counters import Samples, opened, processes, rows_in_turn

FREQUENCY = "AI Core Freq"
ACCELERATORS = "Acc PMU"
SERVICE = "QoS"
DIES = "SIO"
CORES = "AI Core Utilization"
NO_DIE = -1
CUBE = "AIC"
LEVELS = {
    "read_bandwidth": "readBwLevel",
    "read_ost": "readOstLevel",
    "write_bandwidth": "writeBwLevel",
    "write_ost": "writeOstLevel",
}
"""Names of events and columns of ACC_PMU."""

REPEATING = ("python",)
"""Writers that show a clock again and again until it changes (text-outputs.md 6)."""
REPEAT_NS = 1_000_000
"""How often they do."""
SERVICE_PREFIX = "QoS "
LARGEST_WHOLE = 1 << 53
"""Floats below it that have no fraction are integers of the same digits."""
SAMPLES_AT_ONCE = 1 << 16
MOST_SAMPLES = 1 << 24
"""With repetitions: those of 4 hours. A recording that seems to last longer has wrong times, and
repeating would never end.
"""


def frequency(session: Session) -> Iterator[Item]:
    """The clock of the AI cores, in order of time."""
    samples = opened(session, FREQUENCY)
    if samples is None:
        return
    yield from processes(samples)
    time, device = integers(samples.table["timestampNs"], 0), _devices(samples)
    clock, die = reals(samples.table["freq"]), integers(samples.table["dieId"], NO_DIE)
    for one, number in zip(*(column.tolist() for column in distinct(device, die)), strict=True):
        rows = np.flatnonzero((device == one) & (die == number))
        rows = rows[np.argsort(time[rows], kind="stable")]
        kind = "frequency" if number == NO_DIE else "frequency-of-a-die"
        for start, shown in _steady(session, time[rows]):
            text = _frequencies(clock[rows[shown]])
            args = {"MHz": text, "value": text}
            yield samples.events(kind, rows[shown], start=start, args=args)


def _steady(session: Session, time: Integers) -> Iterator[tuple[Integers, Integers]]:
    """Times and the samples that are shown at them, again and again where the writer does so."""
    gaps = np.append(np.maximum(time[1:] - time[:-1] - 1, 0), 0)
    count = 1 + gaps // REPEAT_NS
    if session.engine not in REPEATING or count.sum(dtype=np.float64) > MOST_SAMPLES:
        yield time, np.arange(len(time))
        return
    last = np.cumsum(count)
    for first in range(0, int(last[-1]), SAMPLES_AT_ONCE):
        shown = np.arange(first, min(first + SAMPLES_AT_ONCE, int(last[-1])))
        row = np.searchsorted(last, shown, side="right")
        yield time[row] + (shown - (last[row] - count[row])) * REPEAT_NS, row


def _frequencies(value: Reals) -> Fragment:
    """Whole numbers of MHz as such."""
    whole = (np.rint(value) == value) & (np.abs(value) < LARGEST_WHOLE)
    return wholes(value.astype(np.int64)) if whole.all() else real_texts(value)


def accelerators(session: Session) -> Iterator[Item]:
    """Levels of each accelerator, or the greatest of those of one moment (erratum T22)."""
    samples = opened(session, ACCELERATORS)
    if samples is None:
        return
    yield from processes(samples)
    kinds = samples.layer.events_of(session.style_of(samples.layer))
    if "level" not in {kind.kind for kind in kinds}:
        yield from rows_in_turn(samples)
        return
    moment = packed(_devices(samples), integers(samples.table["timestampNs"], 0))
    order = np.argsort(moment, kind="stable")
    first = np.flatnonzero(np.append(True, np.diff(moment[order]) != 0))
    for name, column in LEVELS.items():
        greatest = np.maximum.reduceat(integers(samples.table[column], 0)[order], first)
        for part in batches(len(first)):
            args = {"value": wholes(greatest[part])}
            yield samples.events("level", order[first[part]], parts={"counter": name}, args=args)


def service(session: Session) -> Iterator[Item]:
    """Traffic by class of service."""
    samples = opened(session, SERVICE)
    if samples is None:
        return
    yield from processes(samples)
    texts = filled(one_piece(samples.table["eventName"]), "")
    names = [text.removeprefix(SERVICE_PREFIX) for text in texts.dictionary.to_pylist()]
    streams = pa.DictionaryArray.from_arrays(
        texts.indices, session.notation.strings(pa.array(names, pa.string()))
    )
    rate = integers(samples.table["bandwidth"], 0) // int(MEBIBYTE)
    die = integers(samples.table["dieId"], NO_DIE)
    for part in batches(len(samples)):
        rows = np.flatnonzero(die[part] == NO_DIE) + part.start
        if len(rows):
            shown = wholes(rate[rows])
            args = {"value": shown, "bandwidth(MB/s)": shown}
            stream = {"stream": taken(streams, rows)}
            yield samples.events("traffic", rows, parts=stream, args=args)
    dies = np.flatnonzero(die != NO_DIE)
    if len(dies):
        time = integers(samples.table["timestampNs"], 0)
        moment = packed(
            _devices(samples)[dies], time[dies], text_places(texts)[dies].astype(np.int64)
        )
        numbers, series = np.unique(die[dies], return_inverse=True)
        for shown, row_of in _side_by_side(moment, series):
            args = {f"die {numbers[one]}": wholes(rate[dies[rows]]) for one, rows in row_of.items()}
            stream = {"stream": taken(streams, dies[shown])}
            yield samples.events("traffic-of-dies", dies[shown], parts=stream, args=args)


def between_dies(session: Session) -> Iterator[Item]:
    """Traffic between the dies, those of one moment side by side."""
    samples = opened(session, DIES)
    if samples is None:
        return
    yield from processes(samples)
    texts = filled(one_piece(samples.table["name"]), "")
    names = [session.notation.string(text) for text in texts.dictionary.to_pylist()]
    channels = {
        f"{kind}_{way}": reals(samples.table[f"{way}{kind.capitalize()}"]) / MEBIBYTE
        for way in ("rx", "tx")
        for kind in ("req", "rsp", "snp", "dat")
    }
    (series,) = samples.layer.event("traffic").args
    dies = np.array([series.name.fits(name) for name in names] + [False])
    known = np.flatnonzero(dies[text_places(texts)])
    moment = packed(_devices(samples), integers(samples.table["timestampNs"], 0))[known]
    for shown, row_of in _side_by_side(moment, text_places(texts)[known]):
        for channel, values in channels.items():
            args = {names[one]: real_texts(values[known[rows]]) for one, rows in row_of.items()}
            parts = {"channel": channel}
            yield samples.events("traffic", known[shown], parts=parts, args=args)


def cores(session: Session) -> Iterator[Item]:
    """Share of the time in which cube cores work, each alone and all on the average."""
    samples = opened(session, CORES)
    if samples is None:
        return
    yield from processes(samples)
    usage, core = reals(samples.table["usage"]), integers(samples.table["coreId"], 0)
    time, device = integers(samples.table["timestampNs"], 0), _devices(samples)
    cubes = np.flatnonzero(is_one_of(samples.table["coreType"], [CUBE]))
    for part in batches(len(cubes)):
        rows = cubes[part]
        args = {"Utilization(%)": real_texts(usage[rows])}
        own = {"start": time[rows], "device": device[rows], "parts": {"coreId": wholes(core[rows])}}
        yield samples.events("core", rows, args=args, **own)
    if len(cubes):
        moment = packed(device, time)[cubes]
        _, first, group = np.unique(moment, return_index=True, return_inverse=True)
        rows = cubes[first]
        mean = np.bincount(group, usage[cubes]) / np.bincount(group)
        args = {"Utilization(%)": real_texts(mean)}
        yield samples.events("average", rows, args=args, start=time[rows], device=device[rows])


def _devices(samples: Samples) -> Integers:
    """The device of each row."""
    return np.broadcast_to(samples.device, len(samples))


def _side_by_side(
    moment: Integers, series: Integers | Rows
) -> Iterator[tuple[Integers, dict[int, Integers]]]:
    """Rows of one moment together: a row of each moment, and the rows of each series there.

    Moments that have the same series come together.
    """
    _, first, group = np.unique(moment, return_index=True, return_inverse=True)
    row_of = np.full((len(first), int(series.max(initial=0)) + 1), NONE)
    row_of[group, series] = np.arange(len(moment))
    there, pattern = np.unique(row_of != NONE, axis=0, return_inverse=True)
    for number, present in enumerate(there):
        rows = row_of[pattern.reshape(-1) == number]
        members = {one: rows[:, one] for one in np.flatnonzero(present).tolist()}
        yield first[pattern.reshape(-1) == number], members
