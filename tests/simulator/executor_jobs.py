"""Functions for workers: they are found by name, so they stand in a module of their own."""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import closing
from pathlib import Path

from ascend_ref.execution import Processes


class Stubborn(Exception):
    """Cannot be unpickled: its constructor takes more than its text."""

    def __init__(self, first: str, second: str) -> None:
        super().__init__(f"{first} {second}")


def multiply(factor: int, item: int) -> int:
    time.sleep(0.01 * (3 - item % 4))  # so that later items are done before earlier ones
    return factor * item


def refuse(_common: int, item: int) -> int:
    if item == 2:
        raise ValueError("item is 2; expected another")
    return item


def refuse_stubbornly(_common: int, item: int) -> int:
    raise Stubborn("item", str(item))


def die(_common: int, _item: int) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return 0


def linger(folder: Path, item: int) -> int:
    """Leave a sign, and then work for longer than any test waits."""
    (folder / f"{item}-{os.getpid()}").touch()
    time.sleep(600)
    return item


if __name__ == "__main__":
    with closing(Processes(2).map(linger, Path(sys.argv[1]), range(4))) as running:
        next(running)
