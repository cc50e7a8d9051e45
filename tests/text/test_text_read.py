"""Typed CSV files: each value next to the text it was read from."""

from __future__ import annotations

import csv
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from ascend_ref.text.headers import canonical_names, recognise
from ascend_ref.text.read import columns_of, value_of
from ascend_ref.text.rows import CsvRows
from ascend_spec import text_catalog

RANK = Path(__file__).parents[2] / ".." / "shared" / "data" / "text" / "pytorch_level1_rank0"
FOLDER = RANK / "ASCEND_PROFILER_OUTPUT"
PLACE = ("row", "line", "offset")
FILES = ("api_statistic", "kernel_details", "memory_record", "op_statistic", "operator_memory")


def rows_of(path: Path, file: str) -> list[dict[str, Any]]:
    """The rows with text and value of each cell, under the newest name of its column."""
    source = CsvRows(path)
    batches = list(source.batches())
    if not batches:
        return []
    spec = text_catalog().csv[file]
    writer = recognise(spec, source.header).circumstances[0].writer
    names = canonical_names(spec, source.header, writer)
    cells = []
    for name, column in columns_of(file, [one for one in names if one], writer):
        text = f'"{names.index(name)}"'
        cells.append(f"{{'text': {text}, 'value': {value_of(column, text)}}} AS \"{name}\"")
    with closing(duckdb.connect()) as connection:
        connection.register("source", pa.Table.from_batches(batches))
        query = f'SELECT "row", "line", "offset", {", ".join(cells)} FROM source'
        found: list[dict[str, Any]] = connection.sql(query).to_arrow_table().to_pylist()
    return found


@pytest.mark.parametrize("file", FILES)
def test_values_of_real_cells(file: str) -> None:
    path = FOLDER / f"{file}.csv"
    if not path.is_file():
        pytest.skip(f"needs the real files of {RANK}")
    with path.open(newline="", encoding="utf-8") as source:
        header, *wanted = csv.reader(source)
    rows = rows_of(path, file)
    assert len(rows) == len(wanted)
    for row, cells in zip(rows, wanted, strict=True):
        found = [value for name, value in row.items() if name not in PLACE]
        assert [one["text"] for one in found] == cells
        for name, one in zip(header, found, strict=True):
            assert one["value"] == value(name, one["text"])


def value(name: str, text: str) -> object:
    """What a cell means, without the spec: N/A and nothing are no value, numbers are numbers."""
    bare = text.rstrip("\t")
    if bare in ("", "N/A"):
        return None
    if name.startswith(("Start Time", "Timestamp")) or name.endswith(
        ("tion Time(us)", "ase Time(us)")
    ):
        return int(Decimal(bare) * 1000)
    try:
        return float(bare)
    except ValueError:
        return text


def test_old_names_come_under_the_newest(tmp_path: Path) -> None:
    path = tmp_path / "old.csv"
    path.write_text("OP Type,Core Type,Count,Total Time(us)\nConv,AI_CORE,three,1.5\n")
    (row,) = rows_of(path, "op_statistic")
    assert row["Count"] == {"text": "three", "value": None}
    assert row["Total Time(us)"] == {"text": "1.5", "value": 1.5}
    assert (row["row"], row["line"], row["offset"]) == (0, 2, 39)


def test_file_without_rows_gives_none(tmp_path: Path) -> None:
    path = tmp_path / "empty.csv"
    path.write_text("OP Type,Count\n")
    assert rows_of(path, "op_statistic") == []
