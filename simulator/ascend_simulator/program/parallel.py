"""Communication of networks: collectives that are differentiable, and pipeline transfers."""

from __future__ import annotations

from math import prod

from ..choices import ModelChoice, Parallelism
from .model import CollectiveKind, Dimension, Routed
from .tape import Tape
from .values import Value

FORWARD_TAG = 0
BACKWARD_TAG = 1


def sequence_parallel(choice: ModelChoice, parallelism: Parallelism) -> bool:
    """Whether tensor-parallel ranks share the sequence between the layers: experts need it."""
    tensor = parallelism.tensor
    return choice.kind == "moe" and tensor > 1 and choice.sequence % tensor == 0


def feed_forward_width(choice: ModelChoice, ranks: int) -> int:
    """Width of the feed-forward part on each of the ranks that share it."""
    return max(1, choice.hidden * choice.expand // 10 // ranks)


def collective(
    tape: Tape,
    kind: CollectiveKind,
    dimension: Dimension,
    count: int,
    x: Value,
    rows: int,
    routed: Routed | None = None,
) -> Value:
    """A collective for which the compute stream waits, with ``rows`` coming out."""
    news = [((rows, *x.shape[1:]), x.data_type)]
    item, (made,) = tape.collective(
        kind, dimension, count, x.data_type, inputs=(x,), outputs=news, routed=routed
    )
    tape.wait(item)
    return made


def all_reduce(tape: Tape, x: Value, dimension: Dimension) -> Value:
    """Sum over the ranks of a group, in place; the compute stream waits for it."""
    item, _ = tape.collective("allReduce", dimension, x.elements, x.data_type, inputs=(x,))
    tape.wait(item)
    return x


def all_gather(tape: Tape, x: Value, dimension: Dimension, size: int) -> Value:
    """Join the pieces of ``size`` ranks along the first axis."""
    return collective(tape, "allGather", dimension, x.elements, x, x.shape[0] * size)


def reduce_scatter(tape: Tape, x: Value, dimension: Dimension, size: int) -> Value:
    """Sum over ``size`` ranks, of which each keeps its piece of the first axis."""
    return collective(tape, "reduceScatter", dimension, x.elements // size, x, x.shape[0] // size)


class TensorParallel:
    """What ranks that share every layer send to each other.

    With ``by_sequence`` the tensors between the layers are cut along the sequence (their first
    axis): gathered before a layer and scattered after it, instead of summed.
    """

    def __init__(self, tape: Tape, parallelism: Parallelism, by_sequence: bool) -> None:
        """``by_sequence`` needs the first axis to divide by the size."""
        self.tape = tape
        self.size = parallelism.tensor
        self.by_sequence = by_sequence and self.size > 1

    def share(self, x: Value) -> Value:
        """The input of a layer whose weight is cut by its outputs."""
        tape, size = self.tape, self.size
        if size == 1:
            return x
        if not self.by_sequence:
            return tape.hook(x, lambda gradient: all_reduce(tape, gradient, "tp"))
        made = all_gather(tape, x, "tp", size)
        return tape.differentiable(
            made, (x,), lambda gradient: [reduce_scatter(tape, gradient, "tp", size)]
        )

    def join(self, x: Value) -> Value:
        """The output of a layer whose weight is cut by its inputs: ranks have parts of a sum."""
        tape, size = self.tape, self.size
        if size == 1:
            return x
        if not self.by_sequence:
            return all_reduce(tape, x, "tp")
        made = reduce_scatter(tape, x, "tp", size)
        return tape.differentiable(
            made, (x,), lambda gradient: [all_gather(tape, gradient, "tp", size)]
        )


def send(tape: Tape, x: Value, peer: int, tag: int) -> int:
    """Post a tensor to the stage that is ``peer`` stages on; returns the item to wait for."""
    item, _ = tape.collective(
        "send", "pp", x.elements, x.data_type, inputs=(x,), peer=peer, tag=tag
    )
    return item


def receive(tape: Tape, new: tuple[tuple[int, ...], str], peer: int, tag: int) -> tuple[int, Value]:
    """Post the reception of a tensor; returns the item to wait for, and the tensor."""
    shape, data_type = new
    item, (made,) = tape.collective(
        "receive", "pp", prod(shape), data_type, outputs=[new], peer=peer, tag=tag
    )
    return item, made


class Pipeline:
    """Transfers between the stages of a pipeline, for one stage.

    What is posted together is waited for together, so that two neighbours that send to each other
    at the same time both get on.
    """

    def __init__(self, tape: Tape, stages: int, stage: int) -> None:
        """``stage`` counts from 0."""
        self.tape = tape
        self.first = stage == 0
        self.last = stage == stages - 1
        self.ahead = stages - 1 - stage

    def transfer(
        self,
        *,
        forward: Value | None = None,
        backward: Value | None = None,
        ahead: tuple[tuple[int, ...], str] | None = None,
        behind: tuple[tuple[int, ...], str] | None = None,
    ) -> list[Value]:
        """Send an output forward and a gradient backward; receive from the stage ahead (a gradient)
        and from the one behind (an input). Returns what was received, in this order.
        """
        posted: list[int] = []
        received: list[Value] = []
        for value, peer, tag in ((forward, 1, FORWARD_TAG), (backward, -1, BACKWARD_TAG)):
            if value is not None:
                posted.append(send(self.tape, value, peer, tag))
        for wanted, peer, tag in ((ahead, 1, BACKWARD_TAG), (behind, -1, FORWARD_TAG)):
            if wanted is not None:
                item, made = receive(self.tape, wanted, peer, tag)
                posted.append(item)
                received.append(made)
        for item in posted:
            self.tape.wait(item)
        return received
