"""Sampled tables: the columns of the revision, counters wrapped as the exporters wrap them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ascend_ref.capture.model import NONE
from ascend_spec import catalog
from ascend_spec.db.model import Column, Table

from .recording import Recording, Rows

WRAP = 1 << 32
WRAPPED_TYPE = "counter32"
WRAPPED_RATES = "E36"
"""Erratum: rates of QOS and PCIE are formed in 32 unsigned bits."""
WHOLE_IN_TEXTS = "QOS"
"""Its rates are formed where the database is written; timelines show those of the records."""

FREQUENCY = "AICORE_FREQ"
MODULES = "ENUM_MODULE"


def sampled(recording: Recording, table: Table) -> Rows:
    """The samples of one table."""
    given = recording.capture.samples.get(table.name, {})
    columns = {name: np.asarray(values) for name, values in given.items()}
    if not columns:
        return {}
    if table.name == FREQUENCY:
        columns = _with_bounds(recording, columns)
    if "moduleId" in columns:
        columns = _of_known_modules(recording, columns)
    shown = {
        column.name: column.shows.of[0].partition(".")[2] if column.shows.of else column.name
        for column in catalog().tables[table.name].columns.values()
    }
    whole = recording.for_texts and table.name == WHOLE_IN_TEXTS
    return {
        shown[name]: values.astype(np.int64) % WRAP
        if name in table.columns and not whole and wraps(table, table.columns[name])
        else values
        for name, values in columns.items()
    }


def wraps(table: Table, column: Column) -> bool:
    """Whether a column holds what is left of a number in 32 unsigned bits."""
    rate = column.unit == "Byte/s" and column.storage == ("integer",)
    return column.type == WRAPPED_TYPE or (
        rate and WRAPPED_RATES in (*table.errata, *column.errata)
    )


def _with_bounds(
    recording: Recording, columns: dict[str, npt.NDArray[np.int64]]
) -> dict[str, npt.NDArray[np.int64]]:
    """Per device a row at both ends of the session, where the samples have none.

    The clock before the first change is taken to be that of the first row. The bounds follow the
    samples, or all rows ascend in time (habits).
    """
    origin = recording.capture.origin
    parts: list[dict[str, npt.NDArray[np.int64]]] = []
    for device in origin.devices:
        own = np.flatnonzero(columns["deviceId"] == device)
        if not own.size:
            continue
        times = columns["timestampNs"][own]
        first, last = own[np.argmin(times)], own[np.argmax(times)]
        added = [
            (row, time)
            for row, time in ((first, origin.start), (last, origin.end))
            if time is not None and columns["timestampNs"][row] != time
        ]
        rows = np.array([*own.tolist(), *(row for row, _ in added)], np.int64)
        part = {name: values[rows] for name, values in columns.items()}
        part["timestampNs"][len(own) :] = [time for _, time in added]
        if recording.habits.sorted_frequency:
            order = np.argsort(part["timestampNs"], kind="stable")
            part = {name: values[order] for name, values in part.items()}
        parts.append(part)
    return {name: np.concatenate([part[name] for part in parts]) for name in columns}


def _of_known_modules(
    recording: Recording, columns: dict[str, npt.NDArray[np.int64]]
) -> dict[str, npt.NDArray[np.int64]]:
    """Modules by the ids that they have at this revision; the ids given are those of the newest.

    A module that the revision does not know is left out, unless its id only had another name. One
    that only the revision knows reserves nothing. Modules ascend within each sample.
    """
    newest = catalog().at(catalog().revisions[-1].id, recording.schema.carrier).enums[MODULES]
    known = recording.schema.enums[MODULES]
    at_revision = {name: number for number, name in known.items()}
    renamed_only = {
        number for number, name in known.items() if name not in newest.values()
    } & newest.keys()
    numbers = np.unique(columns["moduleId"]).tolist()
    renamed = {
        number: at_revision.get(newest.get(number, ""), number if number in renamed_only else NONE)
        for number in numbers
    }
    table = np.array([renamed[number] for number in numbers])
    ids = table[np.searchsorted(numbers, columns["moduleId"])]
    kept = ids != NONE
    columns = {name: values[kept] for name, values in {**columns, "moduleId": ids}.items()}
    gone = np.array(sorted(known.keys() - newest.keys() - set(ids.tolist())), np.int64)
    moment = np.stack([columns["deviceId"], columns["timestampNs"]])
    begins = np.append(True, (np.diff(moment) != 0).any(axis=0))[: len(ids)]
    sample, first = np.cumsum(begins), np.flatnonzero(begins)
    rows = np.append(np.arange(len(begins)), np.repeat(first, len(gone)))
    columns = {name: values[rows] for name, values in columns.items()}
    columns["moduleId"][len(begins) :] = np.tile(gone, len(first))
    columns["totalReserved"][len(begins) :] = 0
    order = np.lexsort((columns["moduleId"], sample[rows]))
    return {name: values[order] for name, values in columns.items()}
