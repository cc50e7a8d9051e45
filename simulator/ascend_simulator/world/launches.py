"""What a host launches for a communication operator where there is no FFTS+: every small task."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ascend_ref.capture import Integers

from ..program.model import Collective
from .exchange import Round
from .network import SENDS, Network
from .small_tasks import COPY, RECORD, REDUCE, WAIT, kind_between, near_and_far, partners, parts_of


class Launches:
    """The small tasks of operators, counted."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._found: dict[tuple[object, ...], tuple[tuple[str, int], ...]] = {}

    def of(self, item: Collective) -> tuple[tuple[str, int], ...]:
        """What the host launches for an operator where there is no FFTS+: the kinds of its small
        tasks in their order, each with as many as the rank that has the most of them there. Data
        that an operator need not move count as well: the host's script is the same for all ranks.
        """
        key = item.kind, item.dimension, item.peer
        if key not in self._found:
            self._found[key] = tuple(self._launched(item))
        return self._found[key]

    def _launched(self, item: Collective) -> Iterator[tuple[str, int]]:
        groups = self._network.layout.groups(item.dimension)
        plan, own = self._network.plan_of(item, groups[0]), slice(None)
        if item.kind in SENDS:
            ends = groups, np.roll(groups, -item.peer, axis=1)
            own = slice(0, 1) if item.kind == "send" else slice(1, 2)
            groups = np.stack(ends if item.kind == "send" else ends[::-1], axis=-1).reshape(-1, 2)
        for part in parts_of(item, plan):
            if isinstance(part, int):
                yield from self._of_round(plan.rounds[part], groups, own)
            else:
                yield COPY if part == "own" else REDUCE, 1

    def _of_round(self, met: Round, groups: Integers, own: slice) -> Iterator[tuple[str, int]]:
        for kind, other in partners(met):
            chosen = other >= 0 if kind in (RECORD, WAIT) else met.count > 0
            away = self._network.wires.remote[groups[:, None, :], groups[:, np.maximum(other, 0)]]
            for part, far in zip(near_and_far(chosen, away, met), (False, True), strict=True):
                most = int(part.sum(axis=1)[:, own].max())
                if most:
                    yield kind_between(kind, far=far), most
