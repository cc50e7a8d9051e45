"""Every file of a recording: which there are, their headers, and what is refused."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from slices import some
from small_recordings import START, kernel, recording, task, written

from ascend_ref.capture import RECORDS
from ascend_ref.recorded import Output, Recorded, from_captures
from ascend_ref.text import write_csv_files
from ascend_ref.text.write import OF_EACH_OUTPUT, OF_RECORDS, OF_TABLES
from ascend_simulator.cli.presets import named
from ascend_simulator.run import simulate
from ascend_simulator.scenario import override
from ascend_spec import text_catalog

CATALOG = text_catalog()
NOT_RECORDED = {
    "dataset",  # Of the data pipeline of MindSpore, which no recording has.
    # Upstream's alone, and of chips whose records nobody knows here.
    "llc_aicpu",
    "llc_ctrlcpu",
    "llc_bandwidth",
}
PRESETS = ("text-museum", "observed-everything", "single-op", "inference-310p", "cnn-910a")


@cache
def recorded_of(preset: str, output: Output) -> Recorded:
    capture = simulate(override(named(preset), ranks=1, steps=1, level=None)).capture(0)
    return from_captures([capture], output)


def test_every_file_of_the_spec_has_its_source() -> None:
    known = OF_TABLES.keys() | OF_EACH_OUTPUT.keys() | RECORDS.keys() & CATALOG.csv.keys()
    assert known == CATALOG.csv.keys() - NOT_RECORDED
    assert OF_RECORDS.keys() <= RECORDS.keys()


def test_of_the_files_those_that_are_wanted_are_written(tmp_path: Path) -> None:
    recorded = recorded_of("observed-everything", "pytorch")
    for name in ("all", "one", "none"):
        (tmp_path / name).mkdir()
    every = {path.name: path.read_bytes() for path in write_csv_files(recorded, tmp_path / "all")}
    (path,) = write_csv_files(recorded, tmp_path / "one", files=["kernel_details"])
    assert path.read_bytes() == every[path.name]
    assert len(every) > 3
    with pytest.raises(ValueError, match="'kernels'; expected names of CSV files"):
        write_csv_files(recorded, tmp_path / "none", files=["kernel_details", "kernels"])
    assert list((tmp_path / "none").iterdir()) == []


def file_of(path: Path, output: Output) -> str:
    """The name in the spec of a written file."""
    module = path.stem.rpartition("_")[0] if output == "msprof" else path.stem
    (found,) = (one.name for one in CATALOG.in_folder(output) if one.modules[output] == module)
    return found


@pytest.mark.parametrize(
    ("preset", "output", "writer"),
    some(
        [
            (preset, *form)
            for preset in PRESETS
            for form in (
                ("msprof", None),
                ("pytorch", "adapter-2025-12"),
                ("msprof", "python"),
                ("pytorch", None),
            )
        ],
        every=9,
    ),
)
def test_files_are_whole_and_always_the_same(
    preset: str, output: Output, writer: str | None, tmp_path: Path
) -> None:
    recorded = recorded_of(preset, output)
    family = recorded.origin.family
    assert family is not None
    paths = write_csv_files(recorded, tmp_path, writer=writer)
    assert sorted(paths) == sorted(tmp_path.iterdir())
    again = tmp_path / "again"
    again.mkdir()
    for path, same in zip(paths, write_csv_files(recorded, again, writer=writer), strict=True):
        assert path.name == same.name
        data = path.read_bytes()
        assert data == same.read_bytes()
        header, *rows = csv.reader(io.StringIO(data.decode(), newline=""))
        file = CATALOG.csv[file_of(path, output)]
        assert rows, path.name
        assert {len(row) for row in rows} == {len(header)}, path.name
        assert all(file.column(name) is not None for name in header), path.name
        end = b"\r\n" if output == "pytorch" else b"\n"
        assert data.endswith(end)
        assert (b"\r" in data) == (output == "pytorch")


def test_the_museum_has_them_all(tmp_path: Path) -> None:
    names = {
        file_of(path, "msprof")
        for path in write_csv_files(recorded_of("text-museum", "msprof"), tmp_path)
    }
    of_other_chips = {"dp", "ddr", "ub", "ccu_mission", "ccu_channel"}
    # Its communication needs another rank; its counters are sampled, so no task has any.
    assert names == {
        file.name
        for file in CATALOG.in_folder("msprof")
        if file.name not in NOT_RECORDED | of_other_chips | {"communication_statistic"}
    }


def test_names_carry_the_end_of_the_recording(tmp_path: Path) -> None:
    recorded = recording({"TASK": [task(0, 0, 5)]}, end=START + 1_000_000_000)
    (path,) = write_csv_files(recorded, tmp_path)
    assert path.name == "task_time_20231115061321.csv"
    (path,) = write_csv_files(recorded, tmp_path, timestamp="99999999999999")
    assert path.name == "task_time_99999999999999.csv"


def test_nothing_recorded_is_no_file(tmp_path: Path) -> None:
    for output in ("msprof", "pytorch"):
        assert write_csv_files(recording({}, output=output), tmp_path) == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("output", "family", "writer", "said"),
    [
        (
            "msprof",
            "A2",
            "adapter",
            "writer: 'adapter'; expected one of cpp, python, cpp-2026-01, cpp-2025, python-2025$",
        ),
        ("msprof", "310P", "cpp", "writer: 'cpp' on 310P; expected one of A3, A2, 950$"),
        (
            "msprof",
            "A2",
            "python-2023",
            "expected one of cpp, python, cpp-2026-01, cpp-2025, python-2025$",
        ),
        ("pytorch", "A2", "adapter-2023", "expected one of adapter, adapter-2026"),
        ("pytorch", "310", None, "writer: 'adapter' on 310; expected one of A3, A2"),
    ],
)
def test_the_door(
    output: Output, family: str, writer: str | None, said: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=said):
        write_csv_files(recording({}, output=output, family=family), tmp_path, writer=writer)


def test_a_level_without_a_file_does_not_write_it(tmp_path: Path) -> None:
    tables = {
        "TASK": [task(0, 1, 5)],
        "COMPUTE_TASK_INFO": [kernel(0)],
        "CANN_API": [{"startNs": START, "endNs": START, "type": "acl", "name": "a"}],
    }
    always = {"kernel_details.csv", "step_trace_time.csv", "task_time.csv"}
    for level, names in ((0, always), (1, always | {"op_statistic.csv", "api_statistic.csv"})):
        folder = tmp_path / str(level)
        folder.mkdir()
        recorded = recording(tables, output="pytorch", level=level)
        assert {path.name for path in write_csv_files(recorded, folder)} == names
    header = (tmp_path / "0" / "kernel_details.csv").read_text().splitlines()[0]
    assert header.startswith("Device_id,Name,Type,Accelerator Core,Start Time(us),Duration(us),")


def test_an_unknown_chip_is_taken_for_the_usual_one(tmp_path: Path) -> None:
    recorded = recording({"TASK": [task(0, 0, 5)], "COMPUTE_TASK_INFO": [kernel(0)]}, family=None)
    (path,) = (path for path in write_csv_files(recorded, tmp_path) if "op_summary" in path.name)
    assert "Mix Block Num" in path.read_text()


def test_slices_of_a_whole_recording(tmp_path: Path) -> None:
    tables = {"TASK": [task(place, 10 * place, 5) for place in range(25)]}
    names = {
        writer: [
            path.name
            for path in write_csv_files(
                recording(tables), tmp_path, writer=writer, timestamp=writer, limit=5
            )
        ]
        for writer in ("cpp", "python")
    }
    for writer, found in names.items():
        assert found == [f"task_time_slice_{number}_{writer}.csv" for number in range(5)]
        starts = [
            row.split(",")[6]
            for name in found
            for row in (tmp_path / name).read_text().splitlines()[1:]
        ]
        assert starts == [f"1700000000000000.{10 * place:03}\t" for place in range(25)]


@pytest.mark.parametrize(
    ("output", "table_name", "row", "file", "cell"),
    [
        ("pytorch", "MEMORY_RECORD", {"deviceId": 0}, "memory_record", "Component"),
        ("msprof", "NPU_OP_MEM", {"deviceId": 0}, "memory_record", "Component"),
        ("pytorch", "PYTORCH_API", {"type": "op"}, "operator_details", "Name"),
        ("msprof", "OSRT_API", {"globalTid": 7}, "os_runtime_statistic", "Name"),
        ("msprof", "CANN_API", {"type": "node"}, "api_statistic", "API Name"),
        ("msprof", "CANN_API", {"name": "Conv"}, "api_statistic", "Level"),
        ("msprof", "MSTX_EVENTS", {"connectionId": 4_000_000_000}, "msprof_tx", "message"),
    ],
)
def test_a_text_that_the_database_does_not_have_is_not_invented(
    output: Output, table_name: str, row: Mapping[str, Any], file: str, cell: str, tmp_path: Path
) -> None:
    tables = {table_name: [{"startNs": START, "endNs": START + 5, "timestampNs": START, **row}]}
    text = written(recording(tables, output=output), tmp_path, file)
    (found,) = csv.DictReader(io.StringIO(text, newline=""))
    assert found[cell] == ("" if cell == "Level" else "N/A")  # api_statistic_assembler.cpp
