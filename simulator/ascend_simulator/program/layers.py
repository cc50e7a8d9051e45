"""Operators of networks: what each launches forward, and backward where it is differentiable."""

from __future__ import annotations

from contextlib import nullcontext
from math import prod

from .cost import Heads
from .kernels import Operand
from .tape import Tape
from .values import Parameter, Value

REDUCE_SCRATCH = ((1_024,), "UINT8")
"""What a sum needs in addition to its result."""
CAUSAL_MASK = Operand((2048, 2048), "BOOL")
"""Stands for the triangle of any length (msinsight test/st/level2 kernel_details.csv)."""
LARGE_PRODUCT = 32 << 20
"""From so many elements of the result on, a product of matrices runs as MatMulV3."""


def matmul(
    tape: Tape,
    name: str,
    api: str,
    left: Value,
    right: Value,
    size: tuple[int, ...],
    shape: tuple[int, ...],
    bias: Value | None = None,
) -> Value:
    """A product of matrices as an operator of its own; size: m, n, k; shape: that of the result."""
    m, n, k = size
    inputs = [left, right] if bias is None else [left, right, bias]
    kind = "MatMulV3" if tape.machine.chip.split and m * n >= LARGE_PRODUCT else "MatMulV2"
    clears = api == "aclnnMm" and left.data_type == "FLOAT" and kind == "MatMulV2"
    # A product of FLOAT adds up its parts in cleared memory (fixtures-2025-01). The range must hold
    # one kernel, so there it is left out.
    with nullcontext() if clears else tape.flops(api.removeprefix("aclnn").lower()):
        (made,) = tape.call(name, api, inputs, [(shape, left.data_type)])
        if clears:
            tape.launch(tape.kernels.clear(api, "MatMulCommon", made.size))
        tape.matmul(kind, api, inputs, made.view(m, n), (1, m, n, k))
    return made


def linear(tape: Tape, x: Value, weight: Parameter, bias: Parameter | None = None) -> Value:
    """``x`` (…, in) times ``weight`` (out, in), plus ``bias``."""
    out, width = weight.shape
    rows = prod(x.shape[:-1])
    flat = x.view(rows, width)
    name, api = ("aten::matmul", "aclnnMatmul") if bias is None else ("aten::linear", "aclnnAddmm")
    made = matmul(tape, name, api, flat, weight, (rows, out, width), (*x.shape[:-1], out), bias)

    def backward(gradient: Value) -> list[Value | None]:
        flat_gradient = gradient.view(rows, out)
        of_x = None
        if x.wants_gradient:
            of_x = matmul(
                tape, "aten::mm", "aclnnMm", flat_gradient, weight, (rows, width, out), x.shape
            )
        of_weight = matmul(
            tape, "aten::mm", "aclnnMm", flat_gradient, flat, (out, width, rows), weight.shape
        )
        if bias is None:
            return [of_x, of_weight]
        return [reduce_sum(tape, flat_gradient, 1, out).view(out), of_x, of_weight]

    inputs = (x, weight) if bias is None else (bias, x, weight)
    return tape.differentiable(made, inputs, backward)


def reduce_sum(tape: Tape, x: Value, *shape: int) -> Value:
    """Sum over the first axis; ``shape``: that of the result."""
    new = [(shape, x.data_type), REDUCE_SCRATCH]
    made, _ = tape.call("aten::sum", "aclnnReduceSum", (x,), new)
    axis = Operand((1,), "INT64")
    tape.vector("ReduceSum", "aclnnReduceSum", (x,), (made,), extra=(axis,))
    return made


def add(tape: Tape, left: Value, right: Value) -> Value:
    """Sum of two tensors, such as a residual connection."""
    (made,) = tape.run("aten::add", "aclnnAdd", "Add", (left, right), [left.like])
    return tape.differentiable(made, (left, right), lambda gradient: [gradient, gradient])


def cast(tape: Tape, x: Value, data_type: str) -> Value:
    """Another data type."""
    name, new = "npu::npu_dtype_cast", (x.shape, data_type)
    (made,) = tape.run(name, "aclnnCast", "Cast", (x,), [new])
    return tape.differentiable_by(made, (x,), (f"{name}_backward", "aclnnCast", "Cast"), (None,))


def rms_norm(tape: Tape, x: Value, weight: Parameter) -> Value:
    """Root mean square normalisation over the last axis."""
    statistics = (*x.shape[:-1], 1)
    name, new = "npu::npu_rms_norm", [x.like, (statistics, "FLOAT")]
    made, deviation = tape.run(name, "aclnnRmsNorm", "RmsNorm", (x, weight), new)

    def backward(gradient: Value) -> list[Value]:
        inputs, news = (gradient, x, deviation, weight), [x.like, (weight.shape, "FLOAT")]
        of_x, of_weight = tape.run(
            f"{name}_backward", "aclnnRmsNormGrad", "RmsNormGrad", inputs, news
        )
        if weight.data_type != of_weight.data_type:
            (of_weight,) = tape.run("aten::to", "aclnnCast", "Cast", (of_weight,), [weight.like])
        return [of_x, of_weight]

    return tape.differentiable(made, (x, weight), backward)


def swiglu(tape: Tape, x: Value) -> Value:
    """Gated activation: halves the last axis."""
    shape = (*x.shape[:-1], x.shape[-1] // 2)
    name, api, new = "npu::npu_swiglu", "aclnnSwiGlu", (shape, x.data_type)
    (made,) = tape.run(name, api, "SwiGlu", (x,), [new])
    return tape.differentiable_by(
        made, (x,), (f"{name}_backward", f"{api}Grad", "SwiGluGrad"), (None, x)
    )


def relu(tape: Tape, x: Value) -> Value:
    """In place."""
    tape.run("aten::relu_", "aclnnInplaceRelu", "Relu", (x,), written=(x,))
    name, api = "aten::threshold_backward", "aclnnThresholdBackward"
    return tape.in_place(
        x, lambda gradient: tape.run(name, api, "ReluGrad", (gradient, x), [gradient.like])[0]
    )


def rotary(tape: Tape, x: Value, cosine: Value, sine: Value) -> Value:
    """Rotary position embedding of queries or keys."""
    name, kind = "npu::npu_rotary_mul", "RotaryPositionEmbedding"
    (made,) = tape.run(name, f"aclnn{kind}", kind, (x, cosine, sine), [x.like])
    back = f"{name}_backward", f"aclnn{kind}Grad", f"{kind}Grad"
    return tape.differentiable_by(made, (x,), back, (None, cosine, sine))


def embedding(tape: Tape, tokens: Value, weight: Parameter) -> Value:
    """Rows of a table."""
    shape = (*tokens.shape, weight.shape[1])
    (made,) = tape.call(
        "aten::embedding", "aclnnEmbedding", (weight, tokens), [(shape, weight.data_type)]
    )
    table = Operand(weight.shape, weight.data_type, cold=True, moved=made.size)
    (indices,) = tape.see(tokens)
    axis = Operand((1,), "INT64")
    written = tape.see_new([made])
    tape.launch(tape.kernels.vector("GatherV2", "aclnnEmbedding", [table, indices, axis], written))

    def backward(gradient: Value) -> list[Value | None]:
        inputs = (gradient, tokens)
        name, api = "aten::embedding_dense_backward", "aclnnEmbeddingDenseBackward"
        (of_weight,) = tape.call(name, api, inputs, [weight.like])
        tape.launch(tape.kernels.clear(api, "EmbeddingDenseGradV2", of_weight.size))
        tape.vector("EmbeddingDenseGrad", api, inputs, (of_weight,))
        return [of_weight]

    return tape.differentiable(made, (weight,), backward)


def attention_space(tape: Tape) -> int:
    """Byte of workspace that a call of fused attention takes."""
    return tape.machine.chip.cube_cores << 20


def attention(tape: Tape, query: Value, key: Value, value: Value, heads: int) -> Value:
    """Causal fused attention of (sequence, batch, width) tensors."""
    length, batch, width = query.shape
    shape = Heads(batch, heads, length, length, width // heads, causal=True)
    statistics = (batch, heads, length, 8)
    inputs = (query, key, value)
    name, kind = "npu::npu_fusion_attention", "FlashAttentionScore"
    made, largest, total = tape.call(
        name,
        f"aclnn{kind}",
        inputs,
        [(query.shape, query.data_type), (statistics, "FLOAT"), (statistics, "FLOAT")],
        workspace=attention_space(tape),
    )
    outputs = [largest, total, made]
    tape.attention(kind, f"aclnn{kind}", inputs, outputs, shape, extra=(CAUSAL_MASK,))

    def backward(gradient: Value) -> list[Value | None]:
        needed, own = (query, key, value, gradient, largest, total, made), f"{kind}Grad"
        news, space = [part.like for part in inputs], 2 * attention_space(tape)
        gradients = tape.call(f"{name}_grad", f"aclnn{own}", needed, news, workspace=space)
        tape.attention(own, f"aclnn{own}", needed, gradients, shape, extra=(CAUSAL_MASK,))
        return list(gradients)

    return tape.differentiable(made, inputs, backward)


def cross_entropy(tape: Tape, logits: Value, labels: Value) -> Value:
    """Mean negative log likelihood of (rows, classes); the result is a scalar."""
    rows, classes = logits.shape
    api = "aclnnLogSoftmax"
    (likelihood,) = tape.run("aten::log_softmax", api, "LogSoftmaxV2", (logits,), [logits.like])
    back = "aten::_log_softmax_backward_data", f"{api}Backward", "LogSoftmaxGrad"
    tape.differentiable_by(likelihood, (logits,), back, (None, likelihood))
    weight = _ones(tape, classes, logits.data_type)
    made, total = tape.call(
        "aten::nll_loss_nd",
        "aclnnNLLLoss",
        (likelihood, labels, weight),
        [((), logits.data_type), ((), logits.data_type)],
    )
    tape.launch(tape.kernels.clear("aclnnNLLLoss", "NLLLossAiCore", 0))
    inputs = (likelihood.view(rows, classes), labels, weight)
    tape.vector("NLLLoss", "aclnnNLLLoss", inputs, (made, total))

    def loss_backward(gradient: Value) -> list[Value | None]:
        _ones(tape, classes, logits.data_type)
        needed = (likelihood, gradient, labels, weight, total)
        name, api = "aten::nll_loss_backward", "aclnnNLLLossBackward"
        indices, of_likelihood = tape.call(
            name, api, needed, [(labels.shape, "INT32"), ((rows, classes), logits.data_type)]
        )
        tape.vector("Cast", api, (labels,), (indices,))
        tape.vector(
            "NLLLossGrad", api, (likelihood, gradient, indices, weight, total), (of_likelihood,)
        )
        return [of_likelihood]

    return tape.differentiable(made, (likelihood,), loss_backward)


def _ones(tape: Tape, count: int, data_type: str) -> Value:
    (made,) = tape.call("aten::ones", "aclnnInplaceOne", (), [((count,), data_type)])
    tape.vector("OnesLike", "aclnnInplaceOne", (made,), (made,))
    return made


def ones_like(tape: Tape, x: Value) -> Value:
    """The gradient of a loss with respect to itself."""
    api = "aclnnInplaceFillScalar"
    (made,) = tape.call("aten::ones_like", api, (x,), [x.like])
    inputs = [Operand((1,), "INT64"), Operand((), x.data_type)]
    tape.see_new([made])
    tape.launch(tape.kernels.vector("Fill", api, inputs, [Operand((1,), x.data_type)]))
    return made
