"""A writer that differentiates, as PyTorch's autograd does.

An operator that is recorded with its backward function takes part in :meth:`Tape.backward`, which
runs the latest first, on the backward thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from ..hardware.model import Machine
from .values import Backward, Node, Parameter, Value
from .writer import Writer

_Pending = dict[int, tuple[Node, dict[int, Value]]]
"""Nodes by their place in the sequence, with the gradients that wait for them, by slot."""


class Tape(Writer):
    """Collects a program and differentiates it; see the module."""

    def __init__(
        self, machine: Machine, host_scale: int = 1, *, differentiates: bool = True
    ) -> None:
        """Unless it ``differentiates``, autograd is off."""
        super().__init__(machine, host_scale)
        self.on_gradient: Callable[[Parameter, Value], None] = lambda parameter, gradient: None
        self._differentiates = differentiates
        self._sequence = 0

    def differentiable(self, output: Value, inputs: Sequence[Value], backward: Backward) -> Value:
        """Record how an operator's output is differentiated; returns the output.

        ``backward`` takes the gradient of the output and gives those of the inputs, None for one
        that needs none.
        """
        if not self._differentiates:
            return output
        place = output.storage.owner
        if place is None:
            raise ValueError("the output of an operator is a new tensor")
        output.node = Node(self._sequence, place, tuple(inputs), backward, output.shape)
        self._drafts[place].sequence = self._sequence
        self._sequence += 1
        for value in inputs:
            if isinstance(value, Parameter):
                value.uses += 1
        return output

    def differentiable_by(
        self,
        output: Value,
        inputs: Sequence[Value],
        backward: tuple[str, str, str],
        needed: Sequence[Value | None],
    ) -> Value:
        """Record that the gradients of ``inputs`` are the results of one kernel of the vector unit.

        backward: name, call and kind as :meth:`run` takes them. needed: its operands, None for the
        gradient of the output.
        """

        def run(gradient: Value) -> list[Value]:
            seen = [gradient if value is None else value for value in needed]
            return self.run(*backward, seen, [value.like for value in inputs])

        return self.differentiable(output, inputs, run)

    def hook(self, x: Value, backward: Callable[[Value], Value]) -> Value:
        """The same tensor, whose gradient goes through ``backward`` on its way back."""
        if not self._differentiates:
            return x
        return self._same(x, len(self._drafts) - 1 if x.node is None else x.node.forward, backward)

    def in_place(self, x: Value, backward: Callable[[Value], Value]) -> Value:
        """The tensor that the last operator has overwritten, and how that is differentiated."""
        if not self._differentiates:
            return x
        self._drafts[-1].sequence = self._sequence
        return self._same(x, len(self._drafts) - 1, backward)

    def _same(self, x: Value, place: int, backward: Callable[[Value], Value]) -> Value:
        """The same tensor with a node of its own, that of the operator at a place."""
        made = x.view(*x.shape)
        made.node = Node(
            self._sequence, place, (x,), lambda gradient: [backward(gradient)], x.shape
        )
        made.slot = 0
        self._sequence += 1
        return made

    def split(
        self,
        x: Value,
        shapes: Sequence[tuple[int, ...]],
        join: Callable[[Sequence[Value]], Value],
    ) -> list[Value]:
        """Parts of a tensor, which share its memory."""
        if x.node is not None:
            x.node.join = join
        return [
            Value(shape, x.data_type, x.storage, x.layout, x.node, slot)
            for slot, shape in enumerate(shapes)
        ]

    def backward(self, outputs: Sequence[tuple[Value, Value]]) -> dict[int, Value]:
        """Differentiate (output, gradient) pairs back to leaves, on the backward thread.

        Returns the gradients of the leaves that are not parameters, by identity of their storage.
        """
        pending: _Pending = {}
        leaves: dict[int, Value] = {}
        with self.backward_thread():
            for output, gradient in outputs:
                self._deliver(output, gradient, pending, leaves)
            while pending:
                node, waiting = pending.pop(max(pending))
                self._node, self._node_begins = node, True
                parts = [waiting[slot] for slot in sorted(waiting)]
                gradient = node.join(parts) if node.join else parts[0]
                same = gradient.shape == node.shape
                gradients = node.backward(gradient if same else gradient.view(*node.shape))
                self._node = None
                for value, part in zip(node.inputs, gradients, strict=True):
                    if part is not None:
                        self._deliver(value, part, pending, leaves)
        return leaves

    @contextmanager
    def backward_thread(self) -> Iterator[None]:
        """What is called here runs on the thread of the autograd engine, below no Python."""
        outer, self._thread, self._module = self._module, "backward", ()
        yield
        self._thread, self._module = "main", outer

    def _deliver(
        self, value: Value, gradient: Value, pending: _Pending, leaves: dict[int, Value]
    ) -> None:
        if isinstance(value, Parameter):
            value.seen += 1
            self.on_gradient(value, gradient)
            return
        if value.node is None:
            parts, place = leaves, id(value.storage)
        else:
            _, parts = pending.setdefault(value.node.sequence, (value.node, {}))
            place = value.slot
        other = parts.get(place)
        if other is not None:
            both = (other, gradient)
            (gradient,) = self.run("aten::add", "aclnnAdd", "Add", both, [other.like])
        parts[place] = gradient
