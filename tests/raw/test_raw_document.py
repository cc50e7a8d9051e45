"""The tree of raw-prof.md 6.4 gives the values of its tables, which the field's exporter gave."""

from __future__ import annotations

import csv
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from document_tree import write_document_tree
from raw_trees import WALL_US as BEGIN

from ascend_ref.profile.raw import export_raw

# Task Start(us) from the start, Duration, Wait: raw-prof.md 6.4.
OPERATORS = {
    "MatMul_0": ("10070.100", 20.0, 0.0),
    "Add_0": ("10270.100", 40.0, 180.0),
    "MatMul_1": ("10470.100", 60.0, 160.0),
    "Relu_0": ("10670.100", 80.0, 140.0),
    "hcom_allReduce__123_0_1_483_0_1": ("11100.100", 75.0, 350.0),
}
# aicore_time, aiv_time of chip 5: raw-prof.md 6.4.
TIMES = {
    "MatMul_0": (25.25, 0.0),
    "Add_0": (0.0, 30.3),
    "MatMul_1": (90.91, 0.0),
    "Relu_0": (0.0, 50.51),
}
# Count, total µs, variance.
CALLS = {
    "launch": (5, 345.0, 1444.0),
    "aclnnOp": (5, 400.0, 1600.0),
    "KernelLaunch": (4, 80.0, 0.0),
    "Notify_Record": (2, 40.0, 0.0),
    "Notify_Wait": (1, 20.0, 0.0),
    "Memcpy": (1, 20.0, 0.0),
}


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("document")
    write_document_tree(folder / "PROF_1")
    damage = export_raw(folder / "PROF_1", folder / "out").damage
    assert damage == []
    return folder / "out"


def rows(exported: Path, name: str) -> list[dict[str, str]]:
    (path,) = exported.rglob(f"{name}_*.csv")
    with path.open(newline="") as file:
        return [{key: cell.strip() for key, cell in row.items()} for row in csv.DictReader(file)]


def test_operators(exported: Path) -> None:
    found = {
        row["Op Name"]: (
            row["Task Start Time(us)"],
            float(row["Task Duration(us)"]),
            float(row["Task Wait Time(us)"]),
        )
        for row in rows(exported, "op_summary")
    }
    # Absolute times exceed the digits of a float, so they are compared as text; the engine in C++
    # adds such errors to waits, within half a µs.
    assert found.keys() == OPERATORS.keys()
    for name, (start, length, wait) in OPERATORS.items():
        whole, _, part = start.partition(".")
        assert found[name][0] == f"{BEGIN + int(whole)}.{part}"
        assert found[name][1] == length
        assert found[name][2] == pytest.approx(wait, abs=0.5)


def test_counters(exported: Path) -> None:
    found = {row["Op Name"]: row for row in rows(exported, "op_summary")}
    for name, (cube, vector) in TIMES.items():
        row = found[name]
        assert round(float(row["aicore_time(us)"]), 2) == cube
        assert round(float(row["aiv_time(us)"]), 2) == vector
    product, addition = found["MatMul_0"], found["Add_0"]
    # Counter j holds (j + 1) tenths of the cycles; events are vec, mac, scalar, mte1, mte2, ...
    assert (product["aic_mac_ratio"], product["aic_scalar_ratio"]) == ("0.2", "0.3")
    assert (addition["aiv_vec_ratio"], addition["aiv_mte2_ratio"]) == ("0.1", "0.5")
    assert product["aic_icache_miss_rate"] == "1.143"
    assert float(product["cube_utilization(%)"]) == 115.741
    assert product["aiv_total_cycles"] == "0"
    assert addition["aiv_total_cycles"] == "2000000"


def test_kernels_in_the_database(exported: Path) -> None:
    (path,) = exported.glob("msprof_*.db")
    with closing(sqlite3.connect(path)) as database:
        texts = dict(database.execute("SELECT id, value FROM STRING_IDS"))
        kernels = {
            texts[name]: (texts[kind], blocks, texts[shapes], texts[types], texts[core])
            for name, kind, blocks, shapes, types, core in database.execute(
                "SELECT name, opType, blockNum, inputShapes, inputDataTypes, taskType "
                "FROM COMPUTE_TASK_INFO"
            )
        }
        tasks = database.execute(
            "SELECT startNs, endNs, streamId, taskId, contextId, modelId FROM TASK ORDER BY 1"
        ).fetchall()
        threads = database.execute("SELECT DISTINCT globalTid FROM CANN_API").fetchall()
        clock = database.execute("SELECT freq FROM AICORE_FREQ ORDER BY timestampNs").fetchall()
    shapes = '"128,256;128,256"'
    assert kernels["MatMul_0"] == ("MatMul", 24, shapes, "FLOAT16;FLOAT16", "AI_CORE")
    assert kernels["Relu_0"] == ("Relu", 48, shapes, "FLOAT16;FLOAT16", "AI_VECTOR_CORE")
    assert len(kernels) == 4
    none = 4294967295
    begin = BEGIN * 1000 + 10_070_100
    assert tasks[0] == (begin, begin + 20_000, 2, 1, none, none)
    assert len(tasks) == 8
    assert threads == [(4242 << 32 | 4243,)]  # raw-prof.md 7.2
    assert clock == [(1800,), (1650,)]  # no end_info states an end


def test_statistics(exported: Path) -> None:
    calls = {
        row["API Name"]: (int(row["Count"]), float(row["Time(us)"]), float(row["Variance"]))
        for row in rows(exported, "api_statistic")
    }
    assert calls == CALLS
    kinds = {
        row["OP Type"]: (int(row["Count"]), float(row["Total Time(us)"]), float(row["Ratio(%)"]))
        for row in rows(exported, "op_statistic")
    }
    assert kinds == {"MatMul": (2, 80.0, 40.0), "Relu": (1, 80.0, 40.0), "Add": (1, 40.0, 20.0)}
    (communication,) = rows(exported, "communication_statistic")
    assert communication["OP Type"] == "hcom_allReduce_"
    assert (int(communication["Count"]), float(communication["Total Time(us)"])) == (1, 75.0)
    assert len(rows(exported, "task_time")) == 8


def test_transfers_in_the_database(exported: Path) -> None:
    (path,) = exported.glob("msprof_*.db")
    with closing(sqlite3.connect(path)) as database:
        texts = dict(database.execute("SELECT id, value FROM STRING_IDS"))
        transfers = [
            (texts[kind], size, source, target, notify)
            for kind, size, source, target, notify in database.execute(
                "SELECT taskType, size, srcRank, dstRank, notifyId FROM COMMUNICATION_TASK_INFO"
            )
        ]
        operators = database.execute(
            "SELECT opName, startNs, endNs, count, algType FROM COMMUNICATION_OP"
        ).fetchall()
    names = ("Memcpy", "Notify_Record", "Notify_Record", "Notify_Wait")
    assert sorted(transfers) == [(name, 4096, 0, 1, -1) for name in names]
    ((name, start, end, count, algorithm),) = operators
    assert (texts[name], texts[algorithm], count) == (
        "hcom_allReduce__123_0_1_483_0_1",
        "MESH",
        1024,
    )
    assert (start, end) == (BEGIN * 1000 + 11_100_100, BEGIN * 1000 + 11_175_100)
