"""Inference of a language model: one request's prefill, then token after token."""

from __future__ import annotations

from collections.abc import Sequence

from ..choices import ModelChoice, Parallelism
from ..hardware.model import Machine
from .cost import Heads
from .dense import Attention, Layer, Stage
from .kernels import Operand
from .layers import add, linear, rms_norm, rotary
from .model import Program
from .parallel import FORWARD_TAG, all_gather, receive, send
from .tape import Tape
from .values import Parameter, Value

TOKEN_TAG = 2
SCHEDULING_NS = 350_000
FRAMES = (
    "{project}/engine.py(88): step",
    "{project}/model_runner.py(204): execute_model",
)


class Server(Stage):
    """The part of one rank in answering a request."""

    def __init__(
        self, tape: Tape, choice: ModelChoice, parallelism: Parallelism, stage: int
    ) -> None:
        """All weights of the stage, and the keys and values that its layers keep."""
        most = choice.prompt + choice.generate
        super().__init__(tape, choice, parallelism, stage, (1, most))
        self.caches = [
            [
                tape.constant(choice.batch, most, layer.attention.width, data_type=choice.data_type)
                for _ in range(2)
            ]
            for layer in self.layers
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
                    tokens = tape.copy_in(choice.batch, length, data_type="INT64")
                x = self._input(tokens, length)
                for layer, caches in zip(self.layers, self.caches, strict=True):
                    x = self._layer(layer, caches, x, choice.prompt + number)
                tokens = self._output(x, more=number < choice.generate)

    def _input(self, tokens: Value | None, length: int) -> Value:
        choice = self.choice
        if self.first and tokens is not None:
            return self.embed(tokens)
        shape = (choice.batch, length, choice.hidden)
        return self._receive(shape, choice.data_type, FORWARD_TAG)

    def _layer(self, layer: Layer, caches: Sequence[Value], x: Value, keys: int) -> Value:
        tape = self.tape
        with tape.module("DecoderLayer"):
            normal = rms_norm(tape, x, layer.before)
            with tape.module("Attention"):
                x = add(tape, x, self._attend(layer.attention, caches, normal, keys))
            normal = rms_norm(tape, x, layer.between)
            with tape.module("MLP"):
                return add(tape, x, layer.forward(normal))

    def _attend(self, layer: Attention, caches: Sequence[Value], x: Value, keys: int) -> Value:
        """Attention over the cache, into which the new keys and values go first."""
        tape, kind = self.tape, x.data_type
        batch, length, _ = x.shape
        joined = linear(tape, x, layer.inward)
        shape = (batch, length, layer.width)
        query, key, value = (Value(shape, kind, joined.storage) for _ in range(3))
        angles = [Value((1, length, angle.shape[2]), kind, angle.storage) for angle in self.angles]
        query, key = (rotary(tape, part, *angles) for part in (query, key))
        for cache, new in zip(caches, (key, value), strict=True):
            self._keep(cache, new)
        prefill = length > 1
        api = "aclnnPromptFlashAttentionV3" if prefill else "aclnnIncreFlashAttentionV4"
        name = "npu::npu_prompt_flash_attention" if prefill else "npu::npu_incre_flash_attention"
        inputs = (query, *caches)
        (made,) = tape.call(name, api, inputs, [(shape, kind)])
        seen = [
            tape.see(query)[0],
            *[
                Operand((batch, keys, layer.width), kind, cold=operand.cold)
                for operand in tape.see(*caches)
            ],
        ]
        size = Heads(batch, layer.heads, length, keys, layer.width // layer.heads, causal=prefill)
        kernel = "PromptFlashAttention" if prefill else "IncreFlashAttention"
        tape.launch(tape.kernels.attention(kernel, api, seen, tape.see_new([made]), size))
        return self.tensor.join(linear(tape, made, layer.outward))

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
            tape.copy_out(tokens)
            if self.first:
                return tokens
            if more:
                tape.wait(send(tape, tokens, 1, TOKEN_TAG))
        return self._receive(shape, "INT64", TOKEN_TAG) if self.first and more else None

    def _sample(self, x: Value, norm: Parameter, weight: Parameter) -> Value:
        tape, choice = self.tape, self.choice
        newest = Value((choice.batch, 1, choice.hidden), x.data_type, x.storage)
        with tape.module("LogitsProcessor"):
            scores = linear(tape, rms_norm(tape, newest, norm), weight)
            if self.tensor.size > 1:
                scores = self._side_by_side(all_gather(tape, scores, "tp", self.tensor.size))
            new = ((choice.batch, 1), "INT64")
            return tape.run("aten::argmax", "aclnnArgMax", "ArgMaxV2", (scores,), [new])[0]

    def _side_by_side(self, gathered: Value) -> Value:
        """The scores of every rank, gathered one rank after the other, as rows of all words."""
        tape, api, size = self.tape, "aclnnInplaceCopy", self.tensor.size
        batch, words = self.choice.batch, gathered.shape[-1]
        stacked = gathered.view(size, batch, words)
        shape = (batch, size, words)
        new, axes = (shape, gathered.data_type), Operand((3,), "INT64")
        (made,) = tape.run("aten::reshape", api, "Transpose", (stacked,), [new], extra=(axes,))
        return made.view(batch, 1, size * words)

    def _receive(self, shape: tuple[int, ...], data_type: str, tag: int) -> Value:
        item, made = receive(self.tape, (shape, data_type), -1, tag)
        self.tape.wait(item)
        return made


def server(choice: ModelChoice, machine: Machine, parallelism: Parallelism, stage: int) -> Program:
    """A step is one request."""
    tape = Tape(machine, differentiates=False)
    Server(tape, choice, parallelism, stage).answer()
    tape.synchronize()
    return tape.program()
