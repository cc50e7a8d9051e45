"""Real files, written again from the values in their cells: byte for byte."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from real_files import FILES, bytes_of, nanoseconds, rows_of

from ascend_ref.text.setting import Setting
from ascend_ref.text.sheet import write_sheet
from ascend_spec import text_catalog
from ascend_spec.text.model import CsvColumn

WRITER = "adapter-2025-01"


def setting(file: str) -> Setting:
    catalog = text_catalog()
    return Setting(
        file=catalog.csv[file],
        writer=catalog.writers[WRITER],
        family="A2",
        level=1,
        metrics="PipeUtilization" if file == "kernel_details" else None,
        scene=frozenset({"steps"}),
    )


def typed(column: CsvColumn, cells: list[str]) -> pa.Array:
    """Cells as values: instants as ns, numbers of one form as such, anything else as it stands."""
    values = [None if cell in column.sentinels else cell for cell in cells]
    filled = [cell for cell in values if cell is not None]
    if filled and column.tab and all(cell.endswith("\t") for cell in filled):
        return pa.array([cell and nanoseconds([cell])[0] for cell in values], pa.int64())
    if filled and not column.tab and "real" in column.storage and all("." in c for c in filled):
        return pa.array([cell and float(cell) for cell in values], pa.float64())
    if filled and column.unit != "us" and all(cell.isdecimal() for cell in filled):
        return pa.array([cell and int(cell) for cell in values], pa.int64())
    return pa.array(values, pa.string())


@pytest.mark.parametrize("file", FILES)
def test_a_real_file_comes_back_byte_for_byte(file: str, tmp_path: Path) -> None:
    real, rows, how = bytes_of(file), rows_of(file), setting(file)
    by_name = {one.name_by(how.writer): one for one in how.columns()}
    assert list(by_name) == list(rows[0])
    columns = {
        column.name: typed(column, [row[name] for row in rows]) for name, column in by_name.items()
    }
    assert any(not pa.types.is_string(values.type) for values in columns.values())
    (path,) = write_sheet(how, [columns], tmp_path)
    assert path.name == f"{file}.csv"
    written = path.read_bytes()
    if b"\r\n" not in real:
        # The writer ends lines with CR LF; some of the fixtures have lost the CR (2.4).
        written = written.replace(b"\r\n", b"\n")
    assert written == real
