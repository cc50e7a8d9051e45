"""What a file holds of what the owner of a recording expects."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Times: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Held:
    """``contents``: those of which there is a row. ``steps``: their ends by their starts, in ns.

    ``starts``: when each row begins of what is expected of every step; a file may show those of
    steps that another one has.
    """

    contents: frozenset[str] = frozenset()
    steps: Mapping[int, int] = field(default_factory=dict)
    starts: Mapping[str, Times] = field(default_factory=dict)


def together(held: Iterable[Held]) -> Held:
    """What several files hold together."""
    found = [*held]
    steps = {start: end for one in found for start, end in one.steps.items()}
    starts: dict[str, Times] = {}
    for name in {name for one in found for name in one.starts}:
        starts[name] = np.sort(np.concatenate([one.starts[name] for one in found]))
    return Held(frozenset().union(*(one.contents for one in found)), steps, starts)
