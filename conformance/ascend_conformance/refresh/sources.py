"""The sources that can be read, each by the form of its checkout."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from . import insight, msprof, torch_npu
from .checkout import Checkout
from .stated import Stated, Unreadable

READERS: Sequence[tuple[Callable[[Checkout], bool], Callable[[Checkout], Stated]]] = (
    (msprof.recognises, msprof.read),
    (torch_npu.recognises, torch_npu.read),
    (insight.recognises, insight.read),
)


def read_checkout(folder: Path) -> Stated:
    """What the sources in a folder state.

    Raises :class:`Unreadable` for a folder of no known sources, and for sources of another form.
    """
    checkout = Checkout(folder)
    for recognises, read in READERS:
        if recognises(checkout):
            return read(checkout)
    known = "Ascend/msprof, Ascend/pytorch or Ascend/msinsight"
    raise Unreadable(f"{folder}: expected a checkout of {known}")
