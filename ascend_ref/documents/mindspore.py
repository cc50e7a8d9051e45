"""What MindSpore makes of msprof's analysis: communication.json and communication_matrix.json.

Source: mindspore-present.md 2.6, ``AscendCommunicationViewer``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from ascend_ref.arrays import reals
from ascend_ref.derive.communication_report import (
    CLASSES,
    FLOW,
    START,
    Report,
    communication_report,
    quotients,
)
from ascend_ref.derive.mindspore_matrix import class_of, kind_of
from ascend_ref.derive.mindspore_steps import ONE_STEP, Step, step_at

US = 1000.0


def operators_by_step(
    times: pa.Table, bandwidths: pa.Table, matrix: pa.Table, steps: Sequence[Step]
) -> tuple[Iterator[tuple[str, Report]], Iterator[tuple[str, Report]]]:
    """The reports of times and of links, each step with its operators.

    times, bandwidths, matrix: CommAnalyzer* as msprof writes them. steps: none where the recording
    is not divided; of one step are all operators, of several those that start in one.
    """
    names = [f"step{step.name}" for step in steps] or [f"step{ONE_STEP}"]
    starts = np.rint(reals(times[START]) * US).astype(np.int64)
    place = step_at(steps, starts) if len(steps) > 1 else np.zeros(len(starts), np.int64)
    keys = _keys(times)
    step_of = {
        key: names[number] for key, number in zip(keys, place.tolist(), strict=True) if number >= 0
    }
    links = _matrix_report(_keys(matrix), matrix, step_of)
    report = communication_report(_divided(times, step_of), _divided(bandwidths, step_of), names)
    return report, links


def _keys(table: pa.Table) -> list[tuple[str, str]]:
    names, groups = (
        table[name].cast(pa.string()).fill_null("").to_pylist()
        for name in ("hccl_op_name", "group_name")
    )
    return list(zip(names, groups, strict=True))


def _divided(table: pa.Table, step_of: Mapping[tuple[str, str], str]) -> pa.Table:
    """The rows of operators that are of a step, with it and their class."""
    keys = _keys(table)
    steps = [step_of.get(key, "") for key in keys]
    columns = {"step": steps, "type": [class_of(name) for name, _ in keys]}
    for name, values in columns.items():
        known = table.column_names.index(name)
        table = table.set_column(known, name, pa.array(values, pa.string()))
    return table.filter(pa.array([step != "" for step in steps], pa.bool_()))


def _matrix_report(
    keys: Sequence[tuple[str, str]], matrix: pa.Table, step_of: Mapping[tuple[str, str], str]
) -> Iterator[tuple[str, Report]]:
    """By step and class the links of each kind of operators: the fastest, slowest and all."""
    columns = {name: matrix[column].fill_null(0).to_pylist() for name, column in FLOW.items()}
    source, target = (
        matrix[name].cast(pa.string()).fill_null("").to_pylist()
        for name in ("src_rank", "dst_rank")
    )
    transport = matrix["transport_type"].to_pylist()
    found: dict[str, dict[str, dict[tuple[str, str, str], list[dict[str, Any]]]]] = {}
    for row, (operator, group) in enumerate(keys):
        step = step_of.get((operator, group))
        if step is None:
            continue
        link = {
            "Transport Type": transport[row],
            **{name: values[row] for name, values in columns.items()},
            "op_name": operator,
        }
        place = (kind_of(operator), group, f"{source[row]}-{target[row]}")
        classes = found.setdefault(step, {name: {} for name in CLASSES})
        classes[class_of(operator)].setdefault(place, []).append(link)
    for step, classes in found.items():
        yield step, {name: _chosen(links) for name, links in classes.items()}


def _chosen(
    links: Mapping[tuple[str, str, str], list[dict[str, Any]]],
) -> dict[str, dict[str, Any]]:
    """Of each kind and link the fastest operator, the one in the middle, the slowest, and the sum.

    Of fewer than three operators the second and third slowest are the last there are.
    """
    report: dict[str, dict[str, Any]] = {}
    for (kind, group, pair), members in links.items():
        ordered = sorted(members, key=lambda one: one["Bandwidth(GB/s)"], reverse=True)
        size, time = (
            sum(one[name] for one in ordered) for name in ("Transit Size(MB)", "Transit Time(ms)")
        )
        rate = float(quotients(np.array([size], float), np.array([time], float))[0])
        total = {
            "Transport Type": ordered[0]["Transport Type"],
            "Transit Size(MB)": size,
            "Transit Time(ms)": time,
            "Bandwidth(GB/s)": rate,
        }
        count = len(ordered)
        for place, link in (
            ("top1", ordered[0]),
            ("middle", ordered[count // 2]),
            ("bottom1", ordered[-1]),
            ("bottom2", ordered[max(count - 2, 0)]),
            ("bottom3", ordered[max(count - 3, 0)]),
            ("total", total),
        ):
            report.setdefault(f"{kind}-{place}@{group}", {})[pair] = link
    return report
