"""Speed of the CSV writer on op_summary, as a ratio against Python's csv module in one run.

    python benchmarks/text_csv.py [--rows 1000000] [--folder DIR]

Both get the same columns of numbers and texts, and write the same bytes.
"""

from __future__ import annotations

import argparse
import csv
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
from lines import Line, best, show

from ascend_ref.text.columns import BATCH_ROWS, Columns
from ascend_ref.text.setting import Setting
from ascend_ref.text.sheet import write_sheet
from ascend_spec import text_catalog

MILLION = 1_000_000
SHAPES = ['"32,3,224,224"', '";"', "N/A", '"1,1024;1024,4096;4096"']
TEXTS = {
    "Op Name": [f"aclnnMatmul_{number}_MatMulV2AiCore_MatMulV2" for number in range(500)],
    "OP Type": ["MatMulV2", "TransData", "Mul", "Cast"],
    "OP State": ["dynamic", "static"],
    "Task Type": ["AI_CORE", "AI_VECTOR_CORE", "MIX_AIV"],
    "HF32 Eligible": ["NO", "YES"],
    "Input Shapes": SHAPES,
    "Input Data Types": ["FLOAT", "FLOAT;FLOAT", "DT_BF16;DT_BF16;FLOAT"],
    "Input Formats": ["NCHW", "FORMAT_ND;FORMAT_ND"],
    "Output Shapes": SHAPES,
    "Output Data Types": ["FLOAT", "DT_BF16"],
    "Output Formats": ["NC1HWC0", "FORMAT_ND"],
}
"""What the texts of a column are made of."""
NUMBERS = {"Device_id": 8, "Task ID": 65_536, "Stream ID": 40, "Block Num": 48}
"""Whole numbers below so many; others below CYCLES."""
CYCLES = 9_000_000
START = 1_736_408_883_704_643_212


def setting() -> Setting:
    """op_summary of the Python engine on A2, level 1, with the metrics of the pipes."""
    catalog = text_catalog()
    return Setting(catalog.csv["op_summary"], catalog.writers["python"], "A2", 1, "PipeUtilization")


def made(rows: int) -> dict[str, pa.Array]:
    """The columns of op_summary."""
    draws = np.random.Generator(np.random.PCG64(7))
    columns: dict[str, pa.Array] = {}
    for column in setting().columns():
        name = column.name
        if name in TEXTS:
            places = draws.integers(0, len(TEXTS[name]), rows, np.int32)
            columns[name] = pa.DictionaryArray.from_arrays(places, TEXTS[name])
        elif column.tab:
            columns[name] = pa.array(START + np.cumsum(draws.integers(0, 200_000, rows)))
        elif name in ("Task Duration(us)", "Task Wait Time(us)"):
            columns[name] = pa.array(draws.integers(0, 2_000_000, rows))
        elif column.metric is None or column.unit == "cycle":
            columns[name] = pa.array(draws.integers(0, NUMBERS.get(name, CYCLES), rows))
        else:
            columns[name] = pa.array(draws.random(rows) * (500 if column.unit == "us" else 1))
    return columns


def write(folder: Path, columns: Columns) -> Path:
    """The file as the writer makes it."""
    table = pa.table(dict(columns))
    batches = (
        {name: part[name].combine_chunks() for name in part.column_names}
        for part in (table.slice(first, BATCH_ROWS) for first in range(0, len(table), BATCH_ROWS))
    )
    rows = len(table)
    (path,) = write_sheet(setting(), batches, folder, timestamp="20260101000000", limit=rows + 1)
    return path


def write_plainly(path: Path, columns: Columns) -> None:
    """The same file, formatted by Python and written by its csv module."""
    with path.open("w", newline="", encoding="utf-8") as target:
        writer = csv.writer(target, lineterminator="\n")
        writer.writerow(columns)
        cells = [plain_cells(values, name) for name, values in columns.items()]
        writer.writerows(zip(*cells, strict=True))


def plain_cells(values: pa.Array, name: str) -> list[str]:
    """The cells of a column, one by one."""
    column = setting().column(name)
    if column.tab:
        return [f"{value // 1000}.{value % 1000:03}\t" for value in values.to_pylist()]
    if pa.types.is_floating(values.type):
        return [str(round(value, 3)) for value in values.to_pylist()]
    if column.unit == "us":
        return [str(value / 1000) for value in values.to_pylist()]
    return [str(value) for value in values.to_pylist()]


def measure_csv(folder: Path, rows: int) -> Iterator[Line]:
    """Writing op_summary, against csv.writer."""
    columns = made(rows)
    plain = folder / "plain.csv"
    path = write(folder, columns)
    seconds = best(lambda: write(folder, columns))
    against = best(lambda: write_plainly(plain, columns), 1)
    assert path.read_bytes() == plain.read_bytes(), "the same bytes"
    what = f"op_summary of {rows:,} rows: write"
    yield Line(what, against / seconds, 5, "x", False, "csv.writer, cells made by Python")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=MILLION)
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        show(list(measure_csv(Path(name), options.rows)))


if __name__ == "__main__":
    main()
