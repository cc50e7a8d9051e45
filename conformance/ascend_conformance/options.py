"""What a caller can ask of a check."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ascend_ref.states import AxisName, Target
from ascend_spec.db.model import Reading

from .ruleset import EVERYTHING, Selection

if TYPE_CHECKING:
    from .expect.model import Expectation

PARALLEL_BYTES = 16 << 20
"""Files below this size are judged in one thread: starting another costs more than it saves."""


@dataclass(frozen=True, slots=True)
class Options:
    """``reading`` selects whether documents or observed files are right where they disagree.

    ``max_examples`` bad rows are shown per finding; ``with_sql`` adds the query that lists them
    all. ``workers`` threads judge one large file together. ``expectation``: what must be there.
    ``target``: what files are judged by, whatever they show of themselves.
    """

    reading: Reading = "observed"
    selection: Selection = EVERYTHING
    max_examples: int = 5
    with_sql: bool = False
    expectation: Expectation | None = None
    workers: int = min(os.cpu_count() or 1, 4)
    target: Target | None = None

    def judged_by(self, axis: AxisName) -> str | None:
        """The state of an axis that was asked for."""
        return self.target.name if self.target and self.target.axis == axis else None
