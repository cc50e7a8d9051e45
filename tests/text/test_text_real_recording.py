"""From a recording to files: the real ones come back, but for what their rounding has taken."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from real_files import FILES, bytes_of, rows_of
from real_recording import real_recording

from ascend_ref.text import write_csv_files

EXACT = {
    "api_statistic",
    "l2_cache",
    "memory_record",
    "npu_module_mem",
    "operator_memory",
}
"""Files whose values stand in the recording without loss: the same bytes."""
TOLERANCES = {"kernel_details": 0.0021, "operator_details": 0.01, "step_trace_time": 0.5}
"""us by which figures differ whose sources are rounded to ns in what we have (7.2, 7.3, 7.7)."""

WITH_AI_CORE = "With AICore"
"""Columns whose sums leave out vector kernels now; the old timeline called those AI_CORE, too."""


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("written")
    write_csv_files(real_recording(), folder, writer="adapter-2025-01")
    return folder


def test_every_file_is_there(written: Path) -> None:
    assert sorted(path.name for path in written.iterdir()) == [f"{name}.csv" for name in FILES]


@pytest.mark.parametrize("file", FILES)
def test_the_file_is_the_real_one(file: str, written: Path) -> None:
    data, real = (written / f"{file}.csv").read_bytes(), bytes_of(file)
    if b"\r\n" not in real:
        data = data.replace(b"\r\n", b"\n")
    if file in EXACT:
        assert data == real
        return
    found = list(csv.DictReader(data.decode().splitlines(keepends=True)))
    rows = rows_of(file)
    assert len(found) == len(rows)
    assert list(found[0]) == list(rows[0])
    for number, (ours, theirs) in enumerate(zip(found, rows, strict=True)):
        tolerance = TOLERANCES.get(file) or 0.0015 * int(theirs["Count"])
        for column, cell in theirs.items():
            if ours[column] != cell:
                difference = abs(float(ours[column]) - float(cell))
                if WITH_AI_CORE in column:
                    difference = max(float(ours[column]) - float(cell), 0)
                assert difference <= tolerance, (number, column, ours[column], cell)
