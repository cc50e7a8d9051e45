"""The acceptance rows of consumers.md section 4 that msprof-analyze decides.

Each ``check_row_…`` runs the tool on copies of a profile and gives a verdict: differences, none
where the profile is accepted, and the runs, for whoever wants to compare more of the results.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from consumer_cluster import t1_steps, t2_hosts, t3_times, t4_bandwidths, t5_links, t6_groups
from consumer_compare import check_compare, side_of_database
from consumer_differences import different
from consumer_faults import Faults, named_frequencies, named_slow
from consumer_log import RUN_BY_ROOT, cluster_allowances
from consumer_ranks import Rank, metadata, ranks_of, tables
from consumer_recipes import (
    t13_time_summary,
    t14_bottlenecks,
    t14_free_time,
    t15_kernels,
    t16_api,
)
from consumer_run import run_cluster, run_tool
from consumer_sums import t7_cann_api, t8_compute, t9_communication
from consumer_verdict import Check, Verdict, judged

ROW_1 = (
    "ClusterStepTraceTime",
    "ClusterCommunicationTime",
    "ClusterCommunicationBandwidth",
    "ClusterCommunicationMatrix",
    "CommunicationGroupMapping",
    "HostInfo",
    "RankDeviceMap",
)
ROW_1_CHECKS: tuple[Check, ...] = (
    t1_steps,
    t2_hosts,
    t3_times,
    t4_bandwidths,
    t5_links,
    t6_groups,
)
ROW_2: dict[str, tuple[str, Check]] = {
    "cann_api_sum": ("CannApiSumRank", t7_cann_api),
    "compute_op_sum": ("ComputeOpPerRankStatsByOpName", t8_compute),
    "hccl_sum": ("HcclPerRankStats", t9_communication),
}
ROW_9: dict[str, tuple[str, Check]] = {
    "cluster_time_summary": ("ClusterTimeSummary", t13_time_summary),
    "free_analysis": ("FreeAnalysis", t14_free_time),
    "communication_bottleneck": ("CommunicationBottleneck", t14_bottlenecks),
}
ROW_9_MODES = (*ROW_9, "slow_rank", "freq_analysis", "export_summary")
ADVISOR_ALLOWED = (
    "Can not find ai core frequency in info.json*",
    "Analyser: ComparisonAnalyzer don't rely on any dataset!",
    # Said whenever it runs, for its class names no dataset either: on pipeline stages whose ranks
    # differ, which no real profile has.
    "Analyser: PPStageComputationAnalyzer don't rely on any dataset!",
)
ADVISOR_ALLOWED_OF_DATABASES = (
    *ADVISOR_ALLOWED,
    "Skip dynamic shape check because of not containing OpState information",
    "Skip block dim checker because of not containing ai core num in info.json file",
)
ADVISOR_DEFECT = "Error loading API stack data"
SKIPPED = "is skipped when an exception"
ADVISOR_FILES = (
    r"output/mstt_advisor_\d{14}\.html",
    r"output/log/mstt_advisor_\d{14}\.xlsx",
    r"cwd/operator_tuning_file_\d{14}\.cfg",
)


def check_row_1(profile: Path, scratch: Path) -> Verdict:
    """Mode ``all``: steps, hosts, groups and communication as analysis.db has them."""
    ranks = ranks_of(profile)
    run = run_cluster("all", profile, scratch)
    expected = set(ROW_1)
    if any(metadata(rank, "distributed_args") for rank in ranks):
        expected.add("ClusterBaseInfo")
    complaints = run.complaints(cluster_allowances(ranks))
    return judged(run, complaints, ranks, expected, ROW_1_CHECKS)


def check_row_2(profile: Path, scratch: Path, mode: str) -> Verdict:
    """The sums per operator: cann_api_sum, compute_op_sum or hccl_sum."""
    table, check = ROW_2[mode]
    run = run_cluster(mode, profile, scratch)
    return judged(run, run.complaints([RUN_BY_ROOT]), ranks_of(profile), {table}, [check])


def check_row_7(profile: Path, scratch: Path, compared: int = 0, base: int = 1) -> Verdict:
    """``compare`` of two ranks."""
    ranks = {rank.number: rank for rank in ranks_of(profile)}
    sides = ranks[compared], ranks[base]
    return check_compare(
        profile,
        scratch,
        [side.folder for side in sides],
        lambda: [side_of_database(side) for side in sides],
    )


def check_row_8(profile: Path, scratch: Path) -> Verdict:
    """``advisor``: it fails only where it always fails, looking for the call stack of operators
    that it would have fused, or moved off the AI CPU; a profile without such ones spares it that.

    It looks at the operators of one rank alone, the one that it finds to be the slowest.
    """
    words = ["advisor", "all", "-d", "{profile}", "-o", "{output}", "-l", "en", "--force"]
    run = run_tool("advisor", words, profile, scratch)
    allowed = (
        *cluster_allowances(ranks_of(profile)),
        *ADVISOR_ALLOWED_OF_DATABASES,
        ADVISOR_DEFECT,
    )
    defects = sum(ADVISOR_DEFECT in line for line in run.log.splitlines())
    skipped = [line for line in run.log.splitlines() if SKIPPED in line]
    written = run.written()
    absent = [name for name in ADVISOR_FILES if not any(re.fullmatch(name, w) for w in written)]
    lines = [
        *run.complaints(allowed),
        *skipped,
        *different("advisor, its own defect more than once", max(defects, 1), 1),
        *different("advisor, files that are absent", absent, []),
    ]
    return Verdict(lines, {"advisor": run})


def check_row_9(profile: Path, scratch: Path, mode: str, faults: Faults | None = None) -> Verdict:
    """One of ``ROW_9_MODES``; without faults, no rank may be named."""
    faults = faults or Faults()
    ranks = ranks_of(profile)
    run = run_cluster(mode, profile, scratch)
    complaints = run.complaints([RUN_BY_ROOT, *_absent_tables(mode, ranks)])
    if mode in ROW_9:
        table, check = ROW_9[mode]
        return judged(run, complaints, ranks, {table}, [check])
    if mode == "slow_rank":
        wrong = named_slow(run, faults)
    elif mode == "freq_analysis":
        wrong = named_frequencies(run, faults)
    else:
        assert mode == "export_summary", mode
        wrong = [*t15_kernels(ranks, run.profile), *t16_api(ranks, run.profile)]
    return Verdict([*complaints, *wrong], {mode: run})


def _absent_tables(mode: str, ranks: Sequence[Rank]) -> list[str]:
    """What export_summary may miss: a table of few exporters, and the counters at level 0."""
    if mode != "export_summary":
        return []
    missed = ["COMMUNICATION_SCHEDULE_TASK_INFO"]
    if not any("CommAnalyzerTime" in tables(rank.analysis) for rank in ranks):
        missed.append("TASK_PMU_INFO")
    return [f"Table {table} not found in" for table in missed]
