"""What a command is answered from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .answer import Params
from .blocks import Blocks
from .timeline import Timeline


@dataclass(frozen=True, slots=True)
class Question:
    """An open file, and what a client wants to know of it.

    ``params`` are the parameters that count, see :mod:`.params`; ``baseline`` is there where it is
    asked for and set. Times of parameters and answers count from ``origin``, the start that
    parse/success stated.
    """

    blocks: Blocks
    params: Params
    baseline: Blocks | None
    read_timeline: Callable[[], Timeline]
    payloads: Sequence[memoryview]
    origin: int

    @property
    def timeline(self) -> Timeline:
        """The timeline of the file, which is read when it is first asked for."""
        return self.read_timeline()
