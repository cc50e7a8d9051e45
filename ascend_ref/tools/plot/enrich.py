"""A timeline with what it does not show of operators: their types and cores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from .columns import rows_of
from .from_tables import file_of, read_tasks
from .kinds import COMPUTING_KINDS, Kind
from .recording import Recording


def enriched(recording: Recording, paths: Sequence[Path]) -> Recording:
    """The recording with kinds and names of the operators of a kernel_details or op_summary that
    start at the same moments.

    Raises :class:`CannotDraw` for a file that is neither.
    """
    tasks = read_tasks(file_of(paths[0]), paths)
    tasks = tasks.take(np.isin(tasks.kind, COMPUTING_KINDS))
    bars = recording.bars
    row = np.where(np.isin(bars.kind, COMPUTING_KINDS), rows_of(tasks.start, bars.start), -1)
    found = row >= 0
    names = sorted({*recording.names, *tasks.name.values})
    place = {name: number for number, name in enumerate(names)}
    own = np.array([*(place[name] for name in recording.names), -1])[bars.name]
    told = tasks.name.at(row).numbers(place.__getitem__, -1)
    kind = np.where(found, np.append(tasks.kind, 0)[row], bars.kind)
    return replace(
        recording,
        bars=replace(bars, kind=kind, name=np.where(told >= 0, told, own)),
        names=tuple(names),
        divided=bool(np.isin(kind, (Kind.VECTOR, Kind.MIX)).any()),
    )
