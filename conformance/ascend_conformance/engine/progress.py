"""How a long judgement reports its progress."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Is called with the number of units of work whenever one of them is done."""

    def __call__(self, done: int, total: int, what: str) -> None:
        """``done`` of ``total`` units are finished, the last of them ``what``."""
