"""Speed of queries of MindSpore's analysers, against plain Python row by row, in one run.

    python benchmarks/mindspore_analyse.py [--rows 1000000]

The peer reads CSV with the standard library, makes numbers, keeps the rows that pass the filter,
sorts them by a comparison and takes a page: what the viewer does.
"""

from __future__ import annotations

import argparse
import csv
import functools
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from lines import Line, best, show

from ascend_ref.mindspore.analyse.factory import load_analyser
from ascend_ref.mindspore.analyse.files import Folder

NAME = "aicore_type"
HEADER = ("kernel_type", "total_time", "execution_frequency", "percent")
FILE = "aicore_intermediate_0_type.csv"
BOUND = 0.2
CONDITION: Mapping[str, Any] = {
    "filter_condition": {
        "kernel_type": {"partial_match_str_in": ["MAT", "conv"]},
        "execution_frequency": {"not_in": [3]},
    },
    "sort_condition": {"name": "total_time", "type": "descending"},
    "group_condition": {"limit": 100, "offset": 2},
}


def write(path: Path, rows: int) -> None:
    """Types with times that come often."""
    draw = np.random.default_rng(1)
    kinds = [f"{one}{number}" for one in ("MatMul", "Conv", "Cast") for number in range(1000)]
    columns = (draw.integers(0, most, rows).tolist() for most in (len(kinds), 10_000, 9))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(HEADER)
        for kind, time, often in zip(*columns, strict=True):
            writer.writerow([kinds[kind], f"{time / 10_000:.4f}", often + 1, 1 / rows])


def plain_rows(path: Path) -> list[list[Any]]:
    """The rows with numbers."""
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.reader(file)
        next(reader)
        return [_numbers(row) for row in reader]


def _numbers(row: list[str]) -> list[Any]:
    total, often = shown(float(row[1]) * 1000), int(row[2])
    return [row[0], total, often, shown(float(row[3]) * 100), shown(total / often)]


def shown(number: float) -> float:
    """Below 1 to 6 decimals, else to 3."""
    return round(number, 6 if number < 1 else 3)


def plain_answer(rows: list[list[Any]]) -> list[list[Any]]:
    """The page of the condition."""
    filters = CONDITION["filter_condition"]
    parts = filters["kernel_type"]["partial_match_str_in"]
    refused = filters["execution_frequency"]["not_in"]
    kept = [
        row
        for row in rows
        if any(part.lower() in row[0].lower() for part in parts) and row[2] not in refused
    ]
    kept.sort(key=functools.cmp_to_key(_by_time), reverse=True)
    limit, offset = CONDITION["group_condition"]["limit"], CONDITION["group_condition"]["offset"]
    return kept[limit * offset : limit * (offset + 1)]


def _by_time(one: list[Any], other: list[Any]) -> int:
    return int(one[1] > other[1]) - int(one[1] < other[1])


def main() -> None:
    """Both ways, with and without reading the file."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1_000_000)
    count = parser.parse_args().rows
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / FILE
        write(path, count)
        rows = plain_rows(path)
        loaded = load_analyser(NAME, Folder(path.parent, "0"))
        assert loaded.query(CONDITION)["object"] == plain_answer(rows)
        plain = best(lambda: plain_answer(rows))
        ours = best(lambda: loaded.query(CONDITION))
        plain_read = best(lambda: plain_answer(plain_rows(path)), 2)
        read = best(lambda: load_analyser(NAME, Folder(path.parent, "0")).query(CONDITION), 2)
    of = f"plain Python, {count:,} rows"
    show(
        [
            Line(
                "filter, sort, page: time", ours / plain, BOUND, "x", True, f"{of}, {plain:.2f} s"
            ),
            Line(
                "with reading: time",
                read / plain_read,
                BOUND,
                "x",
                True,
                f"{of}, {plain_read:.2f} s",
            ),
        ]
    )


if __name__ == "__main__":
    main()
