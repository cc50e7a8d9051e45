"""The stage from the databases of all ranks to cluster_analysis.db."""

from __future__ import annotations

from pathlib import Path

from ascend_ref.cluster import (
    cluster_tables,
    rank_of,
    write_cluster_analysis,
    write_cluster_database,
)
from ascend_ref.profile import write_pytorch_profile
from ascend_ref.recorded import from_captures
from ascend_simulator import simulate
from ascend_spec import catalog, cluster_catalog

from .case import Case

RANKS = 8
"""Of a drawn case, at most."""


def make(case: Case, folder: Path, writer: str | None = None) -> None:
    """Simulate a case: the profiles of its ranks below ``input``, the truth below ``expected``.

    The truth is computed from the recordings themselves, not from the databases.
    """
    del writer  # one program writes this database
    profiles = folder / "input" / "ranks"
    profiles.mkdir(parents=True)
    revision = catalog().revisions[-1].id
    ranks = []
    for capture in simulate(case.scenario, case.seed).captures():
        path = write_pytorch_profile(profiles, capture, revision)
        ranks.append(rank_of(from_captures([capture], "pytorch", revision), str(path)))
    expected = folder / "expected"
    expected.mkdir()
    path = expected / cluster_catalog().database.file
    write_cluster_database(path, cluster_tables(ranks))


def can_be_drawn(case: Case) -> bool:
    """Whether a case has several ranks with devices, profiled by the framework's profiler.

    Without a device there is no analysis.db, and a database names no device of its rank. With some
    calls alone, ranks would not meet.
    """
    scenario = case.scenario
    profiled = case.output == "pytorch" and scenario.capture.npu and case.calls is None
    return profiled and scenario.parallelism.ranks > 1


def reference(source: Path, target: Path) -> None:
    """Our own analysis of the ranks."""
    write_cluster_analysis(source, target)
