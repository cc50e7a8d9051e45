"""Rows 6, 7 and 8 of consumers.md section 4 on text files, which the consumer reads in other ways
than databases.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from consumer_compare import Side, check_compare
from consumer_differences import different
from consumer_log import RANK_NOT_LOADED, RUN_BY_ROOT
from consumer_rows import ADVISOR_ALLOWED, ADVISOR_FILES, SKIPPED
from consumer_run import Run, run_cluster, run_tool
from consumer_sheets import sheets
from consumer_text_cluster import (
    RESULTS,
    lost_ends,
    t10_steps,
    t11_operators,
    t12_links,
    told_lost,
)
from consumer_texts import TextRank, text_ranks_of
from consumer_verdict import Verdict

TextCheck = Callable[[Sequence[TextRank], Path], list[str]]

ROW_6_CHECKS: tuple[TextCheck, ...] = (t10_steps, t11_operators, t12_links)
COMMUNICATION = ("COMMUNICATION", "HCCL")
NO_KERNELS = (*COMMUNICATION, "DSA_SQE")
"""Accelerator cores whose rows in kernel_details ``compare`` does not count, for all their time."""
OVERLAP = ("Computing", "Communication(Not Overlapped)", "Free")
CELLS_WITHOUT_VALUE = "Can not convert N/A to float"
NEWER_COLUMN, NOT_UNDERSTOOD = (
    "Block Num",
    "Skip block dim checker because of not containing block dim in op summary",
)
"""msprof-analyze 26.2.0 knows the column of kernel_details only by its name until 2026-01."""


def check_row_6(profile: Path, scratch: Path) -> Verdict:
    """Mode ``all``: steps, operators, links and groups as the files of the ranks have them."""
    ranks = text_ranks_of(profile)
    run = run_cluster("all", profile, scratch)
    complaints = [*run.complaints([RUN_BY_ROOT, RANK_NOT_LOADED]), *_links_lost(run, ranks)]
    folder = "output/cluster_analysis_output"
    expected = sorted(f"{folder}/{name}" for name in RESULTS)
    written = [name for name in run.written() if name.startswith("output/")]
    if written != expected:
        lines = different("all, files", written, expected)
    else:
        lines = [
            line
            for check in ROW_6_CHECKS
            for line in _attempted(check.__name__, partial(check, ranks, run.place / folder))
        ]
    return Verdict([*complaints, *lines], {"all": run})


def check_text_row_7(profile: Path, scratch: Path, first: int = 0, base: int = 1) -> Verdict:
    """``compare`` of two ranks, or of one with itself."""
    ranks = {rank.number: rank for rank in text_ranks_of(profile)}
    sides = ranks[first], ranks[base]
    return check_compare(
        profile,
        scratch,
        [side.folder for side in sides],
        lambda: [side_of_texts(side) for side in sides],
    )


def side_of_texts(rank: TextRank) -> Side:
    """The figures of a rank in its kernel_details and in the overlap analysis of its timeline."""
    kernels = rank.rows("kernel_details.csv")
    cores = Counter(row["Accelerator Core"] for row in kernels)
    talks = Counter(row["Type"] for row in kernels if row["Accelerator Core"] in COMMUNICATION)
    spent: Counter[str] = Counter()
    for event in rank.document("trace_view.json"):
        if event["ph"] == "X" and event["name"] in OVERLAP:
            spent[event["name"]] += event["dur"] / 1e3
    return Side(
        rank.number,
        computing=[
            (len(kernels) - sum(cores[name] for name in NO_KERNELS), spent["Computing"]),
        ],
        calls=talks,
        times={
            "Uncovered Communication Time": spent["Communication(Not Overlapped)"],
            "Free Time": spent["Free"],
        },
    )


def check_text_row_8(profile: Path, scratch: Path) -> Verdict:
    """``advisor``: no error at all, unlike in databases; and its report."""
    ranks = text_ranks_of(profile)
    words = ["advisor", "all", "-d", "{profile}", "-o", "{output}", "-l", "en", "--force"]
    run = run_tool("advisor", words, profile, scratch)
    allowed = [RUN_BY_ROOT, RANK_NOT_LOADED, CELLS_WITHOUT_VALUE, *ADVISOR_ALLOWED]
    if NEWER_COLUMN in ranks[0].rows("kernel_details.csv")[0]:
        allowed.append(NOT_UNDERSTOOD)
    skipped = [line for line in run.log.splitlines() if SKIPPED in line]
    lines = [*run.complaints(allowed), *skipped, *_links_lost(run, ranks)]
    written, (report, problems, _) = run.written(), ADVISOR_FILES
    absent = [
        name for name in (report, problems) if not any(re.fullmatch(name, one) for one in written)
    ]
    pages = [page for path in run.output.glob("log/*.xlsx") for page in sheets(path)]
    lines += different("advisor, files that are absent", absent, [])
    lines += different("advisor, a sheet of problems", "problems" in pages, True)
    return Verdict(lines, {"advisor": run})


def _links_lost(run: Run, ranks: Sequence[TextRank]) -> list[str]:
    what = f"{run.name}, ends of links that cannot be mapped"
    return _attempted(what, lambda: different(what, told_lost(run.log), lost_ends(ranks)))


def _attempted(name: str, check: Callable[[], list[str]]) -> list[str]:
    """The differences; a part of a file that the check needs and does not find is one."""
    try:
        return check()
    except (KeyError, ValueError, OSError) as error:
        return [f"{name}: {error!r}"]
