"""Calls of the operating system: which of two files holds them, and how exactly.

perf traces those of the kernel, ltrace those of the library of threads, both to the microsecond.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ascend_ref.capture import Capture, Integers, SystemCalls
from ascend_spec import raw_catalog

from .machine import chip_of
from .moments import MICROSECOND, beginning

KERNEL, THREADS = "host_syscall", "host_pthreadcall"
FILES = (KERNEL, THREADS)
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
    return raw_catalog().grammars[kind].parts["name"].is_shown(name)


def held_of_system_calls(capture: Capture) -> Held:
    """The calls as raw files hold them."""
    calls, begin = capture.system_calls, beginning(capture.origin.start)
    chip, files = chip_of(capture.origin), raw_catalog().files
    kinds = [one for one in FILES if chip in files[one].chips]
    used, place = np.unique(calls.name, return_inverse=True)
    names = [capture.texts.all[name] for name in used.tolist()]
    file = np.array([_file_of(name, kinds) for name in names], np.int64)[place]
    shown = np.flatnonzero(file >= 0)
    order = shown[np.lexsort((file[shown], calls.start[shown]))]
    calls, file = calls.take(order), file[order]
    since = (calls.start - begin) // MICROSECOND
    start = begin + since * MICROSECOND
    length = (calls.end - calls.start) // MICROSECOND * MICROSECOND
    held = replace(calls, start=start, end=start + length)
    return Held(held, file, since, len(capture.system_calls) - len(order))


def _file_of(name: str, kinds: Sequence[str]) -> int:
    """Which of FILES shows a call, -1 where none of those that the chip has can."""
    kinds = kinds[::-1] if name.startswith(_OF_THREADS) else kinds
    shown = [one for one in kinds if _NAME.fullmatch(name) and is_shown(one, name)]
    return FILES.index(shown[0]) if shown else -1
