"""How much work one rule may take before it is given up.

A join over ids that real files hold once multiplies without end where a broken or hostile file
repeats one value. Sound files need some 30 operations for each row that a rule reads.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import apsw

from ascend_ref.db.open import BudgetExceeded, budget

OPERATIONS = 100_000_000
OPERATIONS_PER_ROW = 400


class NoAnswer(Exception):
    """A rule cannot be judged here, for a reason of the file; the text says which."""


class Uncomputable(NoAnswer):
    """A value does not suit the arithmetic of one rule, which may be one of several asked."""


class TooMuchWork(NoAnswer):
    """A rule was given up; the text is the reason."""


@contextmanager
def limited(connection: apsw.Connection, rows: int) -> Iterator[None]:
    """Raise :class:`TooMuchWork` when the statements run inside go far beyond reading ``rows``."""
    try:
        with budget(connection, OPERATIONS + OPERATIONS_PER_ROW * rows):
            yield
    except BudgetExceeded as excess:
        raise TooMuchWork(
            f"given up after {excess.operations:,} operations: too many rows share one id"
        ) from None
