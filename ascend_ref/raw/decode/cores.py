"""Cores that were sampled by time: their load, and the metrics of the whole collection."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ascend_ref.capture import Integers, Origin, Switches, Texts
from ascend_ref.spill import sorted_rows
from ascend_spec import catalog, text_catalog
from ascend_spec.core.packed import dtype_of
from ascend_spec.text.model import Core

from ..context import Context
from ..cores import (
    LOAD,
    MOST_CORES,
    SAMPLED,
    SUMMARY,
    TYPES,
    Source,
    distinct,
    is_of,
    joined_tables,
    load_table,
    of_device,
    sources,
    summary_table,
)
from ..counters import Counts, Side, sides
from ..damage import Damage
from ..fields import whole
from .counters import programmed
from .session import Rows, Session
from .times import timed

Columns = Mapping[str, npt.NDArray[Any]]
Mask = npt.NDArray[np.bool_]

_MOST = 1 << 40
"""More cycles or events than a core has between two samples; so no sum overflows."""


class _Samples(NamedTuple):
    """The samples of one kind of core, in order of core and time; place: among the records."""

    place: Integers
    time: Integers
    cycles: Integers
    core: Integers


def read_cores(
    session: Session, origin: Origin, switches: Switches, texts: Texts
) -> Mapping[str, Columns]:
    """The load of the cores of all devices, and their metrics where it is known what they counted;
    nothing of files that count tasks.
    """
    product = catalog().products.of_chip(origin.chip)
    if origin.facts is None or product is None:
        return {}
    tables: dict[str, list[Columns]] = {LOAD: [], SUMMARY: []}
    frequency, spill = origin.facts.frequency, session.spill
    known = {}
    if switches.aic_metrics is not None:
        found = sides(switches.aic_metrics, product.id, origin.facts, SAMPLED)
        known = {one.core: one for one in found}
    for device, context, source in _places(session):
        rows, time = timed(session, context, source.file, source.record, _is_possible)
        if not len(rows) or not frequency:
            continue
        if switches.aic_metrics is not None and not known:
            text = f"the events of {switches.aic_metrics} on {product.id} are not known"
            _state(session, context, source, text)
        for kind, core in TYPES.items():
            own = _of_kind(session, context, source, (rows, time), core)
            if own is None:
                continue
            load = load_table(spill, own.time, own.cycles, own.core, texts.number(kind), frequency)
            tables[LOAD].append(of_device(spill, load, device))
            if core in known and switches.aic_metrics is not None:
                side = _programmed(session, context, source, known[core], switches, product.id)
                cores, counts = _sums(session, rows, own, side)
                summary = summary_table(side, product.id, cores, counts, frequency, texts)
                tables[SUMMARY].append(of_device(spill, summary, device))
    return {name: joined_tables(spill, parts) for name, parts in tables.items() if parts}


def _places(session: Session) -> Iterator[tuple[int, Context, Source]]:
    """The files of each device in which side files say that cores were sampled."""
    for device, context in session.devices.items():
        for source in () if context.side.chip is None else sources(context.side.chip):
            stated = (context.side.settings.get(key) == value for key, value in source.when)
            if source.file in context.folder.files and all(stated):
                yield device, context, source


def _is_possible(rows: Rows) -> Mask:
    """Readers stop at a record without a mode; ours leave it out."""
    found: Mask = (rows["mode"] != 0) & (rows["taskCyc"] < _MOST)
    found &= (rows["eventCount"] < _MOST).all(axis=1)
    return found


def _of_kind(
    session: Session,
    context: Context,
    source: Source,
    timed: tuple[Rows, Integers],
    core: Core,
) -> _Samples | None:
    """The samples of one kind of core, None without any; of one time of a core the first."""
    chip = context.side.chip
    if core not in source.cores or chip is None:
        return None
    spill, (rows, time) = session.spill, timed
    number = spill.made(whole, rows["coreId"])
    place = spill.where(lambda some: is_of(core, source, chip, some), number)
    if not len(place):
        return None
    order = sorted_rows(spill, spill.taken(number, place), spill.taken(time, place))
    place = spill.taken(place, order)
    kept = distinct(spill, spill.taken(number, place), spill.taken(time, place))
    if again := len(place) - len(kept):
        _state(session, context, source, f"{again:,} samples are of the time of another")
        place = spill.taken(place, kept)
    # One column at a time: samples of one core are far apart among the records.
    columns = (time, spill.made(whole, rows["taskCyc"]), number)
    return _Samples(place, *(spill.taken(column, place) for column in columns))


def _programmed(
    session: Session, context: Context, source: Source, side: Side, switches: Switches, family: str
) -> Side:
    group = text_catalog().pmu.group(switches.aic_metrics or "")
    width = dtype_of(session.declaration(source.file, source.record))["eventCount"].shape[0]
    return (
        side
        if group is None
        else programmed(session, context, source.file, side, group, family, width)
    )


def _sums(session: Session, rows: Rows, own: _Samples, side: Side) -> tuple[Integers, Counts]:
    """The cores that were sampled, and what each of them counted together."""
    cycles, width = np.zeros(MOST_CORES, np.int64), len(side.events)
    events, seen = np.zeros((MOST_CORES, width), np.int64), np.zeros(MOST_CORES, np.bool_)
    kept = session.spill.marks(len(rows), own.place)
    for batch in session.spill.batches(len(rows)):
        some = rows[batch][kept[batch]]
        core = whole(some["coreId"])
        seen[core] = True
        np.add.at(cycles, core, whole(some["taskCyc"]))
        np.add.at(events, core, some["eventCount"][:, :width].astype(np.int64))
    cores = np.flatnonzero(seen)
    return cores, Counts(cycles[cores], events[cores], 0 * cycles[cores])


def _state(session: Session, context: Context, source: Source, text: str) -> None:
    session.damage.append(Damage(context.folder.path, f"{source.file}: {text}", kind=source.file))
