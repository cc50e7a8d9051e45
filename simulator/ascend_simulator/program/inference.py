"""Inference of a language model: one request's prefill, then token after token."""

from __future__ import annotations

from ..choices import ModelChoice, Parallelism
from ..hardware.model import Machine
from .dense import layers_of
from .kernels import Operand
from .layers import add, embedding, linear, rms_norm, rotary, swiglu
from .model import Program
from .parallel import FORWARD_TAG, all_gather, all_reduce, feed_forward_width, receive, send
from .tape import Tape
from .values import Parameter, Value

TOKEN_TAG = 2
SCHEDULING_NS = 350_000
FRAMES = (
    "{project}/engine.py(88): step",
    "{project}/model_runner.py(204): execute_model",
)


class Layer:
    """The weights of one layer, and its part of the cache."""

    def __init__(self, tape: Tape, choice: ModelChoice, tensor: int) -> None:
        """``tensor``: ranks that share the layer."""
        kind, hidden = choice.data_type, choice.hidden
        self.width = choice.hidden // tensor
        inner = feed_forward_width(choice, tensor)
        self.before = tape.parameter(hidden, data_type=kind)
        self.inward = tape.parameter(3 * self.width, hidden, data_type=kind)
        self.outward = tape.parameter(hidden, self.width, data_type=kind)
        self.between = tape.parameter(hidden, data_type=kind)
        self.up = tape.parameter(2 * inner, hidden, data_type=kind)
        self.down = tape.parameter(hidden, inner, data_type=kind)
        most = choice.prompt + choice.generate
        self.caches = [
            tape.constant(choice.batch, most, self.width, data_type=kind) for _ in range(2)
        ]


class Server:
    """The part of one rank in answering a request."""

    def __init__(
        self, tape: Tape, choice: ModelChoice, parallelism: Parallelism, stage: int
    ) -> None:
        """All weights of the stage."""
        self.tape = tape
        self.choice = choice
        self.tensor = parallelism.tensor
        self.heads = choice.heads // parallelism.tensor
        self.alone = parallelism.pipeline == 1
        self.first = stage == 0
        self.last = stage == parallelism.pipeline - 1
        rows, kind = -(-choice.vocabulary // parallelism.tensor), choice.data_type
        self.table = tape.parameter(rows, choice.hidden, data_type=kind) if self.first else None
        self.layers = [
            Layer(tape, choice, parallelism.tensor)
            for _ in range(layers_of(stage, choice, parallelism))
        ]
        self.head: tuple[Parameter, Parameter] | None = None
        if self.last:
            norm = tape.parameter(choice.hidden, data_type=kind)
            self.head = norm, tape.parameter(rows, choice.hidden, data_type=kind)
        self.angles = [
            tape.constant(
                1, choice.prompt + choice.generate, choice.hidden // choice.heads, data_type=kind
            )
            for _ in range(2)
        ]

    def answer(self) -> None:
        """Prefill, then one pass for each token that is generated."""
        tape, choice = self.tape, self.choice
        tape.prepare("Scheduler.schedule", SCHEDULING_NS)
        tokens: Value | None = None
        for number in range(1 + choice.generate):
            length = choice.prompt if number == 0 else 1
            with tape.frame(FRAMES[0]), tape.frame(FRAMES[1]):
                if self.first and tokens is None:
                    tokens = tape.copy_in("aten::to", choice.batch, length, data_type="INT64")
                x = self._input(tokens, length)
                for layer in self.layers:
                    x = self._layer(layer, x, choice.prompt + number)
                tokens = self._output(x, more=number < choice.generate)

    def _input(self, tokens: Value | None, length: int) -> Value:
        tape, choice = self.tape, self.choice
        if self.table is not None and tokens is not None:
            with tape.module("VocabParallelEmbedding"):
                return self._joined(embedding(tape, tokens, self.table))
        shape = (choice.batch, length, choice.hidden)
        return self._receive(shape, choice.data_type, FORWARD_TAG)

    def _layer(self, layer: Layer, x: Value, keys: int) -> Value:
        tape = self.tape
        with tape.module("DecoderLayer"):
            normal = rms_norm(tape, x, layer.before)
            with tape.module("Attention"):
                x = add(tape, x, self._attend(layer, normal, keys))
            normal = rms_norm(tape, x, layer.between)
            with tape.module("MLP"):
                inner = swiglu(tape, linear(tape, normal, layer.up))
                return add(tape, x, self._joined(linear(tape, inner, layer.down)))

    def _attend(self, layer: Layer, x: Value, keys: int) -> Value:
        """Attention over the cache, into which the new keys and values go first."""
        tape, kind = self.tape, x.data_type
        batch, length, _ = x.shape
        joined = linear(tape, x, layer.inward)
        shape = (batch, length, layer.width)
        query, key, value = (Value(shape, kind, joined.storage) for _ in range(3))
        angles = [Value((1, length, angle.shape[2]), kind, angle.storage) for angle in self.angles]
        query, key = (rotary(tape, part, *angles) for part in (query, key))
        for cache, new in zip(layer.caches, (key, value), strict=True):
            self._keep(cache, new)
        prefill = length > 1
        api = "aclnnPromptFlashAttentionV3" if prefill else "aclnnIncreFlashAttentionV4"
        name = "npu::npu_prompt_flash_attention" if prefill else "npu::npu_incre_flash_attention"
        inputs = (query, *layer.caches)
        (made,) = tape.call(name, api, inputs, [(shape, kind)])
        seen = [
            tape.see(query)[0],
            *[
                Operand((batch, keys, layer.width), kind, cold=operand.cold)
                for operand in tape.see(*layer.caches)
            ],
        ]
        size = (batch, self.heads, length, keys, layer.width // self.heads)
        kernel = "PromptFlashAttention" if prefill else "IncreFlashAttention"
        tape.launch(tape.kernels.attention(kernel, api, seen, tape.see_new([made]), size))
        return self._joined(linear(tape, made, layer.outward))

    def _keep(self, cache: Value, new: Value) -> None:
        tape, api = self.tape, "aclnnInplaceScatterUpdate"
        tape.call("npu::scatter_update_", api, (cache, new))
        (seen,) = tape.see(new)
        target = Operand(cache.shape, cache.data_type, moved=new.size)
        index = Operand((cache.shape[0],), "INT64")
        tape.launch(tape.kernels.vector("ScatterUpdate", api, [target, index, seen], [target]))

    def _output(self, x: Value, *, more: bool) -> Value | None:
        """The next tokens, on the first stage; None elsewhere and after the last."""
        tape, choice = self.tape, self.choice
        shape = (choice.batch, 1)
        if self.head is None:
            tape.wait(send(tape, x, 1, FORWARD_TAG))
        else:
            tokens = self._sample(x, *self.head)
            tape.copy_out("aten::to", tokens)
            if self.alone:
                return tokens
            if more:
                tape.wait(send(tape, tokens, 1, TOKEN_TAG))
        return self._receive(shape, "INT64", TOKEN_TAG) if self.first and more else None

    def _sample(self, x: Value, norm: Parameter, weight: Parameter) -> Value:
        tape, choice = self.tape, self.choice
        newest = Value((choice.batch, 1, choice.hidden), x.data_type, x.storage)
        with tape.module("LogitsProcessor"):
            scores = linear(tape, rms_norm(tape, newest, norm), weight)
            if self.tensor > 1:
                scores = self._side_by_side(all_gather(tape, scores, "tp", self.tensor))
            new = ((choice.batch, 1), "INT64")
            return tape.run("aten::argmax", "aclnnArgMax", "ArgMaxV2", (scores,), [new])[0]

    def _side_by_side(self, gathered: Value) -> Value:
        """The scores of every rank, gathered one rank after the other, as rows of all words."""
        tape, api = self.tape, "aclnnInplaceCopy"
        batch, words = self.choice.batch, gathered.shape[-1]
        stacked = gathered.view(self.tensor, batch, words)
        shape = (batch, self.tensor, words)
        new, axes = (shape, gathered.data_type), Operand((3,), "INT64")
        (made,) = tape.run("aten::reshape", api, "Transpose", (stacked,), [new], extra=(axes,))
        return made.view(batch, 1, self.tensor * words)

    def _joined(self, x: Value) -> Value:
        return all_reduce(self.tape, x, "tp") if self.tensor > 1 else x

    def _receive(self, shape: tuple[int, ...], data_type: str, tag: int) -> Value:
        item, made = receive(self.tape, (shape, data_type), -1, tag)
        self.tape.wait(item)
        return made


def server(choice: ModelChoice, machine: Machine, parallelism: Parallelism, stage: int) -> Program:
    """A step is one request."""
    tape = Tape(machine, differentiates=False)
    Server(tape, choice, parallelism, stage).answer()
    tape.synchronize("aten::item")
    return tape.program()
