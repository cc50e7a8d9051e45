"""What MindSpore calls the operators of a graph.

Names of real captures have the form ``Default/<scope>/<type>-op<number>``, behind ``Gradients/``
what differentiates (mindspore-profiler 2.4); the scopes here are those of a plain network.
"""

from __future__ import annotations

import re
from typing import Literal

Part = Literal["forward", "backward", "update", "inference", "reduction", "point"]
"""Of a graph: what it computes, how gradients are summed, and points for the profiler."""

_TRAIN = "Default/network-TrainOneStepCell"
_SCOPES: dict[Part, str] = {
    "forward": f"{_TRAIN}/network-WithLossCell/_backbone-Network",
    "backward": f"Gradients/{_TRAIN}/network-WithLossCell/_backbone-Network",
    "update": f"{_TRAIN}/optimizer-Momentum",
    "inference": "Default/network-Network",
    "reduction": f"{_TRAIN}/grad_reducer-DistributedGradReducer",
    "point": "Default",
}

_SEPARATORS = re.compile(r"[\s/]+")
"""Between the parts of a kernel's name that are words."""

PROFILING = "Profiling"
"""Type of the operators that reach points (mindspore-profiler 2.3)."""

_DIFFERENTIATES = ("Grad", "Backprop")
"""In the types of operators that differentiate."""


def full_name(part: Part, op_type: str, number: int, cell: str = "") -> str:
    """The full name of an operator, which its number makes unique.

    ``cell``: the last scope of one that is a kernel: what the capture calls it.
    """
    inner = "/".join(_SEPARATORS.split(cell))
    scope = f"{_SCOPES[part]}/{inner}" if inner and inner != op_type else _SCOPES[part]
    return f"{scope}/{op_type}-op{number}"


def differentiates(op_type: str) -> bool:
    """Whether the type of an operator shows that it differentiates."""
    return any(one in op_type for one in _DIFFERENTIATES)


def collective_type(kind: str) -> str:
    """The type of the operator of a collective such as ``allReduce``."""
    return kind[:1].upper() + kind[1:]
