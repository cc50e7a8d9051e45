"""truth.json as a document; its JSON Schema stands beside this file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from ascend_spec.core import packaged

from .faults import FaultTruth
from .totals import RankTotals

FORMAT = "ascend-ref-truth/1"
SCHEMA = "truth.schema.yaml"


def schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of truth.json."""
    found: dict[str, Any] = packaged(__package__, SCHEMA)
    return found


def truth_document(
    scenario: str,
    seed: int,
    product: str,
    idle_switches: Sequence[str],
    totals: Sequence[RankTotals],
    faults: Sequence[FaultTruth],
) -> dict[str, Any]:
    """The document, ready for JSON. ``totals``: of all ranks, in order."""
    return {
        "format": FORMAT,
        "scenario": scenario,
        "seed": seed,
        "product": product,
        "idle_switches": list(idle_switches),
        "ranks": len(totals),
        "faults": [asdict(fault) for fault in faults],
        "totals": [asdict(one) for one in totals],
    }
