"""Transformer decoders: the part of one rank, cut by tensor and pipeline parallelism."""

from __future__ import annotations

from collections.abc import Sequence

from ..choices import ModelChoice, Parallelism
from ..hardware.model import Machine
from .layers import (
    add,
    attention,
    cast,
    cross_entropy,
    embedding,
    linear,
    rms_norm,
    rotary,
    swiglu,
)
from .model import Dimension, Program
from .moe import Experts
from .parallel import (
    Pipeline,
    TensorParallel,
    all_reduce,
    feed_forward_width,
    sequence_parallel,
)
from .tape import Tape
from .training import Training, adam
from .values import Parameter, Value

TRANSFORMER_FRAMES = (
    "{project}/pretrain_gpt.py(126): main",
    "{project}/megatron/training/training.py(1021): train_step",
)


class Attention:
    """Self-attention, whose heads are shared out over the tensor-parallel ranks."""

    def __init__(self, tape: Tape, choice: ModelChoice, tensor: TensorParallel) -> None:
        """The weights of one layer."""
        self.tape = tape
        self.tensor = tensor
        self.heads = max(1, choice.heads // tensor.size)
        self.width = self.heads * (choice.hidden // choice.heads)
        self.inward = tape.parameter(3 * self.width, choice.hidden, data_type=choice.data_type)
        self.outward = tape.parameter(choice.hidden, self.width, data_type=choice.data_type)

    def __call__(self, x: Value, angles: tuple[Value, Value]) -> Value:
        """Of a normalised (sequence, batch, hidden) tensor."""
        tape = self.tape
        joined = linear(tape, self.tensor.share(x), self.inward)
        length, batch, _ = joined.shape
        shape = (length, batch, self.width)
        query, key, value = tape.split(joined, [shape] * 3, self._join)
        query = rotary(tape, query, *angles)
        key = rotary(tape, key, *angles)
        made = attention(tape, query, key, value, self.heads)
        return self.tensor.join(linear(tape, made, self.outward))

    def _join(self, parts: Sequence[Value]) -> Value:
        length, batch, width = parts[0].shape
        shape = (length, batch, width * len(parts))
        new = (shape, parts[0].data_type)
        (made,) = self.tape.run("aten::cat", "aclnnCat", "ConcatD", parts, [new])
        return made


class FeedForward:
    """The gated feed-forward part of a layer."""

    def __init__(self, tape: Tape, choice: ModelChoice, tensor: TensorParallel) -> None:
        """The weights of one layer."""
        width = feed_forward_width(choice, tensor.size)
        self.tape = tape
        self.tensor = tensor
        self.inward = tape.parameter(2 * width, choice.hidden, data_type=choice.data_type)
        self.outward = tape.parameter(choice.hidden, width, data_type=choice.data_type)

    def __call__(self, x: Value) -> Value:
        """Of a normalised (sequence, batch, hidden) tensor."""
        inner = swiglu(self.tape, linear(self.tape, self.tensor.share(x), self.inward))
        return self.tensor.join(linear(self.tape, inner, self.outward))


class Layer:
    """Attention and a feed-forward part (or experts), each after a norm and with a residual."""

    def __init__(
        self, tape: Tape, choice: ModelChoice, parallelism: Parallelism, tensor: TensorParallel
    ) -> None:
        """The weights of one layer."""
        self.tape = tape
        self.before = tape.parameter(choice.hidden, data_type=choice.data_type)
        self.attention = Attention(tape, choice, tensor)
        self.between = tape.parameter(choice.hidden, data_type=choice.data_type)
        self.forward: FeedForward | Experts = (
            Experts(tape, choice, parallelism)
            if choice.kind == "moe"
            else FeedForward(tape, choice, tensor)
        )

    def __call__(self, x: Value, angles: tuple[Value, Value]) -> Value:
        """Of a (sequence, batch, hidden) tensor."""
        tape = self.tape
        with tape.module("TransformerLayer"):
            with tape.module("RMSNorm"):
                normal = rms_norm(tape, x, self.before)
            with tape.module("SelfAttention"):
                attended = self.attention(normal, angles)
            x = add(tape, x, attended)
            with tape.module("RMSNorm"):
                normal = rms_norm(tape, x, self.between)
            with tape.module("MLP" if isinstance(self.forward, FeedForward) else "MoELayer"):
                made = self.forward(normal)
            return add(tape, x, made)


class Stage:
    """The layers of one pipeline stage, with the embedding or the weights of scores at the ends."""

    def __init__(
        self,
        tape: Tape,
        choice: ModelChoice,
        parallelism: Parallelism,
        stage: int,
        places: tuple[int, int],
    ) -> None:
        """All weights of the stage. places: leading shape of the angles of positions."""
        self.tape = tape
        self.choice = choice
        self.first = stage == 0
        self.last = stage == parallelism.pipeline - 1
        self.tensor = TensorParallel(tape, parallelism, sequence_parallel(choice, parallelism))
        rows = -(-choice.vocabulary // parallelism.tensor)
        shape = (rows, choice.hidden)
        self.table = tape.parameter(*shape, data_type=choice.data_type) if self.first else None
        whole, rest = divmod(choice.layers, parallelism.pipeline)
        layers = whole + (stage < rest)  # as even as possible, more at the beginning
        self.layers = [Layer(tape, choice, parallelism, self.tensor) for _ in range(layers)]
        self.head: tuple[Parameter, Parameter] | None = None
        if self.last:
            norm = tape.parameter(choice.hidden, data_type=choice.data_type)
            self.head = norm, tape.parameter(*shape, data_type=choice.data_type)
        angles = *places, choice.hidden // choice.heads
        self.angles = (
            tape.constant(*angles, data_type=choice.data_type),
            tape.constant(*angles, data_type=choice.data_type),
        )

    def embed(self, tokens: Value) -> Value:
        """The rows of the table for tokens; only the first stage has one."""
        if self.table is None:
            raise ValueError("only the first stage embeds")
        with self.tape.module("VocabParallelEmbedding"):
            return self.tensor.join(embedding(self.tape, tokens, self.table))


class Decoder(Stage):
    """A stage in training: passes to the output for the next one, or to the loss."""

    @property
    def transfer(self) -> tuple[tuple[int, ...], str]:
        """Shape and type of what stages send each other."""
        choice = self.choice
        length = choice.sequence // (self.tensor.size if self.tensor.by_sequence else 1)
        return (length, choice.batch, choice.hidden), choice.data_type

    def __call__(self, x: Value | None) -> Value:
        """One micro-batch: to the output for the next stage, or to the loss."""
        tape, choice = self.tape, self.choice
        tokens = (choice.sequence, choice.batch)
        with tape.frame(TRANSFORMER_FRAMES[0]), tape.frame(TRANSFORMER_FRAMES[1]):
            if x is None:
                x = self.embed(tape.copy_in(*tokens, data_type="INT64", pinned=True))
            for layer in self.layers:
                x = layer(x, self.angles)
            if self.head is None:
                return x
            labels = tape.copy_in(*tokens, data_type="INT64", pinned=True)
            return self._loss(x, labels, *self.head)

    def _loss(self, x: Value, labels: Value, norm: Parameter, weight: Parameter) -> Value:
        tape, rows = self.tape, self.choice.sequence * self.choice.batch
        with tape.module("RMSNorm"):
            x = rms_norm(tape, x, norm)
        with tape.module("ColumnParallelLinear"):
            logits = linear(tape, self.tensor.share(x), weight)
        with tape.module("CrossEntropyLoss"):
            logits = cast(tape, logits, "FLOAT").view(rows, weight.shape[0])
            loss = cross_entropy(tape, logits, labels.view(rows))
            if self.tensor.size > 1:
                all_reduce(tape, tape.constant(rows, data_type="FLOAT"), "tp")
            return loss


def transformer(
    choice: ModelChoice, machine: Machine, parallelism: Parallelism, stage: int
) -> Program:
    """A training step of a dense or mixture-of-experts transformer."""
    tape = Tape(machine)
    decoder = Decoder(tape, choice, parallelism, stage, (choice.sequence, 1))
    groups: dict[Dimension, int] = {
        "dp": parallelism.data,
        "edp": parallelism.data // parallelism.expert,
    }
    pipeline = Pipeline(tape, parallelism.pipeline, stage)
    training = Training(tape, pipeline, groups, choice.microbatches)
    training.step(decoder, decoder.transfer, adam)
    return tape.program()
