"""Types of columns."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ascend_ref.capture import Integers

Booleans: TypeAlias = npt.NDArray[np.bool_]

__all__ = ["Booleans", "Integers"]
