"""The command ``ascend-ref``: a shell around the verbs that the packages register.

``ascend-ref --version`` is answered before anything else is imported: shells and editors ask for
it often, and it must not pay for a command line library.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence

from .. import __version__
from .guard import guarded

PROGRAM = "ascend-ref"
VERSION = f"{PROGRAM} {__version__}"
YOUNG_OBJECTS = 100_000
"""The collector waits for so many objects: a spec has most of them, and none of them is garbage."""


def main(words: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code; no exception leaves this function.

    ``words`` are the arguments without the program's name, by default those of the process.
    Codes: 0 nothing to report, 1 findings, 2 an error (usage, input, or ours), 130 interrupted,
    141 the reader of the output went away, 143 terminated.
    """
    if words is not None:
        return guarded(PROGRAM, lambda: _dispatch(list(words)))
    gc.set_threshold(YOUNG_OBJECTS)
    code = guarded(PROGRAM, lambda: _dispatch(sys.argv[1:]))
    if "duckdb" not in sys.modules:  # its bindings complain of objects that are left
        gc.freeze()  # else the interpreter looks for garbage in all of them before it ends
    return code


def _dispatch(words: list[str]) -> int:
    if words == ["--version"]:
        print(VERSION)
        return 0
    from .shell import run

    return run(words)
