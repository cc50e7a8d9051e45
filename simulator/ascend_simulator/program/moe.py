"""Mixture of experts: gating, exchange of tokens between ranks, and grouped products.

How many tokens a rank's experts get differs from run to run: all kernels that work on them have
variants, and those of one pass through one layer share a load, so that they draw the same one. The
exchanges before and after them have the same load. The experts of one rank share its tokens evenly.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace

from ..choices import ModelChoice, Parallelism
from .kernels import Operand
from .layers import linear
from .model import Routed
from .parallel import all_gather, collective, feed_forward_width
from .tape import Tape
from .values import Parameter, Value

LOADS = (1000, 620, 740, 830, 900, 960)
"""Tokens that a rank's experts get, in thousandths of an even share. As many loads again follow in
the reverse order, where they get as much more: the n-th and the n-th last make two even shares."""
ROUNDED = 16
GROUPED = "aclnnGroupedMatmulV4"


class Experts:
    """The experts of one rank in one layer."""

    def __init__(self, tape: Tape, choice: ModelChoice, parallelism: Parallelism) -> None:
        """The weights of one layer."""
        self.tape = tape
        self.choice = choice
        self.ranks = parallelism.expert
        self.local = choice.experts // parallelism.expert
        self.width = feed_forward_width(choice, 1)
        kind, hidden = choice.data_type, choice.hidden
        self.gate = tape.parameter(choice.experts, hidden, data_type=kind)
        self.inward = tape.parameter(
            self.local, hidden, 2 * self.width, data_type=kind, dimension="edp"
        )
        self.outward = tape.parameter(
            self.local, self.width, hidden, data_type=kind, dimension="edp"
        )

    def __call__(self, x: Value) -> Value:
        """Of a normalised (sequence, batch, hidden) tensor."""
        tape, hidden = self.tape, self.choice.hidden
        tokens = x.elements // hidden
        flat = x.view(tokens, hidden)
        shares, indices = self._gate(flat)
        copies, places = self._permute(flat, indices)
        load = tape.new_load() if copies.shape[0] >= ROUNDED * self.ranks > ROUNDED else 0
        if self.ranks > 1:
            self._gather_counts(indices)
            copies = self._exchange(copies, load)
        inner = self._activate(self._grouped(copies, self.inward, load), load)
        made = self._grouped(inner, self.outward, load)
        if self.ranks > 1:
            made = self._exchange(made, load, back=True)
        return self._unpermute(made, places, shares, x)

    def _gate(self, x: Value) -> tuple[Value, Value]:
        """Shares and numbers of the experts of each token."""
        tape = self.tape
        logits = linear(tape, x, self.gate)
        shape = (x.shape[0], self.choice.top_k)
        shares, indices, _ = tape.run(
            "npu::npu_moe_gating_top_k_softmax",
            "aclnnMoeGatingTopKSoftmax",
            "MoeGatingTopKSoftmax",
            (logits,),
            [(shape, x.data_type), (shape, "INT32"), (shape, "INT32")],
        )
        back = "aten::_softmax_backward_data", "aclnnSoftmaxBackward", "SoftmaxGrad"
        return tape.differentiable_by(shares, (logits,), back, (logits, None, shares)), indices

    def _permute(self, x: Value, indices: Value) -> tuple[Value, Value]:
        """One copy of each token for each of its experts, sorted by expert, and their places."""
        tape, name, kind = self.tape, "npu::npu_moe_token_permute", "MoeTokenPermute"
        rows = indices.elements
        news = [((rows, x.shape[1]), x.data_type), ((rows,), "INT32")]
        made, places = tape.run(name, f"aclnn{kind}", kind, (x, indices), news)
        back = f"{name}_grad", f"aclnn{kind}Grad", f"{kind}Grad"
        return tape.differentiable_by(made, (x,), back, (None, places)), places

    def _unpermute(self, made: Value, places: Value, shares: Value, x: Value) -> Value:
        """Weighted sum of the experts' answers for each token."""
        tape, name, kind = self.tape, "npu::npu_moe_token_unpermute", "MoeTokenUnpermute"
        (out,) = tape.run(name, f"aclnn{kind}", kind, (made, places, shares), [x.like])
        back = f"{name}_grad", f"aclnn{kind}Grad", f"{kind}Grad"
        return tape.differentiable_by(out, (made, shares), back, (made, None, places, shares))

    def _gather_counts(self, indices: Value) -> None:
        """Ranks send each other the number of tokens of each expert; the host needs it, too."""
        tape, new = self.tape, ((self.choice.experts,), "INT64")
        (counts,) = tape.run("aten::histc", "aclnnHistc", "Histogram", (indices,), [new])
        tape.copy_out(all_gather(tape, counts, "ep", self.ranks))

    def _exchange(self, x: Value, load: int, back: bool = False) -> Value:
        tape = self.tape

        def send(rows: Value, back: bool) -> Value:
            """To the ranks that hold their experts, or back to those that they are of."""
            count, width = x.shape[0], x.shape[1]
            routed = Routed(load, tuple(self._counts(count, load)), width, back) if load else None
            return collective(tape, "alltoallv", "ep", rows.elements, rows, count, routed)

        return tape.differentiable(send(x, back), (x,), lambda gradient: [send(gradient, not back)])

    def _grouped(self, x: Value, weight: Parameter, load: int) -> Value:
        """Rows of each expert times its weight."""
        new = (x.shape[0], weight.shape[2]), x.data_type
        made = self._product(x, weight, new, load)

        def backward(gradient: Value) -> list[Value]:
            of_x = self._product(gradient, weight, x.like, load)
            return [of_x, self._product(x, gradient, weight.like, load)]

        return self.tape.differentiable(made, (x, weight), backward)

    def _product(
        self, left: Value, right: Value, new: tuple[tuple[int, ...], str], load: int
    ) -> Value:
        """A product for each expert: of its rows and its weight, or over its rows to a weight."""
        tape, (shape, _) = self.tape, new
        with nullcontext() if load else tape.flops("grouped_matmul"):
            (made,) = tape.call("npu::npu_grouped_matmul", GROUPED, (left, right), [new])
            operands = [*tape.see(left, right), *tape.see_new([made])]
            kernels = []
            for count in self._counts(left.shape[0], load):
                one, other, result = (_rows(operand, count) for operand in operands)
                rows, inner = -(-count // self.local), left.shape[1]
                if len(shape) == 3:
                    rows, inner = inner, rows
                seen = [one, other, Operand((self.local,), "INT64")]
                size = (self.local, rows, shape[-1], inner)
                kernels.append(tape.kernels.matmul("GroupedMatmul", GROUPED, seen, result, size))
            tape.launch(*kernels, load=load)
        return made

    def _activate(self, x: Value, load: int) -> Value:
        """The gated activation between the two products."""
        tape = self.tape
        shape = (x.shape[0], x.shape[1] // 2)
        (made,) = tape.call("npu::npu_swiglu", "aclnnSwiGlu", (x,), [(shape, x.data_type)])
        self._vector("SwiGlu", "aclnnSwiGlu", (x,), made, load)

        def backward(gradient: Value) -> list[Value | None]:
            name, api = "npu::npu_swiglu_backward", "aclnnSwiGluGrad"
            (of_x,) = tape.call(name, api, (gradient, x), [(x.shape, x.data_type)])
            self._vector("SwiGluGrad", api, (gradient, x), of_x, load)
            return [of_x]

        return tape.differentiable(made, (x,), backward)

    def _vector(
        self, kind: str, api: str, inputs: Sequence[Value], output: Value, load: int
    ) -> None:
        tape = self.tape
        seen = tape.see(*inputs)
        (written,) = tape.see_new([output])
        tape.launch(
            *[
                tape.kernels.vector(
                    kind, api, [_rows(one, count) for one in seen], [_rows(written, count)]
                )
                for count in self._counts(output.shape[0], load)
            ],
            load=load,
        )

    def _counts(self, rows: int, load: int) -> list[int]:
        """Tokens of each variant."""
        if not load:
            return [rows]
        light = [
            min(rows, max(ROUNDED, rows * share // 1000 // ROUNDED * ROUNDED))
            for share in LOADS[1:]
        ]
        return [rows, *light, *[2 * rows - count for count in light[::-1]], rows]


def _rows(operand: Operand, count: int) -> Operand:
    """The operand of so many tokens; a weight, of which each expert has a part, stays whole."""
    weight = len(operand.shape) == 3
    return operand if weight else replace(operand, shape=(count, *operand.shape[1:]))
