"""The cost of attention, norms and activations against real kernels: fitted ones and others."""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from ascend_simulator.program.cost import Heads
from ascend_simulator.program.kernels import Kernels, Operand

COSTS = Path(__file__).parents[2] / "benchmarks" / "costs.py"


@pytest.fixture(scope="module")
def costs() -> ModuleType:
    spec = importlib.util.spec_from_file_location("costs_benchmark", COSTS)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_fitted_kernels_are_near_what_they_were_fitted_to(costs: ModuleType) -> None:
    if not costs.REAL.is_file():
        pytest.skip(f"{costs.REAL} is not there")
    rows = [row for row in costs.rows_of(costs.REAL) if row.kind in costs.FITTED]
    assert len(rows) == 448
    for row in rows:
        found = costs.modelled(costs.LLM, row, costs.FITTED[row.kind])
        assert row.duration / 1.5 < found < row.duration * 1.5, row


def test_causal_attention_of_another_program_and_year_is_near(costs: ModuleType) -> None:
    bounds = {"FlashAttentionScore": 1.1, "FlashAttentionScoreGrad": 1.5}
    causal = [one for one in costs.ELSEWHERE if one[0].startswith("causal")]
    assert len(causal) == len(bounds)
    for _, chip, row in causal:
        found = costs.modelled(chip, row, costs.FITTED[row.kind])
        assert row.duration / bounds[row.kind] < found < row.duration * bounds[row.kind]


def attention(costs: ModuleType, data_type: str, heads: Heads, *, key_width: int = 2048) -> int:
    query = Operand((4096, 1, 2048), data_type)
    key = Operand((4096, 1, key_width), data_type)
    kind = "FlashAttentionScore"
    kernel = Kernels(costs.LLM).attention(kind, "aclnn", [query, key, key], [query], heads)
    return kernel.duration


def test_attention_costs_by_its_type(costs: ModuleType) -> None:
    """The cube needs four times as long for FLOAT; a causal mask spares half of the scores; what
    fewer heads of keys and values spare is traffic, which is not the limit here."""
    causal = Heads(1, 16, 4096, 4096, 128, causal=True)
    short = attention(costs, "DT_BF16", causal)
    assert attention(costs, "FLOAT", causal) > 2 * short
    full = attention(costs, "DT_BF16", replace(causal, causal=False))
    assert 1.9 * short < full < 2 * short
    assert attention(costs, "DT_BF16", causal, key_width=1024) == short
    longer = attention(costs, "DT_BF16", replace(causal, queries=8192, keys=8192))
    assert 3.9 * short < longer < 4 * short
    token = attention(costs, "DT_BF16", Heads(1, 16, 1, 4096, 128, causal=False))
    assert token < short // 10
