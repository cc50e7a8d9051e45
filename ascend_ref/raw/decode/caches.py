"""What kernels asked of the L2 cache and of the TLB, from the events of each task."""

from __future__ import annotations

import numpy as np

from ascend_ref.capture import Integers
from ascend_ref.capture.model import NONE
from ascend_ref.capture.records import RECORDS, Records
from ascend_ref.derive.matching import counterparts, ranks
from ascend_ref.derive.transit import task_rows

from ..caches import DATA, KINDS, MOST, SETTINGS, listed_events, sums_of
from ..context import Context
from ..damage import Damage
from .kernels import Computed
from .session import Rows, Session
from .tasks import Launched
from .times import state_wrong

_NUMBERS = 32
"""Bits of the number of a task."""


def read_caches(session: Session, launched: Launched, computed: Computed) -> Records:
    """The records of all devices, each in the order of its file.

    A record belongs to a run of the kernel of its stream and number; where there were several, the
    last record belongs to the last one, as devices leave out the first kernel of a session.
    """
    found: dict[str, dict[str, Integers]] = {}
    runs: _Runs | None = None
    for record in KINDS:
        parts = []
        for device, context in session.devices.items():
            table, mask = _read(session, context, record)
            if table:
                runs = runs or _Runs(launched, computed)
                name = runs.names(device, table["stream"], table["number"], mask)
                parts.append({"device": np.full(len(name), device), "name": name, **table})
        if parts:
            columns = RECORDS[record].columns
            found[record] = {one: np.concatenate([part[one] for part in parts]) for one in columns}
    return found


class _Runs:
    """The runs of kernels in order of start."""

    def __init__(self, launched: Launched, computed: Computed) -> None:
        tasks, kernels = launched.tasks, computed.kernels
        row = task_rows(tasks)[kernels.task]
        order = np.argsort(row, kind="stable")
        row = row[order]
        self._device, self._stream = tasks.device[row], tasks.stream[row]
        self._number = tasks.number[row]
        self._name = np.append(computed.kinds.name[kernels.kind[order]], NONE)

    def names(self, device: int, stream: Integers, number: Integers, mask: int) -> Integers:
        """The names of the kernels of records, NONE where there is none."""
        own = np.flatnonzero(self._device == device)[::-1]
        having = (self._stream[own] << _NUMBERS) + (self._number[own] & mask)
        wanted = ((stream << _NUMBERS) + number)[::-1]
        place = counterparts(wanted, ranks(wanted), having)[::-1]
        found: Integers = self._name[np.where(place < 0, -1, np.append(own, NONE)[place])]
        return found


def _read(session: Session, context: Context, record: str) -> tuple[dict[str, Integers], int]:
    """Streams, numbers and columns of a record of a device, nothing without records; and the
    greatest number that there is room for.
    """
    kept = [
        rows[["streamId", "taskId", "events"]]
        for kind in dict.fromkeys(KINDS.values())
        if len(rows := _rows_of(session, context, kind, record))
    ]
    if not kept:
        return {}, 0
    stream, number, events = (
        np.concatenate([rows[name] for rows in kept]) for name in ("streamId", "taskId", "events")
    )
    chip, listed = (
        context.side.chip,
        listed_events(record, context.side.documents.get("sample", {})),
    )
    mask = int(np.iinfo(number.dtype).max)
    right = np.all(events < MOST, axis=1)
    state_wrong(
        *(session, context, KINDS[record], int(np.sum(~right)), len(right)),
        "have numbers that they cannot have",
    )
    stream, number, events = (one[right].astype(np.int64) for one in (stream, number, events))
    sums = None if listed is None else sums_of(record, chip, listed, events)
    if sums is None:
        key, _ = SETTINGS[record]
        reason = f"sample.json: {key} does not list its events"
        reason = "the chip is not known" if chip is None else reason
        text = f"{record} is not read: {reason}"
        session.damage.append(Damage(context.folder.path, text, kind=KINDS[record]))
        return {}, 0
    return {"stream": stream, "number": number, **sums}, mask


def _rows_of(session: Session, context: Context, kind: str, record: str) -> Rows:
    """The records of a kind of files that are of a record of the recording."""
    rows = session.rows(context, kind)
    if "dataType" not in (rows.dtype.names or ()):
        return rows if kind == record else rows[:0]
    own: Rows = rows[rows["dataType"] == DATA[record]]
    return own
