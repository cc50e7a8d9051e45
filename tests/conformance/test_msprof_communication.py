"""Real databases with operators of communication whose details or kernels are unusual.

``cann_trace_db_dumper.cpp`` writes an operator whose record of details is missing with unknown
group, algorithm and type of data, and -1 as count, relay and retry. Its tasks name their group.
A kernel that reduces for communication is a task of its own kind in ``tree_analyzer.cpp``, with the
details of a kernel and of a transfer.
"""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import pytest
from profiles import digest_of, real
from slices import few

from ascend_conformance.check import check
from ascend_conformance.options import Options
from ascend_conformance.ruleset import Selection


def copied(name: str, target: Path) -> Path:
    """A copy of a real folder of ``../shared/data``."""
    return Path(shutil.copytree(real(f"../{name}"), target / "real", copy_function=shutil.copyfile))


KNOWN: dict[tuple[str, ...], Mapping[tuple[str, str], str]] = {}
"""What rules find in folders of the same content, some of which are copies that nothing changed."""


def found(folder: Path, *rules: str) -> Mapping[tuple[str, str], str]:
    asked = (digest_of(folder), *rules)
    if asked not in KNOWN:
        findings = check([folder], Options(selection=Selection(select=rules), workers=1)).findings
        KNOWN[asked] = {(one.rule, one.place): one.message for one in findings}
    return KNOWN[asked]


@pytest.mark.parametrize("name", ["db/level1_rank0", "generations/db_910a_2024_level1_rank0"])
def test_an_operator_without_details_is_no_fault(name: str, tmp_path: Path) -> None:
    copy = copied(name, tmp_path)
    before = found(copy)
    with closing(sqlite3.connect(copy / "ascend_pytorch_profiler_0.db")) as rows:
        ((unknown,),) = rows.execute("SELECT id FROM STRING_IDS WHERE value = 'N/A'")
        rows.execute(
            "UPDATE COMMUNICATION_OP SET groupName = ?, algType = ?, dataType = 65534,"
            " count = -1, relay = -1, retry = -1 WHERE rowid = 1",
            (unknown, unknown),
        )
        rows.commit()
    assert {key: text for key, text in found(copy).items() if key not in before} == {}


@pytest.mark.parametrize("kind", ["COMMUNICATION", "HCCL_AI_CPU"])
@pytest.mark.parametrize(
    "name", few(["db/level1_rank0", "generations/db_910a_2024_level1_rank0"], every=2)
)
def test_a_kernel_of_communication_may_be_a_transfer(name: str, kind: str, tmp_path: Path) -> None:
    copy = copied(name, tmp_path)
    (copy / "analysis.db").unlink()
    before = found(copy)
    reduce(copy / "ascend_pytorch_profiler_0.db", kind)
    assert {key: text for key, text in found(copy).items() if key not in before} == {}


def test_a_kernel_of_the_program_is_no_transfer(tmp_path: Path) -> None:
    copy = copied("db/level1_rank0", tmp_path)
    reduce(copy / "ascend_pytorch_profiler_0.db", "AI_VECTOR_CORE")
    assert ("DB531", "COMMUNICATION_TASK_INFO.globalTaskId") in found(copy)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "kind", ["COMMUNICATION", pytest.param("HCCL_AI_CPU", marks=pytest.mark.exhaustive)]
)
def test_a_kernel_of_communication_is_in_no_statistic(kind: str, tmp_path: Path) -> None:
    """``op_counter_op_scene_calculator.py`` leaves it out of what op_statistic.csv sums up."""
    arguments = ["simulate", "observed-everything", "--as", "msprof-db,csv"]
    arguments = [*arguments, "--output", str(tmp_path / "run")]
    subprocess.run([sys.executable, "-m", "ascend_ref", *arguments], check=True)
    path = min((tmp_path / "run").rglob("msprof_*.db"))
    reduce(path, kind)
    assert found(path.parent, "XLR201", "XLR202") == {}


@pytest.mark.parametrize(
    ("operator", "rules"),
    [("hcom_allReduceAicpuKernel_586_0_1", set()), ("hcom_allReduce__586_0_1", {"REL521"})],
)
def test_a_kernel_that_starts_a_collective_on_the_ai_cpu_has_no_record(
    operator: str, rules: set[str], tmp_path: Path
) -> None:
    """``cann_trace_db_dumper.cpp`` writes N/A for a task that HCCL did not report."""
    copy = copied("db/level1_rank0", tmp_path)
    with closing(sqlite3.connect(copy / "ascend_pytorch_profiler_0.db")) as rows:
        ((unknown,),) = rows.execute("SELECT id FROM STRING_IDS WHERE value = 'N/A'")
        rows.execute("INSERT INTO STRING_IDS SELECT max(id) + 1, ? FROM STRING_IDS", (operator,))
        rows.execute(
            "UPDATE COMMUNICATION_TASK_INFO SET taskType = ?, size = -1, planeId = 4294967295,"
            " name = (SELECT max(id) FROM STRING_IDS) WHERE rowid = 1",
            (unknown,),
        )
        rows.commit()
    options = Options(selection=Selection(select=("REL521",)), workers=1)
    assert {one.rule for one in check([copy], options).findings} == rules


@pytest.mark.parametrize(("links", "rules"), [(1, set()), (2, {"DB917", "DB918"})])
def test_copies_over_links_without_a_name_are_packets_of_sdma(
    links: int, rules: set[str], tmp_path: Path
) -> None:
    """``communication_parser.py`` counts copies over RESERVED or INVALID_TYPE there."""
    copy = copied("db/level1_rank0", tmp_path)
    with closing(sqlite3.connect(copy / "analysis.db")) as rows:
        ((operator,),) = rows.execute("SELECT min(hccl_op_name) FROM CommAnalyzerBandwidth")
        rows.execute(
            "UPDATE CommAnalyzerBandwidth SET package_size = 2.5, count = 2, total_duration = 1,"
            " transit_time = transit_time + 1, transit_size = transit_size + 5 * ?"
            " WHERE transport_type = 'SDMA' AND hccl_op_name = ?",
            (links, operator),
        )
        rows.execute(
            "UPDATE CommAnalyzerBandwidth SET bandwidth = round(transit_size / transit_time, 4)"
        )
        rows.commit()
    options = Options(selection=Selection(select=("DB91",)), workers=1)
    assert {one.rule for one in check([copy], options).findings} == rules


@pytest.mark.parametrize(
    ("changes", "rules"),
    [
        (["Matrix SET transport_type = NULL"], set()),
        (["Matrix SET bandwidth = NULL"], {"DB202"}),
        ([f"{table} SET group_name = 'N/A'" for table in ("Time", "Bandwidth", "Matrix")], set()),
        (["Time SET group_name = 'world'"], {"DB912"}),
    ],
)
def test_what_the_analysis_has_no_name_for(
    changes: list[str], rules: set[str], tmp_path: Path
) -> None:
    """``communication_matrix_analyzer.py`` knows five links, ``hccl_calculator.py`` no group of an
    operator without record.
    """
    path = Path(shutil.copyfile(real("../db/level1_rank0/analysis.db"), tmp_path / "analysis.db"))
    with closing(sqlite3.connect(path)) as rows:
        for change in changes:
            rows.execute(f"UPDATE CommAnalyzer{change}")
        rows.commit()
    options = Options(selection=Selection(select=("DB202", "DB912")), workers=1)
    assert {one.rule for one in check([path], options).findings} == rules


def reduce(path: Path, kind: str) -> None:
    """Give the longest transfer the details of a kernel of this kind."""
    with closing(sqlite3.connect(path)) as rows:
        texts = {text: number for number, text in rows.execute("SELECT id, value FROM STRING_IDS")}
        device = "KERNEL_AICPU" if kind == "HCCL_AI_CPU" else "KERNEL_AICORE"
        for text in ("N/A", kind, device, "hcom_allReduce_"):
            if text not in texts:
                texts[text] = max(texts.values()) + 1
                rows.execute("INSERT INTO STRING_IDS VALUES (?, ?)", (texts[text], text))
        ((task,),) = rows.execute(
            "SELECT t.globalTaskId FROM COMMUNICATION_TASK_INFO c JOIN TASK t USING (globalTaskId)"
            " ORDER BY t.endNs - t.startNs DESC LIMIT 1"
        )
        rows.execute("UPDATE TASK SET taskType = ? WHERE globalTaskId = ?", (texts[device], task))
        cells = {
            "name": texts["hcom_allReduce_"],
            "globalTaskId": task,
            "blockDim": 8,
            "blockNum": 8,
            "mixBlockDim": 0,
            "mixBlockNum": 0,
            "taskType": texts[kind],
            "opType": texts["hcom_allReduce_"],
        }
        columns = [column for _, column, *_ in rows.execute("PRAGMA table_info(COMPUTE_TASK_INFO)")]
        row = [cells.get(column, texts["N/A"]) for column in columns]
        marks = ", ".join("?" * len(row))
        rows.execute(f"INSERT INTO COMPUTE_TASK_INFO VALUES ({marks})", row)
        rows.commit()
