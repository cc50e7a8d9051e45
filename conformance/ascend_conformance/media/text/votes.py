"""What a comparison of two sides says of the files that they were read from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Departure: TypeAlias = Literal["another-capture", "another-unit", "another-clock"]


@dataclass(frozen=True, slots=True)
class Vote:
    """One comparison that was made: its rule, and the files of both sides by number.

    ``sound``: nothing differs. ``vouches``: and files of two ranks would differ, since numbers were
    compared and not only names. ``timed``: rows are paired by times. ``departs``: how the sides
    differ; ``None`` where they belong together, or where only some rows differ, which has other
    reasons. ``by``: the factor or the length of time in ns. ``whole``: they differ in more than one
    column, so that no single column is to blame.
    """

    rule: str
    files: frozenset[int]
    sound: bool
    vouches: bool
    timed: bool
    departs: Departure | None = None
    by: float = 0.0
    whole: bool = False
