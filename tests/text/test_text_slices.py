"""Slices: their bounds, names and headers, by the rules of text-outputs.md 2.2."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from ascend_ref.text.setting import Setting
from ascend_ref.text.sheet import TooManyRows, write_sheet
from ascend_spec import text_catalog

STAMP = "20260101120000"


def setting(writer: str, file: str = "npu_mem") -> Setting:
    catalog = text_catalog()
    return Setting(catalog.csv[file], catalog.writers[writer], "A2")


def batches(rows: int, size: int) -> Iterator[dict[str, pa.Array]]:
    for start in range(0, rows, size):
        numbers = list(range(start, min(start + size, rows)))
        count = len(numbers)
        yield {
            "Device_id": pa.array(["0"] * count),
            "event": pa.array(["APP"] * count),
            "ddr(KB)": pa.array([0.0] * count),
            "hbm(KB)": pa.array([float(number) for number in numbers]),
            "memory(KB)": pa.array([float(number) for number in numbers]),
            "timestamp(us)": pa.array(numbers),
        }


def written(paths: list[Path]) -> list[int]:
    """The numbers of all rows; each file begins with the header."""
    found = []
    for path in paths:
        header, *rows = path.read_text().splitlines()
        assert header == "Device_id,event,ddr(KB),hbm(KB),memory(KB),timestamp(us)"
        found += [int(row.split(",")[3].removesuffix(".0")) for row in rows]
    return found


@pytest.mark.parametrize("size", [1, 3, 10, 25, 100])
@pytest.mark.parametrize(
    ("writer", "rows", "names"),
    [
        ("cpp", 9, [f"npu_mem_{STAMP}.csv"]),
        ("cpp", 10, [f"npu_mem_{STAMP}.csv"]),
        ("cpp", 11, [f"npu_mem_slice_{number}_{STAMP}.csv" for number in range(2)]),
        ("cpp", 20, [f"npu_mem_slice_{number}_{STAMP}.csv" for number in range(2)]),
        ("python", 9, [f"npu_mem_{STAMP}.csv"]),
        ("python", 10, [f"npu_mem_slice_0_{STAMP}.csv"]),
        ("python", 11, [f"npu_mem_slice_{number}_{STAMP}.csv" for number in range(2)]),
        ("python", 30, [f"npu_mem_slice_{number}_{STAMP}.csv" for number in range(3)]),
        ("python", 31, [f"npu_mem_slice_{number}_{STAMP}.csv" for number in range(4)]),
    ],
)
def test_full_slices_and_the_rest(
    writer: str, rows: int, names: list[str], size: int, tmp_path: Path
) -> None:
    paths = write_sheet(setting(writer), batches(rows, size), tmp_path, timestamp=STAMP, limit=10)
    assert [path.name for path in paths] == names
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(names)
    assert written(paths) == list(range(rows))
    assert [len(path.read_text().splitlines()) - 1 for path in paths[:-1]] == [10] * (
        len(paths) - 1
    )


@pytest.mark.parametrize("batched", [[], [{"event": pa.array([], pa.string())}]])
def test_no_rows_are_no_file(batched: list[dict[str, pa.Array]], tmp_path: Path) -> None:
    assert write_sheet(setting("cpp"), batched, tmp_path, timestamp=STAMP) == []
    assert list(tmp_path.iterdir()) == []


def test_the_adapter_never_slices(tmp_path: Path) -> None:
    how = setting("adapter", "npu_module_mem")
    columns = {
        "Device_id": pa.array(["0"] * 9),
        "Component": pa.array(["HCCL"] * 9),
        "Timestamp(us)": pa.array(range(9)),
        "Total Reserved(MB)": pa.array([0.5] * 9),
        "Device": pa.array(["NPU:0"] * 9),
    }
    (path,) = write_sheet(how, [columns], tmp_path, limit=2)
    assert path.name == "npu_module_mem.csv"
    assert path.read_bytes().count(b"\r\n") == 10


def test_a_file_that_is_not_cut_fails_beyond_its_limit(tmp_path: Path) -> None:
    how = setting("python", "msprof_tx")
    row = {column.name: pa.array(["0"] * 4) for column in how.columns()}
    assert len(write_sheet(how, [row, row], tmp_path, timestamp=STAMP, limit=8)) == 1
    with pytest.raises(TooManyRows, match="msprof_tx: more than 7 rows"):
        write_sheet(how, [row, row], tmp_path, timestamp="2", limit=7)
    assert len(list(tmp_path.iterdir())) == 1


def test_nothing_half_written_stays(tmp_path: Path) -> None:
    def broken() -> Iterator[dict[str, pa.Array]]:
        yield from batches(25, 5)
        raise OSError("the source is gone")

    with pytest.raises(OSError, match="the source is gone"):
        write_sheet(setting("python"), broken(), tmp_path, timestamp=STAMP, limit=10)
    assert list(tmp_path.iterdir()) == []


def test_a_column_that_nothing_fills_holds_zeros(tmp_path: Path) -> None:
    (columns,) = batches(3, 3)
    del columns["hbm(KB)"]
    (path,) = write_sheet(setting("cpp"), [columns], tmp_path, timestamp=STAMP)
    with path.open(encoding="utf-8", newline="") as file:
        assert [row["hbm(KB)"] for row in csv.DictReader(file)] == ["0", "0", "0"]
