"""The analyser of the steps of all ranks: what each spent a step on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ascend_ref.raw.damage import Damage
from ascend_spec.mindspore import Analyser, AnswerColumn

from .cells import Column, NumberColumn
from .condition import Condition, WrongCondition
from .files import INNER, Folder
from .query import Rows, answer_rows
from .ranks import DATA, RANK, Cluster, absent, find_cluster, number, rank_of
from .steps import DIGITS, HEADER_AND_AVERAGE, NUMBER, PER_MS
from .steps import TABLE as STEPS

INTERVAL = "iteration_interval"
POINTS = (NUMBER, "start_point", "end_point", "total", "fp_point", "bp_point")
OF_STEP = (*POINTS, INTERVAL, "fp_and_bp", "tail")
"""Columns of an overview."""


def answer_cluster_steps(
    folder: Folder, analyser: Analyser, day: str, condition: Condition
) -> dict[str, Any]:
    """The parts of one step by rank, or all steps.

    Raises :class:`WrongCondition` for a step that no rank has.
    """
    ranks = folder.of_ranks(STEPS)
    if condition.switch("show") == "overview":
        return {f"device{one.device}": list(_overview(one)) for one in ranks}
    cluster = find_cluster(folder)
    step, stage = condition.switch("step_id"), condition.switch("stage_id")
    steps = {one.device: one.rows(STEPS) for one in ranks}
    most = max((0, *(len(rows) - HEADER_AND_AVERAGE for rows in steps.values())))
    if steps and step > most:
        raise WrongCondition(
            f"step_id: the number of the step must be in [0, {most}], got {step}", "step"
        )
    is_data = cluster.mode == DATA
    shown = tuple(
        one
        for one in analyser.columns_on(day)
        if one.name in (RANK, INTERVAL) or _of_step(one) == is_data
    )
    parts = []
    for one in ranks:
        if not is_data and stage not in (0, cluster.stage_of(rank_of(one))):
            continue
        found = _parts(one, cluster, shown, steps[one.device], step)
        if found is not None:
            parts.append({**found, RANK: rank_of(one)})
    held = tuple(
        one
        for one in shown
        if one.name == RANK or not parts or any(one.name in row for row in parts)
    )
    columns: dict[str, Column] = {one.name: _column(parts, one.name) for one in held}
    answer = answer_rows(Rows(analyser, day, held, columns), condition)
    key = "step_trace_info" if is_data else "step_bottleneck_info"
    place = answer["col_name"].index(RANK)
    info = [
        {key: [*row[:place], *row[place + 1 :]], RANK: row[place], "profiler_dir": INNER}
        for row in answer["object"]
    ]
    first = next(iter(steps.values()), [])
    return {
        "total_step_num": first[-2][0] if len(first) > HEADER_AND_AVERAGE else 0,
        "stage_num": cluster.stages,
        "info": info,
        "size": answer["size"],
        "parallel-mode": cluster.mode,
    }


def of_average_step(
    folder: Folder, cluster: Cluster, analyser: Analyser
) -> dict[str, float] | None:
    """What a rank spends a step on, on average, by column; ``None`` where a file is missing."""
    shown = [one for one in analyser.columns if not _of_step(one)]
    return _parts(folder, cluster, shown, folder.rows(STEPS), 0)


def _of_step(column: AnswerColumn) -> bool:
    """Whether a column is of the file of steps, and no other part of a step stands in its place."""
    return column.name in OF_STEP and column.name != INTERVAL


def _parts(
    folder: Folder,
    cluster: Cluster,
    shown: Sequence[AnswerColumn],
    steps: Sequence[Sequence[str]],
    step: int,
) -> dict[str, float] | None:
    """Times of a step in ms, by column; 0 for the average."""
    of_steps = [one for one in shown if _of_step(one) or one.name == INTERVAL]
    found = _times(folder, STEPS, of_steps, steps, step, PER_MS)
    if found is None or (cluster.mode == DATA and any(map(_of_step, shown))):
        return found
    path = cluster.path(folder)
    if path is None or cluster.table is None:
        text = f"no {cluster.table or 'cluster_analyse'} of rank {folder.device}"
        folder.damage.append(Damage(folder.path, text, kind=cluster.table))
        return None
    others = [one for one in shown if one.takes and one not in of_steps]
    more = _times(folder, cluster.table, others, folder.csv(path, cluster.table), step, None)
    return None if more is None else {**found, **more}


def _times(
    folder: Folder,
    table: str,
    shown: Sequence[AnswerColumn],
    rows: Sequence[Sequence[str]],
    step: int,
    parts: float | None,
) -> dict[str, float] | None:
    """The cells of a row; ``parts``: how many of its units are 1 ms, ``None`` for 1."""
    place = step or len(rows) - 1
    if not 0 < place < len(rows):
        absent(folder, table, f"no step {step}" if step else "no step")
        return None
    row = dict(zip((name.strip() for name in rows[0]), rows[place], strict=False))
    found = {}
    for one in shown:
        name = next((name for name in one.takes if name in row), None)
        if name is None:
            continue
        value = number(row[name])
        if value is None:
            text = f"{name} of step {step or 'average'} is no number: {row[name]!r:.60}"
            absent(folder, table, text)
            return None
        found[one.name] = value if parts is None else round(value / parts, DIGITS)
    if not found:
        absent(folder, table, f"line 1: no column {' or '.join(shown[0].takes)}")
        return None
    return found


def _column(parts: Sequence[Mapping[str, float]], name: str) -> NumberColumn:
    missing = np.array([name not in one for one in parts], np.bool_)
    kind = np.int64 if name == RANK else np.float64
    return NumberColumn(np.array([one.get(name, 0) for one in parts], kind), missing)


def _overview(folder: Folder) -> Iterator[dict[str, Any]]:
    """Every step and the average: counts of 10 ns by column, of the number its text."""
    rows = folder.rows(STEPS)
    for row in rows[1:]:
        cells = dict(zip(rows[0], row, strict=False))
        found: dict[str, Any] = {name: cells.get(name) for name in OF_STEP}
        for name in OF_STEP:
            if name != NUMBER and found[name] is not None:
                value = number(found[name])
                if value is None:
                    absent(folder, STEPS, f"{name} is no number: {found[name]!r:.60}")
                found[name] = value if value is None else int(value)
        yield found
