"""Training of a recommendation network: embedding tables, their interactions, and dense layers.

Some of the sparse features go through AI CPU kernels, as where an operator has no kernel for the
cores.
"""

from __future__ import annotations

from itertools import pairwise

from ..choices import ModelChoice, Parallelism
from ..hardware.model import Machine
from .kernels import Operand
from .layers import embedding, linear, relu
from .model import Dimension, Program
from .parallel import Pipeline
from .tape import Tape
from .training import Training, adam
from .values import Parameter, Value

DENSE_FEATURES = 13
UNIQUE_EVERY = 4
"""One in so many tables has its numbers made unique first."""
BUCKETS = (524_288, 13_107_200)
"""DistributedDataParallel's 1 MB and 25 MB, in elements of FLOAT16."""
FRAMES = ("{project}/dlrm.py(611): train", "{project}/dlrm.py(402): forward")
Weights = list[tuple[Parameter, Parameter]]


class Recommender:
    """The weights, and one pass to the loss."""

    def __init__(self, tape: Tape, choice: ModelChoice) -> None:
        """``layers`` dense layers of ``hidden`` above the tables, half as many below."""
        self.tape = tape
        self.choice = choice
        width, hidden = choice.width, choice.hidden
        below = [DENSE_FEATURES, *[hidden] * (choice.layers // 2), width]
        features = choice.tables + 1
        above = [features * features + width, *[hidden] * choice.layers, 1]
        self.tables = [
            tape.parameter(choice.rows, width, data_type=choice.data_type)
            for _ in range(choice.tables)
        ]
        self.below = self._weights(below)
        self.above = self._weights(above)

    def _weights(self, widths: list[int]) -> Weights:
        kind = self.choice.data_type
        return [
            (
                self.tape.parameter(out, inner, data_type=kind),
                self.tape.parameter(out, data_type=kind),
            )
            for inner, out in pairwise(widths)
        ]

    def __call__(self, _: Value | None) -> Value:
        """One batch: to the loss."""
        tape, choice = self.tape, self.choice
        batch, kind = choice.batch, choice.data_type
        with tape.frame(FRAMES[0]):
            dense = tape.copy_in(batch, DENSE_FEATURES, data_type=kind)
            sparse = tape.copy_in(choice.tables, batch, data_type="INT64")
            labels = tape.copy_in(batch, 1, data_type=kind)
            with tape.frame(FRAMES[1]), tape.module("DLRM"):
                with tape.module("MLP"):
                    below = self._dense(self._bucketized(dense), self.below)
                with tape.module("EmbeddingBagCollection"):
                    rows = [self._look_up(place, sparse) for place in range(choice.tables)]
                with tape.module("InteractionArch"):
                    crossed = self._interact([below, *rows], below)
                with tape.module("MLP"):
                    scores = self._dense(crossed, self.above, ends_plain=True)
            with tape.module("BCELoss"):
                return self._loss(scores, labels)

    def _bucketized(self, dense: Value) -> Value:
        tape, new = self.tape, (dense.shape, self.choice.data_type)
        (made,) = tape.run(
            "aten::bucketize", "aclnnBucketize", "Bucketize", (dense,), [(dense.shape, "INT32")]
        )
        return tape.run("npu::npu_dtype_cast", "aclnnCast", "Cast", (made,), [new])[0]

    def _dense(self, x: Value, weights: Weights, *, ends_plain: bool = False) -> Value:
        for place, (weight, bias) in enumerate(weights):
            x = linear(self.tape, x, weight, bias)
            if not (ends_plain and place == len(weights) - 1):
                x = relu(self.tape, x)
        return x

    def _look_up(self, place: int, sparse: Value) -> Value:
        tape, batch = self.tape, self.choice.batch
        tokens = Value((batch,), "INT64", sparse.storage)
        if place % UNIQUE_EVERY == 0:
            news = [tokens.like, tokens.like]
            tokens, _ = tape.run("aten::_unique2", "aclnnUnique2", "Unique", (tokens,), news)
        return embedding(tape, tokens, self.tables[place])

    def _interact(self, rows: list[Value], below: Value) -> Value:
        """All products of two features, joined with the dense ones."""
        tape, choice = self.tape, self.choice
        count, batch, width = len(rows), choice.batch, choice.width
        features = self._joined(rows, (batch, count, width))
        shape = (batch, count, count)
        made = self._products(features, features, shape, (batch, count, count, width))

        def backward(gradient: Value) -> list[Value]:
            size = (batch, count, width, count)
            twice = [self._products(gradient, features, features.shape, size) for _ in range(2)]
            return tape.run("aten::add", "aclnnAdd", "Add", twice, [twice[0].like])

        tape.differentiable(made, (features,), backward)
        flat = made.view(batch, count * count)
        return self._joined([flat, below], (batch, count * count + width))

    def _products(
        self, left: Value, right: Value, shape: tuple[int, ...], size: tuple[int, int, int, int]
    ) -> Value:
        tape, api = self.tape, "aclnnBatchMatMul"
        with tape.flops("bmm"):
            (made,) = tape.call("aten::bmm", api, (left, right), [(shape, left.data_type)])
            tape.matmul("BatchMatMulV2", api, (left, right), made, size)
        return made

    def _joined(self, parts: list[Value], shape: tuple[int, ...]) -> Value:
        tape = self.tape
        (made,) = tape.run("aten::cat", "aclnnCat", "ConcatD", parts, [(shape, parts[0].data_type)])
        back = "aten::split_with_sizes_copy", "aclnnSplitTensor", "SplitD"
        return tape.differentiable_by(made, parts, back, (None,))

    def _loss(self, scores: Value, labels: Value) -> Value:
        tape, kind = self.tape, scores.data_type
        name, kernel = "aten::sigmoid", "aclnnSigmoid"
        (likely,) = tape.run(name, kernel, "Sigmoid", (scores,), [scores.like])
        back = f"{name}_backward", f"{kernel}Backward", "SigmoidGrad"
        tape.differentiable_by(likely, (scores,), back, (None, likely))
        entropy, api = "aten::binary_cross_entropy", "aclnnBinaryCrossEntropy"
        (loss,) = tape.run(entropy, api, "BinaryCrossEntropy", (likely, labels), [((), kind)])

        def backward(gradient: Value) -> list[Value | None]:
            name, own = f"{entropy}_backward", f"{api}Backward"
            (made,) = tape.call(name, own, (gradient, likely, labels), [(likely.shape, kind)])
            seen = [Operand((), kind), *tape.see(likely, labels)]
            written = tape.see_new([made])
            tape.launch(tape.kernels.vector("BinaryCrossEntropyGrad", own, seen, written))
            return [made]

        return tape.differentiable(loss, (likely,), backward)


def recommender(choice: ModelChoice, machine: Machine, parallelism: Parallelism) -> Program:
    """A training step under DistributedDataParallel."""
    tape = Tape(machine)
    groups: dict[Dimension, int] = {"dp": parallelism.data}
    pipeline = Pipeline(tape, 1, 0)
    training = Training(tape, pipeline, groups, 1, BUCKETS, copies_back=True)
    training.step(Recommender(tape, choice), ((), ""), adam)
    return tape.program()
