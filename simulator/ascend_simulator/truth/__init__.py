"""Ground truth: which faults were injected, and the totals that any correct analysis must find."""

from __future__ import annotations

from .document import schema, truth_document
from .faults import FaultTruth, Interval, fault_truths
from .totals import RankTotals, rank_totals

__all__ = [
    "FaultTruth",
    "Interval",
    "RankTotals",
    "fault_truths",
    "rank_totals",
    "schema",
    "truth_document",
]
