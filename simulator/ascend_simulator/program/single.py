"""One operator, collective or copy alone: what their developers profile."""

from __future__ import annotations

from math import prod

from ..choices import ModelChoice, Parallelism
from ..hardware.model import Machine
from .cost import Heads, kinds
from .layers import attention_space
from .model import Program
from .parallel import all_gather, all_reduce
from .tape import Tape
from .values import Value

TWO_OPERANDS = frozenset(("Add", "Mul", "RealDiv", "Equal", "ReluGrad", "GeluGrad", "SigmoidGrad"))
COLLECTIVES = ("allReduce", "allGather")
"""They need several ranks."""
COPY = "memcpy"
"""From the host to the device, there, and back."""
SIDE = 3
"""Of a convolution's weight."""


def lone_operators() -> tuple[str, ...]:
    """All that can run alone, by name."""
    return (*kinds(), *COLLECTIVES, COPY)


def least_lengths(operator: str) -> int:
    """How many lengths the shape of an operator has at least. ``ValueError`` for one that is not
    modelled."""
    if operator in (*COLLECTIVES, COPY):
        return 1
    kind = kinds().get(operator)
    if kind is None:
        raise ValueError(f"{operator} is not an operator that is modelled")
    if kind.unit == "attention" or operator.startswith("Conv"):
        return 4
    return 3 if kind.unit == "cube" else 1


def single_operator(choice: ModelChoice, machine: Machine, parallelism: Parallelism) -> Program:
    """One call on operands that are already there, and a wait for its end.

    shape: of a product of matrices rows, inner length and columns (before them the batch); of
    attention batch, heads, tokens and width of a head; of a convolution its NCHW input, as many
    channels coming out; of all others the operands' shape. ``ValueError`` for an operator that
    nobody knows or a shape that it cannot have.
    """
    least = least_lengths(choice.operator)
    if len(choice.shape) < least:
        raise ValueError(f"{choice.operator} needs a shape of {least} lengths")
    tape = Tape(machine, differentiates=False)
    if choice.operator in COLLECTIVES:
        _collective(tape, choice, parallelism.data)
    elif choice.operator == COPY:
        x = tape.copy_in(*choice.shape, data_type=choice.data_type, pinned=True)
        name, api, kind = "aten::clone", "aclnnInplaceCopy", "TensorMove"
        tape.copy_out(tape.run(name, api, kind, (x,), [x.like])[0])
    else:
        unit = kinds()[choice.operator].unit
        {"cube": _cube, "attention": _attention}.get(unit, _vector)(tape, choice)
    tape.synchronize()
    return tape.program()


def _collective(tape: Tape, choice: ModelChoice, ranks: int) -> None:
    x = tape.constant(*choice.shape, data_type=choice.data_type)
    if choice.operator == "allReduce":
        all_reduce(tape, x, "dp")
    else:
        all_gather(tape, x, "dp", ranks)


def _call(
    tape: Tape, choice: ModelChoice, shape: tuple[int, ...], *inputs: Value, workspace: int = 0
) -> Value:
    name = choice.operator.partition("V")[0].lower()
    (made,) = tape.call(
        f"npu::npu_{name}",
        f"aclnn{choice.operator}",
        inputs,
        [(shape, choice.data_type)],
        workspace=workspace,
    )
    return made


def _vector(tape: Tape, choice: ModelChoice) -> None:
    count = 2 if choice.operator in TWO_OPERANDS else 1
    inputs = [tape.constant(*choice.shape, data_type=choice.data_type) for _ in range(count)]
    made = _call(tape, choice, choice.shape, *inputs)
    tape.vector(choice.operator, f"aclnn{choice.operator}", inputs, (made,))


def _cube(tape: Tape, choice: ModelChoice) -> None:
    if choice.operator.startswith("Conv"):
        _convolution(tape, choice)
        return
    batch, (m, k, n) = choice.shape[:-3], choice.shape[-3:]
    left = tape.constant(*batch, m, k, data_type=choice.data_type)
    right = tape.constant(*batch, k, n, data_type=choice.data_type)
    with tape.flops("mm"):
        made = _call(tape, choice, (*batch, m, n), left, right)
        api, size = f"aclnn{choice.operator}", (prod(batch), m, n, k)
        tape.matmul(choice.operator, api, (left, right), made, size)


def _convolution(tape: Tape, choice: ModelChoice) -> None:
    batch, channels, height, width = choice.shape[-4:]
    x = tape.constant(*choice.shape, data_type=choice.data_type)
    weight = tape.constant(channels, channels, SIDE, SIDE, data_type=choice.data_type)
    made = _call(tape, choice, choice.shape, x, weight)
    seen = tape.see(x, weight)
    (written,) = tape.see_new([made])
    products = batch * height * width * weight.elements
    kind, name = choice.operator, "_".join([f"aclnn{choice.operator}", *[choice.operator] * 2])
    size = (products, products, choice.shape[0])
    tape.launch(tape.kernels.convolution(kind, name, seen, written, *size))


def _attention(tape: Tape, choice: ModelChoice) -> None:
    batch, heads, tokens, width = choice.shape[-4:]
    shape = (batch, tokens, heads * width)
    inputs = [tape.constant(*shape, data_type=choice.data_type) for _ in range(3)]
    size = Heads(batch, heads, tokens, tokens, width, causal=False)
    # Of many tasks in one, the range shows on the device what belongs together.
    with tape.range(choice.operator, "default", on_device=True):
        made = _call(tape, choice, shape, *inputs, workspace=attention_space(tape))
        tape.attention(choice.operator, f"aclnn{choice.operator}", inputs, [made], size)
