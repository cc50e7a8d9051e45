"""The outcome of an acceptance row."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from consumer_ranks import Rank
from consumer_run import Run

Check = Callable[[Sequence[Rank], Path], list[str]]
"""Compares result tables with the databases of the ranks; gives a line per difference."""


@dataclass(frozen=True)
class Verdict:
    """What the tool holds against a profile, and its runs by their mode."""

    differences: list[str]
    runs: Mapping[str, Run]


def judged(
    run: Run,
    complaints: Sequence[str],
    ranks: Sequence[Rank],
    expected: Collection[str],
    checks: Sequence[Check],
) -> Verdict:
    """The complaints, and the tables that are absent or else what is wrong in them."""
    absent = sorted(set(expected) - run.tables)
    if absent:
        lines = [f"{run.name}: no table {', '.join(absent)}"]
    else:
        lines = [
            line
            for check in checks
            for line in attempted(check.__name__, partial(check, ranks, run.database))
        ]
    return Verdict([*complaints, *lines], {run.name: run})


def attempted(name: str, check: Callable[[], list[str]]) -> list[str]:
    """The differences; a table that the check needs and does not find is one."""
    try:
        return check()
    except sqlite3.Error as error:
        return [f"{name}: {error}"]
