"""A training step: micro-batches through a pipeline, sums of gradients, and the optimizer."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from .kernels import Operand
from .layers import ones_like
from .model import Dimension
from .parallel import Pipeline
from .tape import Tape
from .values import Parameter, Value
from .writer import COPIED_BYTES

BUCKET = 40_000_000
"""Elements of gradients that are summed together."""
LOADING_NS = 900_000
FORWARD_RANGE = "{'name': 'forward_step'}"
BACKWARD_RANGE = "{'name': 'backward_step'}"

Forward = Callable[[Value | None], Value]
"""The stage's part of the network: from the input that another stage sent (None on the first
stage, which loads its own) to the output, which is the loss on the last stage."""


@dataclass(slots=True, eq=False)
class _Bucket:
    """Gradients that are summed together. missing: those that the last micro-batch still owes."""

    dimension: Dimension
    data_type: str
    elements: int = 0
    missing: int = 0
    parameters: list[Parameter] = field(default_factory=list)


class Training:
    """Writes a training step of one stage to a tape."""

    def __init__(
        self,
        tape: Tape,
        pipeline: Pipeline,
        groups: dict[Dimension, int],
        microbatches: int,
        buckets: tuple[int, int] = (BUCKET, BUCKET),
        copies_back: bool = False,
    ) -> None:
        """groups: sizes of the groups over which gradients are summed.

        buckets: elements from which the first one, and the others, are full. copies_back: the sums
        are copied from the bucket to each gradient, as DistributedDataParallel does.
        """
        self.tape = tape
        self.pipeline = pipeline
        self.groups = groups
        self.microbatches = microbatches
        self.buckets = buckets
        self.copies_back = copies_back
        self.summing: list[tuple[int, _Bucket]] = []
        self.gradients: dict[int, Value] = {}
        self._buckets: dict[int, _Bucket] = {}
        self._last = False
        self._cleared: int | None = None
        tape.on_gradient = self._accumulate

    def step(
        self,
        forward: Forward,
        transfer: tuple[tuple[int, ...], str],
        optimize: Callable[[Training], None],
        loading: int = LOADING_NS,
    ) -> None:
        """One step; ``transfer``: shape and type of what stages send each other.

        loading: ns that the framework thread waits for the data loader.
        """
        tape, pipeline, count = self.tape, self.pipeline, self.microbatches
        tape.prepare("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", loading)
        behind = None if pipeline.first else transfer
        ahead = None if pipeline.last else transfer
        warm_up = min(pipeline.ahead, count)
        waiting: deque[tuple[Value | None, Value]] = deque()
        for number in range(count + warm_up):
            if number == 0:
                received = pipeline.transfer(behind=behind)
            if number < count:
                inputs = received[-1] if received else None
                if inputs:
                    inputs.leaf = True  # the stage that sent it wants its gradient
                with tape.range(FORWARD_RANGE, "default", on_device=True):
                    waiting.append((inputs, forward(inputs)))
            output = waiting[-1][1] if number < count and not pipeline.last else None
            following = behind if number + 1 < count else None
            if number < warm_up:
                received = pipeline.transfer(forward=output, behind=following)
                continue
            gradients = pipeline.transfer(forward=output, ahead=ahead)
            self._last = number + 1 == count + warm_up
            gradient = self._back(*waiting.popleft(), gradients)
            received = pipeline.transfer(backward=gradient, behind=following)
        optimize(self)
        tape.synchronize()

    def _back(
        self, inputs: Value | None, output: Value, gradients: Sequence[Value]
    ) -> Value | None:
        """Differentiate one micro-batch; returns the gradient of its input.

        Before the first one, the gradients of the step before are given up.
        """
        tape = self.tape
        if self._cleared is None:
            self._cleared = tape.place
        if self.pipeline.last:
            tape.hold(output)
        with tape.range(BACKWARD_RANGE, "default", on_device=True):
            if self._last:
                self._open_buckets()
            gradient = gradients[0] if gradients else ones_like(tape, output)
            leaves = tape.backward([(output, gradient)])
            if self._last:
                self._close_buckets()
        return None if inputs is None else leaves[id(inputs.storage)]

    def _open_buckets(self) -> None:
        """Parameters in the reverse order of their making, as their gradients come."""
        open_ones: dict[tuple[Dimension, str], _Bucket] = {}
        full = self.buckets[0]
        for parameter in reversed(self.tape.parameters):
            if not parameter.uses:
                continue
            key = parameter.dimension, parameter.data_type
            bucket = open_ones.get(key)
            if bucket is None:
                bucket = open_ones[key] = _Bucket(*key)
            elif bucket.elements >= full:
                full = self.buckets[1]
                bucket = open_ones[key] = _Bucket(*key)
            bucket.elements += parameter.elements
            bucket.parameters.append(parameter)
            bucket.missing += parameter.uses - parameter.seen
            self._buckets[id(parameter)] = bucket

    def _accumulate(self, parameter: Parameter, gradient: Value) -> None:
        """A gradient of a parameter has come: keep it, add it, or put it into its bucket."""
        tape = self.tape
        summed = self.groups.get(parameter.dimension, 1) > 1
        place = id(parameter)
        if place in self.gradients:
            into = self.gradients[place]
            tape.run("aten::add_", "aclnnInplaceAdd", "Add", (into, gradient), written=(into,))
        elif summed:
            factor = Operand((), gradient.data_type)
            into = tape.constant(
                *parameter.shape, data_type=parameter.data_type, layout=parameter.layout
            )
            plain = Value(into.shape, into.data_type, into.storage)
            name, one = "torch::distributed::reducer::mul_out", (gradient,)
            tape.run(name, "aclnnMuls", "Muls", one, written=(plain,), extra=(factor,))
            self.gradients[place] = into
            if self.copies_back:
                tape.hold(gradient, until=self._cleared)
        else:
            self.gradients[place] = gradient
            tape.hold(gradient, until=self._cleared)
        bucket = self._buckets.get(place)
        if bucket is not None:
            bucket.missing -= 1
            if summed and not bucket.missing:
                item, _ = tape.collective(
                    "allReduce", bucket.dimension, bucket.elements, bucket.data_type
                )
                self.summing.append((item, bucket))

    def _close_buckets(self) -> None:
        """Before the engine returns, the compute stream waits for all sums."""
        with self.tape.backward_thread():
            for item, bucket in self.summing:
                self.tape.wait(item)
                for parameter in bucket.parameters if self.copies_back else ():
                    copy(self.tape, self.gradients[id(parameter)])


def copy(tape: Tape, x: Value) -> None:
    """Copy a sum from its bucket to the gradient."""
    name = "torch.distributed.ddp.reducer::copy_bucket_to_grad"
    if x.size < COPIED_BYTES:
        tape.copy_over(name, x)
        return
    tape.call(name, "aclnnInplaceCopy", (x, x))
    tape.vector("TensorMove", "aclnnInplaceCopy", (x,), (x,))


def adam(training: Training) -> None:
    """One fused kernel for each parameter."""
    tape = training.tape
    with tape.frame("torch_npu/optim/npu_fused_adamw.py(247): step"):
        for parameter in tape.parameters:
            gradient = training.gradients.get(id(parameter))
            if gradient is None:
                continue
            moments = tape.constant(2 * parameter.elements, data_type="FLOAT")
            first, second = (moments.view(*parameter.shape) for _ in range(2))
            inputs = (parameter, first, second, gradient)
            name, kind, own = "npu::npu_apply_adam_w", "ApplyAdamWV2", inputs[:3]
            tape.run(name, f"aclnn{kind}", kind, inputs, written=own)
