"""Hypothesis strategies for kernels; they shrink towards one small addition on one core.

Needs Hypothesis, which the extra ``strategies`` installs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

try:
    from hypothesis import assume
    from hypothesis import strategies as st
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError(
        "ascend_simulator.operator.strategies needs hypothesis; expected the extra: "
        "pip install 'ascend-ref[strategies]'",
        name=missing.name,
    ) from missing

from .chip import chip, chip_names
from .choices import (
    Capture,
    Conditions,
    DataType,
    Device,
    KernelScenario,
    Mode,
    Operator,
    OperatorKind,
    Tiling,
)
from .scenario.consistency import TYPES, needs, problems

KINDS: tuple[OperatorKind, ...] = get_args(OperatorKind)
MODES: tuple[Mode, ...] = get_args(Mode)


@st.composite
def kernel_scenarios(
    draw: st.DrawFn,
    *,
    max_blocks: int = 4,
    kinds: Sequence[OperatorKind] = KINDS,
    modes: Sequence[Mode] = MODES,
    chips: Sequence[str] | None = None,
) -> KernelScenario:
    """Any possible scenario of a small kernel on at most so many blocks."""
    kind = draw(st.sampled_from(kinds))
    able = [name for name in chips or chip_names() if needs(kind, chip(name)) is None]
    assume(able)
    types: list[DataType] = [one for one in get_args(DataType) if one in TYPES[kind]]
    allowed = [mode for mode in modes if kind != "gather" or mode != "simulator"]
    assume(allowed)
    scenario = KernelScenario(
        name="drawn",
        operator=Operator(kind, draw(_shapes(kind)), draw(st.sampled_from(types))),
        device=Device(
            chip=draw(st.sampled_from(able)),
            block_dim=draw(st.integers(1, max_blocks)),
            frequency=draw(st.none() | st.integers(800, 1000)),
        ),
        tiling=Tiling(
            elements=draw(st.none() | st.integers(16, 2048)),
            buffers=draw(st.sampled_from([2, 1, 3])),
        ),
        conditions=Conditions(
            imbalance=draw(st.sampled_from([1000, 1500, 3000])),
            slow_core=draw(st.sampled_from([1000, 1700])),
            l2_hit_rate=draw(st.none() | st.integers(0, 1000)),
            bank_conflicts=draw(st.sampled_from([0, 200])),
        ),
        capture=Capture(
            mode=draw(st.sampled_from(allowed)),
            memory_detail=draw(st.booleans()),
            access_bytes=draw(st.sampled_from([512, 128, 4096])),
        ),
    )
    assume(not any(problems(scenario)))
    return scenario


def _shapes(kind: OperatorKind) -> st.SearchStrategy[tuple[int, ...]]:
    match kind:
        case "softmax":
            return st.tuples(st.integers(1, 64), st.integers(1, 300))
        case "matmul" | "matmul-leakyrelu":
            return st.tuples(st.integers(1, 300), st.integers(1, 200), st.integers(1, 400))
        case "flash-attention":
            tokens = st.sampled_from([16, 32, 96])
            return st.tuples(
                st.integers(1, 2), st.integers(1, 2), tokens, st.sampled_from([16, 64])
            )
        case "gather":
            return st.tuples(st.integers(1, 500), st.integers(1, 80), st.integers(1, 600))
    return st.tuples(st.integers(1, 20_000)) | st.tuples(st.integers(1, 40), st.integers(1, 500))
