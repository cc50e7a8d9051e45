"""Ground truth: which faults were injected, and the totals that any correct analysis must find."""

from __future__ import annotations

from typing import Any

from ascend_spec.core import packaged

from .faults import fault_truths as fault_truths
from .totals import RankTotals as RankTotals
from .totals import rank_totals as rank_totals


def schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of truth.json."""
    found: dict[str, Any] = packaged(__package__, "truth.schema.yaml")
    return found
