"""Row 11: the recipes that need ranges, pairs, experts and named groups; no real file has them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from consumer_log import RUN_BY_ROOT
from consumer_modules import experts, masking, modules, ranges, utilization
from consumer_pipeline import (
    nothing_made,
    operators_of_messages,
    pairs,
    stages,
    without_operators,
)
from consumer_ranks import Rank, ranks_of
from consumer_run import Run, copy_profile, run_cluster
from consumer_verdict import Check, Verdict, attempted, judged

INTO_TABLE: dict[str, tuple[str, Check]] = {
    "mstx_sum": ("MSTXMarkStats", ranges),
    "module_statistic": ("ModuleStatistic", modules),
    "computational_op_masking": ("ComputationalOperatorMaskingLinearity", masking),
    "ep_load_balance": ("EPTokensSummary", experts),
    "operator_mfu": ("OperatorMFU", utilization),
}
INTO_PROFILE: dict[str, Callable[[Sequence[Rank], Run], list[str]]] = {
    "p2p_pairing": pairs,
    "pp_chart": stages,
}
ROW_11_MODES = (*INTO_TABLE, *INTO_PROFILE, "mstx2commop")


def check_row_11(profile: Path, scratch: Path, mode: str) -> Verdict:
    """One of ``ROW_11_MODES``: a clean log, and the result that the profile calls for."""
    if mode == "mstx2commop":
        return _check_messages(profile, scratch)
    ranks = ranks_of(profile)
    run = run_cluster(mode, profile, scratch)
    complaints = run.complaints([RUN_BY_ROOT])
    if mode in INTO_TABLE:
        table, check = INTO_TABLE[mode]
        return judged(run, complaints, ranks, {table}, [check])
    lines = attempted(mode, partial(INTO_PROFILE[mode], ranks, run))
    return Verdict([*complaints, *lines], {mode: run})


def _check_messages(profile: Path, scratch: Path) -> Verdict:
    """mstx2commop, as it is and without the table that it makes.

    Where COMMUNICATION_OP exists, the mode does nothing; it is absent only where nothing but
    ranges was collected.
    """
    run = run_cluster("mstx2commop", profile, scratch)
    bare = scratch / "without_operators"
    copy_profile(profile, bare)
    without_operators(bare)
    second = run_cluster("mstx2commop", bare, scratch)
    ranks = ranks_of(bare)
    lines = [
        *run.complaints([RUN_BY_ROOT]),
        *nothing_made(run),
        *second.complaints([RUN_BY_ROOT]),
        *attempted("mstx2commop", partial(operators_of_messages, ranks, second)),
    ]
    return Verdict(lines, {"mstx2commop": run, bare.name: second})
