"""Calls of the operating system, as perf and ltrace print them.

Readers take the first call of a file for the beginning of the collection, so one stands first that
they do not show.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ascend_ref.capture import Capture

from ..lines import Entry
from ..moments import MICROSECOND, beginning
from ..system_calls import FILES, KERNEL, held_of_system_calls
from .tree import RawTree

_PROGRAM, _LIBRARY = "python", "libascendcl.so"
_FIRST_OF_KERNEL, _FIRST_OF_THREADS = "clock_gettime", "pthread_once"
_ARGUMENT = "fd: 3) = 0"
"""An argument with its name, without which readers pass a call over (erratum U23)."""
_MILLISECONDS, _SECONDS = 3, 6
"""Decimals of a time in µs."""


def write_system_calls(capture: Capture, tree: RawTree) -> None:
    """Write the two files of the calls that there are."""
    held = held_of_system_calls(capture)
    names = [capture.texts.all[name] for name in held.calls.name.tolist()]
    length = (held.calls.end - held.calls.start) // MICROSECOND
    for number, kind in enumerate(FILES):
        own = np.flatnonzero(held.file == number)
        if len(own):
            lines = _kernel if kind == KERNEL else _threads
            begin = np.array([beginning(capture.origin.start)], np.int64)
            if kind == KERNEL:
                begin = tree.host.monotonic.ticks(begin)
            first = int(begin[0]) // MICROSECOND
            calls = (first + held.since[own], length[own], held.calls.thread[own])
            rows = zip(*(one.tolist() for one in calls), [names[at] for at in own], strict=True)
            tree.write_lines(kind, lines(first, capture.origin.pid, rows))


Call = tuple[int, int, int, str]
"""Start and length in µs, thread and name."""


def _kernel(first: int, thread: int, calls: Iterator[Call]) -> Iterator[Entry]:
    for start, length, of, name in ((first, 0, thread, _FIRST_OF_KERNEL), *calls):
        yield Entry(
            "call",
            {
                "start": _decimal(start, _MILLISECONDS),
                "length": _decimal(length, _MILLISECONDS),
                "command": _PROGRAM,
                "thread": of,
                "name": name,
                "rest": _ARGUMENT,
            },
        )


def _threads(first: int, thread: int, calls: Iterator[Call]) -> Iterator[Entry]:
    for start, length, of, name in ((first, 0, thread, _FIRST_OF_THREADS), *calls):
        yield Entry(
            "call",
            {
                "thread": of,
                "start": _decimal(start, _SECONDS),
                "object": _LIBRARY,
                "name": name,
                "rest": ") = 0",
                "length": _decimal(length, _SECONDS),
            },
        )


def _decimal(microseconds: int, decimals: int) -> str:
    whole, part = divmod(abs(microseconds), 10**decimals)
    return f"{'-' * (microseconds < 0)}{whole}.{part:0{decimals}}"
