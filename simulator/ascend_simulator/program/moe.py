"""Mixture of experts: gating, exchange of tokens between ranks, and grouped products."""

from __future__ import annotations

from ..scenario.model import ModelChoice, Parallelism
from .layers import cast, linear, swiglu
from .parallel import exchange
from .tape import Tape, Value

LOADS = (620, 740, 830, 900, 960, 1000, 1000, 1050, 1120, 1210, 1330, 1480)
"""Tokens that a rank's experts get, in thousandths of an even share; each run draws one."""
ROUNDED = 16


class Experts:
    """The experts of one rank in one layer."""

    def __init__(self, tape: Tape, choice: ModelChoice, parallelism: Parallelism) -> None:
        """The weights of one layer."""
        self.tape = tape
        self.choice = choice
        self.ranks = parallelism.expert
        self.local = max(1, choice.experts // parallelism.expert)
        width = choice.hidden * choice.expand // 10
        kind = choice.data_type
        self.gate = tape.parameter(choice.experts, choice.hidden, data_type=kind)
        self.inward = tape.parameter(
            self.local, choice.hidden, 2 * width, data_type=kind, dimension="edp"
        )
        self.outward = tape.parameter(
            self.local, width, choice.hidden, data_type=kind, dimension="edp"
        )

    def __call__(self, x: Value) -> Value:
        """Of a normalised (sequence, batch, hidden) tensor."""
        raise NotImplementedError
