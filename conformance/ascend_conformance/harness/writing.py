"""The profile that a case is tried with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from ascend_ref.capture import Capture
from ascend_ref.profile import write_msprof_profile, write_pytorch_profile
from ascend_simulator import simulate, write_run
from ascend_simulator.formats import FORMATS
from ascend_simulator.loss import outermost_calls, with_calls
from ascend_spec import catalog

from .case import Case


def write_profile(
    case: Case, folder: Path, formats: Sequence[str], writer: str | None = None
) -> Path:
    """Simulate a case; of its profiles the last one, whose ranks and devices are not 0 where there
    are several. ``formats`` of one exporter; ``writer``: the generation of it.
    """
    if case.calls is None:
        return write_run(case.scenario, case.seed, folder, formats, writer=writer).profiles[-1]
    captures = list(_with_calls(_recorded(case), case.calls))
    forms = tuple(FORMATS[name].form for name in formats)
    revision = catalog().revisions[-1].id
    if case.output == "msprof":
        return write_msprof_profile(folder, captures, revision, forms, writer=writer)
    return write_pytorch_profile(folder, captures[-1], revision, forms)


def count_of_calls(case: Case) -> int:
    """How many outermost host calls the process of a case has."""
    return sum(_counts(_recorded(case)))


def _recorded(case: Case) -> Sequence[Capture]:
    """What the last process records, rank after rank."""
    run = simulate(case.scenario, case.seed)
    ranks = len(run.rounds[-1].meetings)
    together = case.scenario.parallelism.devices_per_process if case.output == "msprof" else 1
    first = (ranks - 1) // together * together
    return [run.capture(rank, len(run.rounds) - 1) for rank in range(first, ranks)]


def _counts(captures: Sequence[Capture]) -> list[int]:
    return [int(outermost_calls(one.calls).max(initial=-1)) + 1 for one in captures]


def _with_calls(captures: Sequence[Capture], kept: Sequence[int]) -> Iterator[Capture]:
    first = 0
    for one, count in zip(captures, _counts(captures), strict=True):
        numbers = np.array(kept, np.int64) - first
        yield with_calls(one, numbers[(numbers >= 0) & (numbers < count)].tolist())
        first += count
