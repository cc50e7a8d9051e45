"""Calls of the operating system."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from ascend_ref.capture import Origin, SystemCalls, Texts

from ..clocks import LIMIT, OUT_OF_RANGE
from ..system_calls import FILES, KERNEL, is_shown
from .session import Session
from .times import state_wrong, times_of

_MILLISECOND, _SECOND = 1_000_000, 1_000_000_000
_MOST_THREADS = 1 << 32


def read_system_calls(session: Session, origin: Origin, texts: Texts) -> SystemCalls:
    """The calls in order of start, at times of which the first one of a file is the beginning of
    the collection (upstream-msprof HostSyscallPresenter). Those that cannot be are damage.
    """
    parts = [_read(session, kind, origin, texts) for kind in FILES]
    found = SystemCalls.joined(parts)
    return found.take(np.argsort(found.start, kind="stable"))


def _read(session: Session, kind: str, origin: Origin, texts: Texts) -> SystemCalls:
    context = session.host
    if context is None or kind not in context.folder.files:
        return SystemCalls.empty()
    rows = np.fromiter(_calls(session, kind, origin, texts), np.dtype((np.int64, 4)))
    start, length, thread, name = rows.T
    right = (length >= 0) & (length < LIMIT) & (thread < _MOST_THREADS)
    wrong = int(np.sum(~right))
    state_wrong(session, context, kind, wrong, len(rows), "have numbers that they cannot have")
    start, length, thread, name = (one[right] for one in (start, length, thread, name))
    time = times_of(session, context, kind, "unix", start)
    known = (time != OUT_OF_RANGE) & (length < LIMIT - np.maximum(time, 0))
    calls = SystemCalls(start=time, end=time + length * known, thread=thread, name=name)
    return calls.take(known)


def _calls(
    session: Session, kind: str, origin: Origin, texts: Texts
) -> Iterator[tuple[int, int, int, int]]:
    """Unix time and length in ns, thread, and number of the name of the calls that are shown.

    LIMIT for a time that no clock shows.
    """
    unit = _MILLISECOND if kind == KERNEL else _SECOND
    first: int | None = None
    for _, parts in session.lines(session.host, kind):
        start = _nanoseconds(parts["start"], unit)
        first = start if first is None else first
        name = parts["name"].partition("(")[0]
        if is_shown(kind, name):
            time = origin.start + start - first
            length = min(_nanoseconds(parts["length"], unit), LIMIT)
            thread = min(int(parts.get("thread", origin.pid)), LIMIT)
            yield (
                (time if 0 <= time < LIMIT else LIMIT),
                max(length, -1),
                thread,
                texts.number(name),
            )


def _nanoseconds(decimal: str, unit: int) -> int:
    return int(Fraction(decimal) * unit)
