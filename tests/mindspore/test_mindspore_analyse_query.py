"""Queries of analysers against what plain Python answers."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from analyser_plain import (
    NAMES,
    drawn_condition,
    drawn_name,
    drawn_number,
    plain_answer,
    shown,
    write_csv,
)
from slices import some

from ascend_ref.mindspore.analyse.condition import WrongCondition
from ascend_ref.mindspore.analyse.factory import load_analyser
from ascend_ref.mindspore.analyse.files import Folder
from ascend_ref.mindspore.analyse.rounding import rounded

SEEDS = some(range(40), every=4)
TYPE_HEADER = "kernel_type,total_time,execution_frequency,percent"
PIPELINE_HEADER = (
    "op_id,op_type,num_workers,output_queue_size,output_queue_average_size,output_queue_length,"
    "output_queue_usage_rate,sample_interval,parent_id,children_id"
)


def query(folder: Path, name: str, condition: Any = None, generation: str = "G3m") -> Any:
    files = Folder(folder, "0")
    answer = load_analyser(name, files, generation).query(condition)
    assert files.damage == []
    return answer


@pytest.mark.parametrize("seed", SEEDS)
def test_m54_m55_m56_m57_m60_types_of_operators(seed: int, tmp_path: Path) -> None:
    draw = random.Random(seed)
    rows = [
        [draw.choice(NAMES), drawn_number(draw), draw.randint(1, 3), draw.random() / 40]
        for _ in range(draw.choice([0, 1, 5, 60]))
    ]
    write_csv(tmp_path / "aicore_intermediate_0_type.csv", TYPE_HEADER, rows)
    times = [shown(float(row[1]) * 1000) for row in rows]
    expected = [
        [row[0], time, row[2], shown(row[3] * 100), shown(time / row[2])]
        for row, time in zip(rows, times, strict=True)
    ]
    names = ["kernel_type", "total_time", "execution_frequency", "total_percent", "avg_time"]
    for _ in range(10):
        condition = drawn_condition(draw, names, names[:1], [*NAMES, 1, 2.0, *times[:3]], names)
        assert query(tmp_path, "aicore_type", condition) == plain_answer(names, expected, condition)


@pytest.mark.parametrize("seed", some(SEEDS, every=3))
def test_m61_operators_with_and_without_flops(seed: int, tmp_path: Path) -> None:
    draw = random.Random(seed)
    full = [f"Default/{drawn_name(draw)}{one}" for one in range(20)]
    info = {name: draw.choice([{"input_0": {"shape": "1,2"}}, None]) for name in full}
    write_csv(
        tmp_path / "framework_raw_0.csv",
        "task_id,stream_id,block_dim,full_kernel_name,op_name,kernel_name,kernel_type,subgraph,"
        "op_info",
        (
            [
                1,
                2,
                3,
                name,
                name,
                name[8:],
                name[8:].split("-")[0],
                "Default",
                json.dumps(info[name]) if info[name] else "",
            ]
            for name in full
        ),
    )
    flops = {name: [drawn_number(draw) for _ in range(6)] for name in full[:7]}
    (tmp_path / "flops_0.txt").write_text(
        "full_kernel_name, MFLOPs(10^6 cube), GFLOPS(10^9 cube), FLOPS utilization(cube), "
        "MFLOPs(10^6 vector), GFLOPS(10^9 vector), FLOPS utilization(vec)\n"
        + "".join(f"{name}, {', '.join(numbers)}\n" for name, numbers in flops.items()),
        encoding="utf-8",
    )
    rows = [
        [draw.choice(full), drawn_number(draw), draw.randrange(5)]
        for _ in range(draw.randrange(40))
    ]
    header = "full_kernel_name,execution_time,execution_frequency"
    write_csv(tmp_path / "aicore_intermediate_0_detail.csv", header, rows)
    expected = [
        [name, name[8:], name[8:].split("-")[0], shown(float(time) * 1000), often]
        + [shown(float(flops[name][one])) if name in flops else "-" for one in (0, 1, 3, 4)]
        + [info[name]]
        for name, time, often in rows
    ]
    names = ["op_name", "kernel_name", "kernel_type", "avg_execution_time", "execution_frequency"]
    of_flops = ["MFLOPs(10^6 cube)", "GFLOPS(10^9 cube)"]
    names += [*of_flops, "MFLOPs(10^6 vector)", "GFLOPS(10^9 vector)", "op_info"]
    for _ in range(10):
        pool = [*full[:3], "Cast", "-", 1, 2]
        condition = drawn_condition(draw, names, names[:3], pool, names[:-1])
        answer = query(tmp_path, "aicore_detail", condition)
        assert answer == plain_answer(names, expected, condition)
        hidden = {"is_display_detail": False, "is_display_full_op_name": False}
        filters = {**condition.get("filter_condition", {}), **hidden}
        fewer = query(tmp_path, "aicore_detail", {**condition, "filter_condition": filters})
        assert fewer["col_name"] == names[1:-1]
        assert fewer["object"] == [row[1:-1] for row in answer["object"]]


@pytest.mark.parametrize("seed", SEEDS)
def test_m66_kernels_of_ai_cpus(seed: int, tmp_path: Path) -> None:
    draw = random.Random(seed)
    rows = [
        [one, draw.choice([drawn_name(draw), "GetNext"]), drawn_number(draw), drawn_number(draw)]
        for one in range(draw.choice([0, 1, 30]))
    ]
    header = "serial_number,op_type,total_time,dispatch_time,run_start,run_end"
    write_csv(tmp_path / "aicpu_intermediate_0.csv", header, ([*row, 1, 2] for row in rows))
    by_name: dict[str, list[list[float]]] = {}
    by_type: dict[str, list[float]] = {}
    for _, name, total, dispatch in rows:
        by_name.setdefault(name, []).append([shown(float(total)), shown(float(dispatch))])
        by_type.setdefault(name.split("-")[0], []).append(float(total))
    kernels = [
        [name, name.split("-")[0]]
        + [round(sum(one) / len(ones) * 1000, 3) for one in zip(*ones, strict=True)]
        + [len(ones)]
        for name, ones in by_name.items()
    ]
    names = [
        "kernel_name",
        "kernel_type",
        "avg_execution_time",
        "dispatch_time",
        "execution_frequency",
    ]
    whole = sum(sum(ones) * 1000 for ones in by_type.values())
    types = []
    for name, ones in by_type.items():
        time = round(sum(ones) * 1000, 3)
        types.append([name, time, len(ones), round(time / whole * 100, 2) if whole else 0])
    of_types = ["kernel_type", "total_time", "execution_frequency", "percent"]
    for _ in range(10):
        condition = drawn_condition(draw, names, names[:2], [*NAMES, "GetNext", 1, 2], names)
        assert query(tmp_path, "aicpu_detail", condition) == plain_answer(names, kernels, condition)
        condition = drawn_condition(draw, of_types, of_types[:1], [*NAMES, 1, 2], of_types)
        assert query(tmp_path, "aicpu_type", condition) == plain_answer(of_types, types, condition)


FILES: dict[str, tuple[str, str, list[str], dict[int, float]]] = {
    "gpu_op_type": (
        "gpu_op_type_info_0.csv",
        "op_type,type_occurrences,total_time(us),total_proportion,avg_time(us)",
        ["op_type", "total_time", "execution_frequency", "total_percent", "avg_time"],
        {3: 100},
    ),
    "gpu_op_info": (
        "gpu_op_detail_info_0.csv",
        "op_side,op_type,op_name,op_full_name,op_occurrences,op_total_time(us),op_avg_time(us),"
        "total_proportion,cuda_activity_cost_time(us),cuda_activity_call_count",
        [
            "op_side",
            "op_type",
            "op_name",
            "op_full_name",
            "op_occurrences",
            "op_total_time",
            "op_avg_time",
            "proportion",
            "cuda_activity_cost_time",
            "cuda_activity_call_count",
        ],
        {},
    ),
    "gpu_cuda_activity": (
        "gpu_activity_data_0.csv",
        "name,type,op_full_name,stream_id,block_dim,grid_dim,occurrences,total_duration(us),"
        "avg_duration(us),max_duration(us),min_duration(us)",
        [
            "name",
            "type",
            "op_full_name",
            "stream_id",
            "block_dim",
            "grid_dim",
            "occurrences",
            "total_duration",
            "avg_duration",
            "max_duration",
            "min_duration",
        ],
        {},
    ),
    "cpu_op_type": (
        "cpu_op_type_info_0.csv",
        "op_type,type_occurrences,execution_frequency(per-step),total_compute_time,avg_time(ms),"
        "percent",
        [
            "op_type",
            "type_occurrences",
            "execution_frequency",
            "total_compute_time",
            "avg_time",
            "total_time_proportion",
        ],
        {3: 1000, 4: 1000, 5: 100},
    ),
    "cpu_op_info": (
        "cpu_op_detail_info_0.csv",
        "op_side,op_type,op_name,full_op_name,op_occurrences,op_total_time(ms),op_avg_time(ms),"
        "total_proportion,subgraph,pid",
        [
            "op_side",
            "op_type",
            "op_name",
            "full_op_name",
            "op_occurrences",
            "op_total_time",
            "op_avg_time",
            "total_time_proportion",
            "subgraph",
        ],
        {5: 1000, 6: 1000},
    ),
}
"""By analyser: the file, its header, the columns of the answer, and factors by place."""

WHOLE = ("occurrences", "execution_frequency", "count", "pid")
TIMES = ("time", "duration", "percent", "proportion")


@pytest.mark.parametrize("seed", some(range(15), every=3))
@pytest.mark.parametrize("name", FILES)
def test_m62_m63_operators_of_a_gpu_and_of_the_host(name: str, seed: int, tmp_path: Path) -> None:
    draw = random.Random(seed)
    file, header, names, factors = FILES[name]
    rows, expected = [], []
    for _ in range(draw.choice([0, 1, 40])):
        cells: list[Any] = []
        values: list[Any] = []
        for place, column in enumerate(header.split(",")):
            if any(one in column for one in WHOLE):
                cells.append(draw.randrange(5))
                values.append(cells[-1])
            elif any(one in column for one in TIMES):
                cells.append(drawn_number(draw))
                values.append(shown(float(cells[-1]) * factors.get(place, 1)))
            else:
                cells.append(draw.choice(["1,2,3", *NAMES, drawn_name(draw)]))
                values.append(cells[-1])
        rows.append(cells)
        expected.append(values[: len(names)])
    if name == "gpu_op_type":
        expected = [[one[0], one[2], one[1], *one[3:]] for one in expected]
    write_csv(tmp_path / file, header, rows)
    texts = [one for one in names if one.endswith(("name", "type"))]
    for _ in range(10):
        condition = drawn_condition(draw, names, texts, [*NAMES, 1, 2], names)
        assert query(tmp_path, name, condition) == plain_answer(names, expected, condition)


@pytest.mark.parametrize("seed", SEEDS)
def test_m67_operators_of_the_data_pipeline(seed: int, tmp_path: Path) -> None:
    draw = random.Random(seed)
    count = draw.randint(1, 9)
    parents = [None, *(draw.randrange(one) for one in range(1, count))]
    rows = []
    for one, parent in enumerate(parents):
        sizes = [draw.randrange(64) for _ in range(3)] if one else None
        mean = sum(sizes) / 3 if sizes else None
        rate = mean / 64 if mean is not None else 0
        children = [other for other in range(1, count) if parents[other] == one] or None
        kind = draw.choice(["MapOp", "BatchOp"])
        of_queue = [sizes, mean, 64 if one else None, rate]
        rows.append([one, kind, draw.randint(1, 8), *of_queue, 10, parent, children])
    cells = [
        ["" if one is None or (one == 0 and n == 6) else one for n, one in enumerate(row)]
        for row in rows
    ]
    write_csv(tmp_path / "minddata_pipeline_raw_0.csv", PIPELINE_HEADER, cells)
    names = PIPELINE_HEADER.split(",")
    detail = {"is_display_op_detail": True}
    for _ in range(10):
        sortable = [one for one in names if one not in ("output_queue_size", "children_id")]
        condition = drawn_condition(draw, names, ["op_type"], ["MapOp", 1, 2, 64], sortable)
        filters = {**condition.get("filter_condition", {}), **detail}
        answer = query(tmp_path, "minddata_pipeline", {**condition, "filter_condition": filters})
        assert answer == plain_answer(names, rows, condition)
        fewer = query(tmp_path, "minddata_pipeline", condition)
        assert fewer["object"] == [row[:2] + row[4:] for row in answer["object"]]
    high, low = sorted([draw.random(), draw.random()], reverse=True)
    asked = {"filter_condition": {**detail, "threshold": [high, low]}}
    answer = query(tmp_path, "minddata_pipeline", asked)
    assert answer["object"] == outside(rows, high, low)


def outside(rows: list[list[Any]], high: float, low: float) -> list[list[Any]]:
    root, *others = rows
    if all(row[6] >= high for row in others):
        return [root]
    inner = [row for row in others if row[9] and any(rows[one][6] - row[6] > 0.1 for one in row[9])]
    return inner + [row for row in others if not row[9] and row[6] < low]


def test_m55_rounding_is_that_of_python() -> None:
    draw = random.Random(7)
    ties = [one / 2000 + 0.0005 for one in range(-4000, 4000)]
    near = [np.nextafter(one, side) for one in ties for side in (-9.0, 9.0)]
    wide = [draw.uniform(-1, 1) * 10.0 ** draw.randint(-12, 20) for _ in range(4000)]
    numbers = np.array([*ties, *near, *wide, 0.0, 2.675, 1e300, -0.0])
    for digits in (2, 3, 6):
        expected = [round(float(one), digits) for one in numbers]
        assert rounded(numbers, digits).tolist() == expected


# --- conditions -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("condition", "reason"),
    [
        ([], "the condition: expected a mapping"),
        ({"sort": {}}, "unknown key of a condition 'sort'; known: .*sort_condition"),
        ({"group_condition": {"limit": 0}}, "limit: expected a whole number from 1 to 100, got 0"),
        ({"group_condition": {"limit": 101}}, "limit: expected a whole number from 1 to 100"),
        ({"group_condition": {"limit": True}}, "limit: expected a whole number .* got True"),
        ({"group_condition": {"limit": 1.0}}, "limit: expected a whole number .* got 1.0"),
        ({"group_condition": {"offset": -1}}, "offset: expected a whole number from 0"),
        ({"group_condition": {"offset": 1_000_001}}, "offset: expected .* to 1,000,000"),
        ({"filter_condition": {"op_type": ["Cast"]}}, "op_type: expected a mapping"),
        ({"filter_condition": {"op_type": {"in": "Cast"}}}, "op_type.in: expected a list"),
        ({"filter_condition": {"op_type": {"in": [True]}}}, "expected texts or numbers, got True"),
        ({"filter_condition": {"op_type": {"partial_match_str_in": [1]}}}, "expected texts, got 1"),
        ({"filter_condition": {"total_time": {"partial_match_str_in": ["1"]}}}, "are numbers"),
        ({"sort_condition": {"name": 1}}, "name: expected a text"),
        ({"sort_condition": {"name": "total_time", "type": "up"}}, "ascending or descending"),
        ({"sort_condition": {"name": "total_tim"}}, "unknown column 'total_tim'; did you mean"),
    ],
)
def test_m58_a_condition_that_is_wrong_says_what_is_right(
    condition: Any, reason: str, tmp_path: Path
) -> None:
    write_csv(tmp_path / "aicore_intermediate_0_type.csv", TYPE_HEADER, [["Cast", 1, 1, 1]])
    with pytest.raises(WrongCondition, match=reason):
        query(tmp_path, "aicore_type", condition)


@pytest.mark.parametrize(
    ("name", "switches", "reason"),
    [
        ("aicore_detail", {"is_display_detail": 1}, "expected true or false, got 1"),
        ("minddata_pipeline", {"threshold": [0.8]}, "expected two numbers, the high one first"),
        ("step_trace", {"step_id": -1}, "expected a whole number from 0 on"),
        ("step_trace", {"mode": "row"}, "expected step or proc, got 'row'"),
        ("gpu_op_type_info", {"step_filter": []}, "expected a list of texts"),
    ],
)
def test_m58_switches_are_those_of_an_analyser(
    name: str, switches: Any, reason: str, tmp_path: Path
) -> None:
    with pytest.raises(WrongCondition, match=reason):
        query(tmp_path, name, {"filter_condition": switches})


@pytest.mark.parametrize("name", ["op_info", "output_queue_size", "children_id"])
def test_m55_lists_and_documents_are_no_order(name: str, tmp_path: Path) -> None:
    of = "aicore_detail" if name == "op_info" else "minddata_pipeline"
    with pytest.raises(WrongCondition, match=f"rows cannot be sorted by {name}"):
        query(tmp_path, of, {"sort_condition": {"name": name}})
