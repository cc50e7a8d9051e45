"""Calls of the operating system: which of two files holds them, and how exactly.

perf traces those of the kernel, ltrace those of the library of threads, both to the microsecond.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ascend_ref.capture import Capture, Integers, SystemCalls
from ascend_spec import per_spec, raw_catalog

KERNEL, THREADS = "host_syscall", "host_pthreadcall"
FILES = (KERNEL, THREADS)
MICROSECOND = 1_000
SWITCH = "osrt"
"""What --host-sys calls them."""
_NAME = re.compile(r"\w+")
_OF_THREADS = "pthread_"


class Held(NamedTuple):
    """Calls in order of start, and which of FILES each stands in.

    since: µs from the beginning of the collection. lost: how many no file shows.
    """

    calls: SystemCalls
    file: Integers
    since: Integers
    lost: int


def is_shown(kind: str, name: str) -> bool:
    """Whether exporters show a call of this name from a kind of file."""
    return _shown()[kind].search(name) is not None


def held_of_system_calls(capture: Capture) -> Held:
    """The calls as raw files hold them."""
    calls, begin = capture.system_calls, beginning(capture.origin.start)
    files = np.array([_file_of(name) for name in capture.texts.all], np.int64)
    file = files[calls.name]
    shown = np.flatnonzero(file >= 0)
    order = shown[np.lexsort((file[shown], calls.start[shown]))]
    calls, file = calls.take(order), file[order]
    since = (calls.start - begin) // MICROSECOND
    start = begin + since * MICROSECOND
    length = (calls.end - calls.start) // MICROSECOND * MICROSECOND
    held = replace(calls, start=start, end=start + length)
    return Held(held, file, since, len(capture.system_calls) - len(order))


def beginning(start: int) -> int:
    """The beginning of a collection as side files state it, in whole µs."""
    return start // MICROSECOND * MICROSECOND


def _file_of(name: str) -> int:
    """The file that shows a call, -1 where none can."""
    kinds = FILES[::-1] if name.startswith(_OF_THREADS) else FILES
    shown = [one for one in kinds if _NAME.fullmatch(name) and is_shown(one, name)]
    return FILES.index(shown[0]) if shown else -1


@per_spec
def _shown() -> Mapping[str, re.Pattern[str]]:
    members = raw_catalog().vocabularies["system_calls"].members
    return {str(one.name): re.compile(one.calls or "") for one in members}
