"""step_trace: the iterations of graphs (text-outputs.md 7.6)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from ascend_ref.arrays import integers, one_piece, where
from ascend_ref.capture.batch import Integers
from ascend_ref.derive.matching import NONE, counterparts, groups, ranks
from ascend_ref.derive.step_trace import iteration_times
from ascend_ref.recorded import Recorded

from .columns import Columns, device_texts, of_formula
from .order import ordered
from .setting import Setting

IDENTITY = ("device", "model", "iteration")
"""Columns that name the iteration to which a reduction belongs."""


def step_trace(recorded: Recorded, setting: Setting) -> Iterator[Columns]:
    """The iterations that ended in the session, with as many reductions as any of them has."""
    table = recorded.extras.get("step_trace")
    if table is None or not len(table):
        return
    device, model, number, start, forward, backward, end = (
        integers(table[name])
        for name in ("device", "model", "iteration", "start", "fp_start", "bp_end", "end")
    )
    parts = []
    for one in np.unique(device).tolist():
        own = np.flatnonzero(device == one)
        found = iteration_times(start[own], forward[own], backward[own], end[own])
        parts.append(pa.table([pa.array(own), *found], ["row", *found._fields]))
    times = pa.concat_tables(parts).sort_by("row").combine_chunks()
    kept = np.flatnonzero(end >= recorded.origin.start)
    columns: dict[str, pa.Array] = {
        "Device_id": device_texts(device),
        "Iteration ID": pa.array(number),
        "FP Start(us)": where(forward > 0, forward),
        "BP End(us)": where(backward > 0, backward),
        "Iteration End(us)": pa.array(end),
        **of_formula(setting, "iteration_times", map(one_piece, times.columns[1:])),
        "Model ID": where(model >= 0, model),
    }
    rows = pa.array(kept)
    reductions = _reductions(recorded, [device[kept], model[kept], number[kept]])
    shown = {name: column.take(rows) for name, column in columns.items()}
    yield ordered(setting, {**shown, **reductions})


def _reductions(recorded: Recorded, iterations: list[Integers]) -> dict[str, list[pa.Array]]:
    """Start and length of the first, second, … reduction of each iteration."""
    table = recorded.extras.get("step_trace_reduce")
    if table is None or not len(table):
        return {}
    count = len(iterations[0])
    keys = [
        np.append(one, integers(table[name]))
        for one, name in zip(iterations, IDENTITY, strict=True)
    ]
    _, key = groups(*keys)
    wanted, having = key[:count], key[count:]
    start, end = integers(table["start"]), integers(table["end"])
    turn = ranks(having)
    starts, lengths = [], []
    for place in range(int(turn.max()) + 1):
        row = counterparts(wanted, np.full(count, place), having)
        starts.append(where(row != NONE, start[row]))
        lengths.append(where(row != NONE, (end - start)[row]))
    return {"Reduce Start(us)": starts, "Reduce Duration(us)": lengths}
