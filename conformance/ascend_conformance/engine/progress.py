"""How a long judgement says how far it is."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Gets how many units of work there are, and when one is done."""

    def __call__(self, done: int, total: int, what: str) -> None:
        """``done`` of ``total`` units are finished, the last of them ``what``."""
