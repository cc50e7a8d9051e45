"""Real profiles with kernels as msprof writes them from their launch alone.

``cann_trace_db_dumper.cpp`` describes a kernel by what the framework reported of it. Of kernels at
level 0, and of one that no framework described, such as one of Triton, it has the launch alone: of
the first the number of blocks since 2026-06-01, of the second the name, and no blocks until then.
"""

from __future__ import annotations

import csv
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from profiles import real
from slices import marked

from ascend_conformance.check import check
from ascend_conformance.options import Options

Row = dict[str, str]

DESCRIPTION = (
    "OP State",
    "HF32 Eligible",
    *(
        f"{side} {fact}"
        for side in ("Input", "Output")
        for fact in ("Shapes", "Data Types", "Formats")
    ),
)
BLOCKS = ("Block Dim", "Mix Block Dim")


def by_launch_alone(row: Row) -> None:
    row.update(dict.fromkeys(DESCRIPTION, "N/A"))
    row.update({name: "0" for name in BLOCKS if name in row})
    row["Type"] = row["Name"]


def of_level_0(row: Row) -> None:
    row.update(dict.fromkeys((*DESCRIPTION, "Type", "Accelerator Core"), "N/A"))


def found(folder: Path, change: Callable[[list[Row]], None], rule: str) -> list[str]:
    """What the rule finds after the rows of kernel_details.csv were changed."""
    path = folder / "ASCEND_PROFILER_OUTPUT" / "kernel_details.csv"
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    change(rows)
    with path.open("w", encoding="utf-8", newline="") as file:
        written = csv.DictWriter(file, list(rows[0]), lineterminator="\r\n")
        written.writeheader()
        written.writerows(rows)
    findings = check([folder], Options(workers=1)).findings
    return [f"{one.place} {one.message}" for one in findings if one.rule == rule]


def kernels(rows: list[Row]) -> list[Row]:
    return [row for row in rows if row["Accelerator Core"] not in ("COMMUNICATION", "N/A")]


@pytest.fixture(
    params=[
        "text/pytorch_level1_rank0",
        marked("generations/text_llm_2025_level2_rank0", pytest.mark.exhaustive),
    ]
)
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return copy_of_tables(real(f"../{request.param}"), tmp_path)


def copy_of_tables(source: Path, folder: Path) -> Path:
    """The files of a real folder without its timeline, which no rule of these tests reads."""
    timeline = shutil.ignore_patterns("trace_view.json")
    return shutil.copytree(source, folder / "real", ignore=timeline, copy_function=shutil.copyfile)


@pytest.mark.campaign
def test_a_kernel_that_no_framework_described_has_no_blocks(folder: Path) -> None:
    assert found(folder, lambda rows: by_launch_alone(kernels(rows)[0]), "CSV203") == []


@pytest.mark.exhaustive
def test_a_kernel_that_is_described_has_blocks(folder: Path) -> None:
    def change(rows: list[Row]) -> None:
        kernels(rows)[0]["Block Dim"] = "0"

    assert len(found(folder, change, "CSV203")) == 1


@pytest.mark.exhaustive
def test_blocks_of_the_launch_at_level_0_are_no_fault(folder: Path) -> None:
    def change(rows: list[Row]) -> None:
        for row in kernels(rows):
            of_level_0(row)

    assert found(folder, change, "CSV204") == []


@pytest.mark.exhaustive
def test_one_kind_of_core_that_is_missing_is_a_fault(folder: Path) -> None:
    def change(rows: list[Row]) -> None:
        kernels(rows)[0]["Accelerator Core"] = "N/A"

    assert len(found(folder, change, "CSV204")) == 1


@pytest.mark.campaign
def test_kernels_of_communication_are_in_no_statistic(tmp_path: Path) -> None:
    """``op_counter_op_scene_calculator.py`` leaves them out of what op_statistic.csv sums up."""
    folder = copy_of_tables(real("../generations/text_llm_2025_level2_rank0"), tmp_path)

    def change(rows: list[Row]) -> None:
        place = rows.index(kernels(rows)[30])
        kernel = {"Name": "hcom_allReduce_AivKernel", "Type": "hcom_allReduce_"}
        rows.insert(
            place + 1,
            {**rows[place], **kernel, "Accelerator Core": "COMMUNICATION", "Task ID": "64001"},
        )

    assert found(folder, change, "XLR201") == []
