"""What MindSpore's profiler wrote itself is named, not judged as torch_npu's; the rest is judged.

The forms are those of mindspore.profiler.analysis.viewer.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ascend_conformance.check import check
from ascend_conformance.discover import NothingToCheck

FOLDER = "host_1_20250617064811905_ascend_ms"
HEADER = (
    "Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Total Active(MB),Device Type"
)
MEMORY = f"{HEADER}\r\n" + "".join(
    f"{component},1750142891905000.123,1.024,2.048,1.024,NPU:0\r\n"
    for component in ("MindSpore", "MindSpore+GE")
)
KERNELS = "Step ID,Model ID,Task ID,Stream ID,Name,Type,Accelerator Core\r\n1,1,1,1,a,b,AI_CORE\r\n"
STATISTIC = (
    "Device_id,OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),"
    "Ratio(%)\n0,MatMul,AI_CORE,2,4.0,1.0,2.0,3.0,100.0\n"
)
INFO = json.dumps({"ms_profiler_info": {"rank_id": "0", "device_id": "0"}, "ms_version": "2.7.0"})


def output(above: Path) -> Path:
    folder = above / "ASCEND_PROFILER_OUTPUT"
    folder.mkdir(parents=True)
    return folder


def names_of(folder: Path) -> tuple[set[str], set[str]]:
    """The files that are named as MindSpore's, and the rules that other findings are of."""
    findings = check([folder]).findings
    named = {Path(one.file).name for one in findings if one.rule == "REF004"}
    return named, {one.rule for one in findings} - {"REF004"}


def test_its_own_files_are_named_and_those_of_msprof_judged(tmp_path: Path) -> None:
    folder = output(tmp_path / FOLDER)
    (folder / "memory_record.csv").write_text(MEMORY, newline="")
    (folder / "operator_details.csv").write_text("Name,Input Shapes\r\na,[[1]]\r\n", newline="")
    (folder / "op_statistic.csv").write_text(STATISTIC)
    (folder.parent / "profiler_info_0.json").write_text(INFO)
    (folder.parent / "profiler_metadata.json").write_text("{}")
    named = {"memory_record.csv", "operator_details.csv"}
    assert names_of(tmp_path) == (named, set())
    (folder / "op_statistic.csv").write_text(STATISTIC.replace("4.0", "-4.0"))
    found, broken = names_of(tmp_path)
    assert (found, bool(broken)) == (named, True)


@pytest.mark.parametrize(
    ("name", "text"), [("memory_record.csv", MEMORY), ("kernel_details.csv", KERNELS)]
)
def test_its_files_show_it_in_a_renamed_folder(tmp_path: Path, name: str, text: str) -> None:
    folder = output(tmp_path / "rank0")
    (folder / name).write_text(text, newline="")
    (folder / "op_statistic.csv").write_text(STATISTIC)
    assert names_of(tmp_path) == ({name}, set())


def test_the_document_above_shows_it(tmp_path: Path) -> None:
    folder = output(tmp_path / "rank0")
    (folder / "operator_details.csv").write_text("Name,Input Shapes\r\na,[[1]]\r\n", newline="")
    (folder.parent / "profiler_info_0.json").write_text(INFO)
    with pytest.raises(NothingToCheck, match=r"operator_details\.csv: written by MindSpore"):
        check([tmp_path])


def test_a_single_file_of_it_is_named(tmp_path: Path) -> None:
    path = output(tmp_path / FOLDER) / "memory_record.csv"
    path.write_text(MEMORY, newline="")
    (report,) = check([path]).files
    assert "written by MindSpore" in (report.unreadable or "")


def test_files_of_torch_npu_are_judged(tmp_path: Path) -> None:
    """The same defects under the name of torch_npu's folder are found."""
    folder = output(tmp_path / FOLDER.replace("_ms", "_pt"))
    (folder / "memory_record.csv").write_text(MEMORY, newline="")
    named, broken = names_of(tmp_path)
    assert not named
    assert "CSV026" in broken


def test_what_msprof_analyses_for_an_adapter_is_no_document_of_it(tmp_path: Path) -> None:
    """msprof's communication.json has operators and no steps; it stays in PROF_*/analyze."""
    folder = tmp_path / "PROF_000001_20250617064812088_QGGJHHNAODRDOJFB" / "analyze"
    folder.mkdir(parents=True)
    (folder / "communication.json").write_text(json.dumps({"hcom_allReduce__1_0_1@1": {}}))
    (output(tmp_path) / "op_statistic.csv").write_text(STATISTIC)
    assert {Path(one.file).name for one in check([tmp_path]).files} == {"ASCEND_PROFILER_OUTPUT"}
    (tmp_path / "ASCEND_PROFILER_OUTPUT" / "communication.json").write_text('{"a@1": {}}')
    assert "DOC002" in names_of(tmp_path)[1]
