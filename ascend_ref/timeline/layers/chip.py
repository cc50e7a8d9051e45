"""Sampled values that are put together from several rows: clock, accelerators, dies, cores."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from ascend_ref.capture.batch import Integers, Reals
from ascend_ref.derive.traffic import MEBIBYTE
from ascend_ref.spill import batches

from ..events import Events, Item
from ..lookup import NONE, Rows, array_of, filled, holds, integers, packed, places, reals, taken
from ..notation import reals as real_texts
from ..notation import wholes
from ..rows import Fragment
from ..session import Session
from .counters import Samples, processes

FREQUENCY = "AI Core Freq"
ACCELERATORS = "Acc PMU"
SERVICE = "QoS"
DIES = "SIO"
CORES = "AI Core Utilization"
NO_DIE = -1
CUBE = "AIC"

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


def opened(session: Session, layer_name: str, table_name: str) -> Samples | None:
    """The samples of a layer; None where this file does not show them."""
    layer = session.layer(layer_name)
    if layer is None:
        return None
    samples = Samples(session, layer, table_name)
    return samples if len(samples) else None


def frequency(session: Session) -> Iterator[Item]:
    """The clock of the AI cores, in order of time."""
    samples = opened(session, FREQUENCY, "AICORE_FREQ")
    if samples is None:
        return
    yield from processes(samples)
    clock, die = reals(samples.table, "freq"), integers(samples.table, "dieId", NO_DIE)
    device = np.broadcast_to(samples.device, len(samples))
    for one in np.unique(device).tolist():
        for number in np.unique(die[device == one]).tolist():
            rows = np.flatnonzero((device == one) & (die == number))
            rows = rows[np.argsort(samples.time[rows], kind="stable")]
            for time, value in _steady(session, samples.time[rows], clock[rows]):
                shown = _frequencies(value)
                kind = "frequency" if number == NO_DIE else "frequency-of-a-die"
                yield Events(
                    layer=samples.layer,
                    kind=samples.layer.event(kind),
                    start=time,
                    device=one,
                    parts={"dieId": str(number)},
                    args={"MHz": shown, "value": shown},
                )


def _steady(session: Session, time: Integers, value: Reals) -> Iterator[tuple[Integers, Reals]]:
    """The samples, with their repetitions where the writer repeats them."""
    gaps = np.append(np.maximum(time[1:] - time[:-1] - 1, 0), 0)
    count = 1 + gaps // REPEAT_NS
    if session.engine not in REPEATING or count.sum(dtype=np.float64) > MOST_SAMPLES:
        yield time, value
        return
    last = np.cumsum(count)
    for first in range(0, int(last[-1]), SAMPLES_AT_ONCE):
        shown = np.arange(first, min(first + SAMPLES_AT_ONCE, int(last[-1])))
        row = np.searchsorted(last, shown, side="right")
        turn = shown - (last[row] - count[row])
        yield time[row] + turn * REPEAT_NS, value[row]


def _frequencies(value: Reals) -> Fragment:
    """Whole numbers of MHz as such."""
    whole = (np.rint(value) == value) & (np.abs(value) < LARGEST_WHOLE)
    return wholes(value.astype(np.int64)) if whole.all() else real_texts(value)


def accelerators(session: Session) -> Iterator[Item]:
    """Levels of each accelerator, or the greatest of those of one moment (erratum T22)."""
    samples = opened(session, ACCELERATORS, "ACC_PMU")
    if samples is None:
        return
    yield from processes(samples)
    styles = {kind.kind for kind in samples.layer.events_of(session.style_of(samples.layer))}
    columns = ("readBwLevel", "readOstLevel", "writeBwLevel", "writeOstLevel")
    levels = [integers(samples.table, name, 0) for name in columns]
    names = ["read_bandwidth", "read_ost", "write_bandwidth", "write_ost"]
    if "level" not in styles:
        # The older writers spell this one in their own way.
        names[2] = "write_band_width"
        number = integers(samples.table, "accId", 0)
        for part in batches(len(samples)):
            for name, values in zip(names, levels, strict=True):
                args = {"value": wholes(values[part]), "acc_id": wholes(number[part])}
                yield samples.events("level-of-one", part, args, {"counter": name})
        return
    moment = packed(np.broadcast_to(samples.device, len(samples)), samples.time)
    order = np.argsort(moment, kind="stable")
    first = np.flatnonzero(np.append(True, np.diff(moment[order]) != 0))
    for name, values in zip(names, levels, strict=True):
        greatest = np.maximum.reduceat(values[order], first)
        for part in batches(len(first)):
            args = {"value": wholes(greatest[part])}
            yield samples.events("level", order[first[part]], args, {"counter": name})


def service(session: Session) -> Iterator[Item]:
    """Traffic by class of service."""
    samples = opened(session, SERVICE, "QOS")
    if samples is None:
        return
    yield from processes(samples)
    texts = filled(array_of(samples.table["eventName"]), "")
    names = [text.removeprefix(SERVICE_PREFIX) for text in texts.dictionary.to_pylist()]
    streams = pa.DictionaryArray.from_arrays(
        texts.indices, session.notation.strings(pa.array(names, pa.string()))
    )
    rate = integers(samples.table, "bandwidth", 0) // int(MEBIBYTE)
    die = integers(samples.table, "dieId", NO_DIE)
    plain = die == NO_DIE
    for part in batches(len(samples)):
        rows = np.flatnonzero(plain[part]) + part.start
        if len(rows):
            shown = wholes(rate[rows])
            args = {"value": shown, "bandwidth(MB/s)": shown}
            yield samples.events("traffic", rows, args, {"stream": taken(streams, rows)})
    dies = np.flatnonzero(~plain)
    if len(dies):
        device = np.broadcast_to(samples.device, len(samples))
        moment = packed(device[dies], samples.time[dies], places(texts)[dies].astype(np.int64))
        numbers, series = np.unique(die[dies], return_inverse=True)
        for shown, row_of in _side_by_side(moment, series):
            args = {f"die {numbers[one]}": wholes(rate[dies[rows]]) for one, rows in row_of.items()}
            stream = {"stream": taken(streams, dies[shown])}
            yield samples.events("traffic-of-dies", dies[shown], args, stream)


def between_dies(session: Session) -> Iterator[Item]:
    """Traffic between the dies, those of one moment side by side."""
    samples = opened(session, DIES, "SIO")
    if samples is None:
        return
    yield from processes(samples)
    device = np.broadcast_to(samples.device, len(samples))
    texts = filled(array_of(samples.table["name"]), "")
    names = [session.notation.string(text) for text in texts.dictionary.to_pylist()]
    channels = {
        f"{kind}_{way}": reals(samples.table, f"{way}{kind.capitalize()}") / MEBIBYTE
        for way in ("rx", "tx")
        for kind in ("req", "rsp", "snp", "dat")
    }
    (series,) = samples.layer.event("traffic").args
    dies = np.array([series.name.fits(name) for name in names] + [False])
    known = np.flatnonzero(dies[places(texts)])
    moment = packed(device[known], samples.time[known])
    for shown, row_of in _side_by_side(moment, places(texts)[known]):
        for channel, values in channels.items():
            args = {names[one]: real_texts(values[known[rows]]) for one, rows in row_of.items()}
            yield samples.events("traffic", known[shown], args, {"channel": channel})


def cores(session: Session) -> Iterator[Item]:
    """Share of the time in which cube cores work, each alone and all on the average."""
    samples = opened(session, CORES, "SAMPLE_PMU_TIMELINE")
    if samples is None:
        return
    yield from processes(samples)
    usage, core = reals(samples.table, "usage"), integers(samples.table, "coreId", 0)
    cubes = np.flatnonzero(holds(samples.table, "coreType", CUBE))
    for part in batches(len(cubes)):
        rows = cubes[part]
        args = {"Utilization(%)": real_texts(usage[rows])}
        yield samples.events("core", rows, args, {"coreId": wholes(core[rows])})
    if len(cubes):
        device = np.broadcast_to(samples.device, len(samples))
        moment = packed(device[cubes], samples.time[cubes])
        _, first, group = np.unique(moment, return_index=True, return_inverse=True)
        mean = np.bincount(group, usage[cubes]) / np.bincount(group)
        args = {"Utilization(%)": real_texts(mean)}
        yield samples.events("average", cubes[first], args)


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
