"""Times of samples, as far as their clock is known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ascend_ref.capture import Integers

from ..clocks import OUT_OF_RANGE, Clock
from ..context import Context
from ..damage import Damage
from ..side import Unknown
from .session import Session


def times_of(
    session: Session,
    context: Context,
    kind: str,
    clock: Callable[[], Clock],
    ticks: npt.NDArray[Any],
) -> Integers:
    """Unix ns of ticks, OUT_OF_RANGE where they are not known."""
    if not len(ticks):
        return np.zeros(0, np.int64)
    try:
        return clock().times(ticks)
    except Unknown as reason:
        text = f"{reason}, so {len(ticks):,} samples of {kind} have no times"
        session.damage.append(Damage(context.folder.path, text, kind=kind))
        return np.full(len(ticks), OUT_OF_RANGE)
