"""Tensors of a program, and how they came about."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

from .kernels import ND, WIDTHS
from .model import Dimension


@dataclass(slots=True, eq=False)
class Storage:
    """Memory of a tensor. owner, last: places of the operators that took it and that used it last.

    owner is None for what lives beyond the step. touched: Byte moved by the device when it was last
    read or written; None before. until: as of a :class:`Tensor`.
    """

    size: int
    owner: int | None
    last: int
    touched: int | None = None
    until: int | None = None


@dataclass(slots=True, eq=False)
class Value:
    """A tensor of the program. node: the operator that differentiates it, None outside autograd.

    slot: which of the parts that the node's output was split into. leaf: a gradient is wanted of a
    tensor without a node.
    """

    shape: tuple[int, ...]
    data_type: str
    storage: Storage
    layout: str = ND
    node: Node | None = None
    slot: int = 0
    leaf: bool = False

    @property
    def like(self) -> tuple[tuple[int, ...], str]:
        """Shape and data type, as a new tensor is asked for."""
        return self.shape, self.data_type

    @property
    def wants_gradient(self) -> bool:
        """Whether anybody uses its gradient."""
        return self.node is not None or self.leaf

    @property
    def elements(self) -> int:
        """Number of elements."""
        return prod(self.shape)

    @property
    def size(self) -> int:
        """Byte."""
        return prod(self.shape) * WIDTHS[self.data_type]

    def view(self, *shape: int) -> Value:
        """The same memory and history under another shape."""
        return Value(shape, self.data_type, self.storage, self.layout, self.node, self.slot)


@dataclass(slots=True, eq=False)
class Parameter(Value):
    """A weight. dimension: over which its gradient is summed. uses: gradients it gets per step."""

    dimension: Dimension = "dp"
    uses: int = 0
    seen: int = 0


Backward = Callable[[Value], Sequence[Value | None]]


@dataclass(slots=True, eq=False)
class Node:
    """A differentiable operator. forward: its place. backward: gradients of inputs.

    shape: of its output, and so of the gradient that ``backward`` gets, however the output was
    viewed by those who used it. join: makes the gradient of the output from those of the parts that
    it was split into.
    """

    sequence: int
    forward: int
    inputs: tuple[Value, ...]
    backward: Backward
    shape: tuple[int, ...]
    join: Callable[[Sequence[Value]], Value] | None = None
