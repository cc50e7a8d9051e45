"""What the comparison of two sides of a medium brings."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..finding import Finding, Skipped
from .pairing import Difference


@dataclass
class Answer:
    """What two sides of a medium do not agree in.

    ``findings``: differences that are findings already. ``places``: how much was compared.
    ``unreadable``: why some of it was not, where it could not be read.
    """

    differences: list[Difference] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    places: int = 0
    unreadable: str | None = None
