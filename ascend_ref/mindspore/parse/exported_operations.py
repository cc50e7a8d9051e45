"""Operations of each row of op_summary, and of all."""

from __future__ import annotations

from itertools import chain

import numpy as np

from .exported import Floats, exported_operators
from .run import Run
from .tables import write_document, write_rows

FLOPS, SUMMARY = "flops", "flops_summary"
DIGITS = 4
"""Of sums."""


def write_exported_operations(run: Run) -> None:
    """Write ``flops`` and ``flops_summary``, where operations were counted."""
    operators = exported_operators(run)
    if operators is None or operators.cube is None or operators.vector is None:
        return
    columns: list[Floats] = []
    totals: list[float] = []
    time = np.sum(operators.duration)
    for counted in (operators.cube, operators.vector):
        millions, rates = counted * 1e-6, _rates(counted, operators.duration)
        columns += [millions, rates]
        rate = round(float(np.sum(rates) / time), DIGITS) if time else 0
        totals += [round(float(np.sum(millions)), DIGITS), rate]
    path = run.path(FLOPS)
    if path is not None:
        header = [one.name for one in run.columns(FLOPS)]
        cells = zip(operators.full_names, *(one.tolist() for one in columns), strict=True)
        write_rows(run, path, chain([header], cells))
    names = [one.name for one in run.columns(SUMMARY)]
    write_document(run, SUMMARY, dict(zip(names, totals, strict=True)))


def _rates(counted: Floats, duration: Floats) -> Floats:
    """Thousands of millions in a second, 0 where there is no time."""
    known = duration != 0
    return np.where(known, counted / np.where(known, duration, 1) * 1e-6, 0)
