"""Headers are those of real files, and of the reference that lists every file's columns."""

from __future__ import annotations

import csv
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from seed_tables import SHARED

from ascend_spec import text_catalog
from ascend_spec.text import CsvColumn, Writer

REAL = SHARED / "data" / "text"
REFERENCE = SHARED / "reference" / "text-outputs.md"
LEVEL_1 = "pytorch_level1_rank0/ASCEND_PROFILER_OUTPUT"
YEAR_2023 = "msinsight_small/test_rank_0"

# Path below ../shared/data/text, name in the spec, circumstances.
FILES: list[tuple[str, str, dict[str, Any]]] = [
    *(
        (f"{LEVEL_1}/{name}.csv", name, {"writer": "adapter-2025-01"})
        for name in (
            "api_statistic",
            "l2_cache",
            "memory_record",
            "npu_module_mem",
            "op_statistic",
            "operator_details",
            "operator_memory",
            "step_trace_time",
        )
    ),
    (
        f"{LEVEL_1}/kernel_details.csv",
        "kernel_details",
        {"writer": "adapter-2025-01", "metrics": "PipeUtilization", "scene": ["steps"]},
    ),
    *(
        (f"{YEAR_2023}/{name}.csv", name, {"writer": "adapter-2023"})
        for name in (
            "memory_record",
            "npu_module_mem",
            "operator_details",
            "operator_memory",
            "step_trace_time",
        )
    ),
    (
        f"{YEAR_2023}/kernel_details.csv",
        "kernel_details",
        {"writer": "adapter-2023", "metrics": "MemoryL0", "scene": ["steps"]},
    ),
    (
        "msinsight_small/op_summary_1.csv",
        "op_summary",
        {"writer": "adapter-2023", "metrics": "MemoryL0"},
    ),
]


def real_csv_files() -> list[Path]:
    if not REAL.is_dir():
        pytest.skip("the real files are not next to the project in ../shared/data/text")
    return sorted(REAL.rglob("*.csv"))


def reference() -> str:
    if not REFERENCE.is_file():
        pytest.skip("text-outputs.md is not next to the project in ../shared/reference")
    return REFERENCE.read_text(encoding="utf-8")


def test_every_real_csv_file_is_looked_at() -> None:
    assert {str(path.relative_to(REAL)) for path in real_csv_files()} == {one for one, *_ in FILES}


@pytest.mark.parametrize(("path", "name", "at"), FILES, ids=[path for path, *_ in FILES])
def test_a_real_header_is_that_of_the_spec(path: str, name: str, at: dict[str, Any]) -> None:
    if REAL / path not in real_csv_files():
        pytest.fail(f"{path} is missing")
    with (REAL / path).open(newline="", encoding="utf-8") as stream:
        real = next(csv.reader(stream))
    assert text_catalog().csv[name].header(family="A2", **at) == tuple(real)


@pytest.mark.parametrize(("path", "name", "at"), FILES, ids=[path for path, *_ in FILES])
def test_a_real_file_breaks_none_of_its_columns_facts(
    path: str, name: str, at: dict[str, Any]
) -> None:
    """Each cell has the type, bounds, members, sentinels, tab and decimals of its column."""
    if REAL / path not in real_csv_files():
        pytest.fail(f"{path} is missing")
    columns = text_catalog().csv[name].columns_at(family="A2", **at)
    with (REAL / path).open(newline="", encoding="utf-8") as stream:
        rows = list(csv.reader(stream))[1:]
    # T53: one row of the files of 2023 lacks a cell.
    whole = [row for row in rows if len(row) == len(columns)]
    assert len(rows) - len(whole) == (at.get("metrics") == "MemoryL0")
    strange = [
        (column.name, cell, fault)
        for row in whole
        for column, cell in zip(columns, row, strict=True)
        for fault in faults(column, cell, text_catalog().writers[at["writer"]])
        # T49: operators of the graph engine.
        if not (row[0].startswith("cann::") and column.name == "Duration(us)" and "fixed" in fault)
    ]
    assert strange[:5] == []


def faults(column: CsvColumn, cell: str, writer: Writer) -> Iterator[str]:
    """What a cell breaks of the facts of its column, told in plain Python."""
    text = cell.removesuffix("\t")
    printed = column.format_by(writer, "A2")
    exact = printed is not None and printed.style == "fixed"
    if text in column.sentinels:
        return
    if cell != text and not column.tab:
        yield "a tab"
    if cell == text and column.tab and exact:
        yield "no tab after a fixed time"
    if column.members and text not in column.members:
        yield "no member"
    if column.storage == ("text",):
        return
    if not re.fullmatch(r"-?\d+(\.\d+)?(e-\d+)?", text):
        yield "no number"
        return
    value, decimals = float(text), len(text.partition(".")[2])
    if column.minimum is not None and value < column.minimum:
        yield "too small"
    if column.maximum is not None and value > column.maximum:
        yield "too great"
    if "real" not in column.storage and not value.is_integer():
        yield "no integer"
    if printed and printed.decimals is not None and decimals > printed.decimals:
        yield "too many decimals"
    if printed and exact and decimals != printed.decimals:
        yield "no fixed decimals"


# --- the reference ------------------------------------------------------------------------------


def listed_headers(text: str) -> Iterator[tuple[str, str]]:
    """(name, header without the device) of each file of the reference's section on CSV files."""
    part = text[text.index("## 3. CSV files") : text.index("## 4. PMU")].replace("{u}", "kB")
    rows = re.findall(r"^\| ([a-z_0-9, /]+) \| `([^`]+)`", part, re.M)
    bold = re.findall(r"^\*\*([a-z_]+?)(?: \(csv\))?\*\*[^`]*`Device_id,([^`]+)`", part, re.M)
    based = re.findall(r"^\*\*(op_summary)\*\* .*\n`Device_id,([^`]+)`", part, re.M)
    alone = re.findall(r"^### [0-9.]+ ([a-z_]+) \(csv\)\n\n`Device_id,([^`]+)`", part, re.M)
    newer = re.findall(r"\b([a-z_]+) \(`([^`]+)`\)", part[part.index("### 3.9") :])
    for names, header in [*rows, *bold, *based, *alone, *newer]:
        spread = re.sub("ai/ctrl/ts_(.*)", r"ai_\1, ctrl_\1, ts_\1", names)
        for name in spread.split(", "):
            if "," in header:
                yield name, header


def test_every_header_of_the_reference_is_that_of_the_spec() -> None:
    listed = dict(listed_headers(reference()))
    assert len(listed) == 45
    del listed["ai_core_utilization"]
    differing = {}
    for name, header in listed.items():
        file = text_catalog().csv[name]
        writer = "python" if "python" in file.writers else "cpp"
        family = "950" if "950" in file.families else file.families[0]
        text = header.replace("[,Op Name]", ",Op Name").removeprefix("Device Id,")
        if file.header(writer=writer, family=family)[1:] != tuple(text.split(",")):
            differing[name] = file.header(writer=writer, family=family)[1:]
    assert differing == {}


def test_a_header_of_the_adapter_in_the_reference_is_that_of_the_spec() -> None:
    part = reference()[reference().index("## 8. PyTorch adapter files") :]
    rows = re.findall(r"^\| ([a-z_]+)\.csv \| `([^`]+,[^`]+)`", part, re.M)
    assert [name for name, _ in rows] == [
        "step_trace_time",
        "operator_details",
        "operator_memory",
        "memory_record",
    ]
    for name, header in rows:
        file = text_catalog().csv[name]
        assert file.header(writer="adapter", family="A2") == tuple(header.split(","))


# --- performance counters -----------------------------------------------------------------------


def test_the_columns_of_a_real_kernel_details_with_counters_are_46() -> None:
    header = (
        text_catalog()
        .csv["kernel_details"]
        .header(writer="adapter-2025-01", family="A2", metrics="PipeUtilization", scene=["steps"])
    )
    assert len(header) == 46


@pytest.mark.parametrize(
    ("at", "expected"),
    [
        (
            {"family": "910A", "engine": "python", "metrics": "PipeUtilization"},
            "aicore_time(us) total_cycles vec_time(us) vec_ratio mac_time(us) mac_ratio "
            "scalar_time(us) scalar_ratio mte1_time(us) mte1_ratio mte2_time(us) mte2_ratio "
            "mte3_time(us) mte3_ratio icache_miss_rate memory_bound cube_utilization(%)",
        ),
        (
            {"family": "200I-500-A2", "engine": "python", "metrics": "PipelineExecuteUtilization"},
            "aicore_time(us) total_cycles vec_exe_time(us) vec_exe_ratio mac_exe_time(us) "
            "mac_exe_ratio scalar_exe_time(us) scalar_exe_ratio mte1_exe_time(us) mte1_exe_ratio "
            "mte2_exe_time(us) mte2_exe_ratio mte3_exe_time(us) mte3_exe_ratio "
            "fixpipe_exe_time(us) fixpipe_exe_ratio memory_bound",
        ),
        (
            {"family": "A3", "engine": "cpp", "metrics": "ArithmeticUtilization"},
            "aicore_time(us) aic_total_cycles aic_mac_fp16_ratio aic_mac_int8_ratio aic_cube_fops "
            "aiv_time(us) aiv_total_cycles aiv_vec_fp32_ratio aiv_vec_fp16_ratio "
            "aiv_vec_int32_ratio aiv_vec_misc_ratio aiv_vector_fops",
        ),
        (
            {"family": "A2", "engine": "cpp", "metrics": "Memory"},
            "aicore_time(us) aic_total_cycles aic_l1_read_bw(GB/s) aic_l1_write_bw(GB/s) "
            "aic_main_mem_read_bw(GB/s) aic_main_mem_write_bw(GB/s) aic_l2_read_bw(GB/s) "
            "aic_l2_write_bw(GB/s) aiv_time(us) aiv_total_cycles aiv_ub_read_bw(GB/s) "
            "aiv_ub_write_bw(GB/s) aiv_main_mem_read_bw(GB/s) aiv_main_mem_write_bw(GB/s) "
            "aiv_l2_read_bw(GB/s) aiv_l2_write_bw(GB/s)",
        ),
        (
            {"family": "310P", "engine": "python", "metrics": "Memory"},
            "aicore_time(us) total_cycles ub_read_bw(GB/s) ub_write_bw(GB/s) l1_read_bw(GB/s) "
            "l1_write_bw(GB/s) main_mem_read_bw(GB/s) main_mem_write_bw(GB/s)",
        ),
        (
            {"family": "A2", "engine": "cpp", "metrics": "MemoryUB"},
            "aicore_time(us) aic_total_cycles aic_ub_read_bw_scalar(GB/s) "
            "aic_ub_write_bw_scalar(GB/s) aiv_time(us) aiv_total_cycles "
            "aiv_ub_read_bw_vector(GB/s) aiv_ub_write_bw_vector(GB/s) "
            "aiv_ub_read_bw_scalar(GB/s) aiv_ub_write_bw_scalar(GB/s)",
        ),
        (
            {"family": "A2", "engine": "cpp", "metrics": "ResourceConflictRatio"},
            "aicore_time(us) aic_total_cycles aiv_time(us) aiv_total_cycles "
            "aiv_vec_bankgroup_cflt_ratio aiv_vec_bank_cflt_ratio aiv_vec_resc_cflt_ratio",
        ),
        (
            {"family": "A2", "engine": "cpp", "metrics": "ACL_AICORE_L2_CACHE"},
            "aicore_time(us) aic_total_cycles aic_write_cache_hit aic_write_cache_miss_allocate "
            "aic_r0_read_cache_hit aic_r0_read_cache_miss_allocate aic_r1_read_cache_hit "
            "aic_r1_read_cache_miss_allocate aiv_time(us) aiv_total_cycles aiv_write_cache_hit "
            "aiv_write_cache_miss_allocate aiv_r0_read_cache_hit aiv_r0_read_cache_miss_allocate "
            "aiv_r1_read_cache_hit aiv_r1_read_cache_miss_allocate",
        ),
        (
            {"family": "950", "engine": "cpp", "metrics": "PipeUtilization"},
            "aicore_time(us) aic_total_cycles aic_mac_time(us) aic_mac_ratio aic_scalar_time(us) "
            "aic_scalar_ratio aic_mte1_time(us) aic_mte1_ratio aic_mte2_time(us) aic_mte2_ratio "
            "aic_mte3_time(us) aic_mte3_ratio aic_fixpipe_time(us) aic_fixpipe_ratio "
            "aic_icache_miss_rate aiv_time(us) aiv_total_cycles aiv_vec_time(us) aiv_vec_ratio "
            "aiv_scalar_time(us) aiv_scalar_ratio aiv_mte2_time(us) aiv_mte2_ratio "
            "aiv_mte3_time(us) aiv_mte3_ratio aiv_icache_miss_rate cube_utilization(%)",
        ),
        (
            {"family": "A2", "engine": "python", "metrics": "PipeUtilization", "core": "aic"},
            "mac_ratio scalar_ratio mte1_ratio mte2_ratio fixpipe_ratio icache_miss_rate",
        ),
        (
            {"family": "A2", "engine": "python", "metrics": "PipeUtilization", "core": "aiv"},
            "vec_ratio mac_ratio scalar_ratio mte1_ratio mte2_ratio mte3_ratio icache_miss_rate "
            "memory_bound",
        ),
        (
            {"family": "A3", "engine": "python", "metrics": "MemoryAccess", "core": "aic"},
            "read_main_memory_datas(KB) write_main_memory_datas(KB) gm_to_l1_datas(KB) "
            "l0c_to_l1_datas(KB) l0c_to_gm_datas(KB) gm_to_ub_datas(KB) ub_to_gm_datas(KB)",
        ),
    ],
)
def test_a_group_has_the_columns_of_its_layout(at: dict[str, Any], expected: str) -> None:
    mode = "sample-based" if "core" in at else "task-based"
    assert text_catalog().pmu.header(mode=mode, **at) == tuple(expected.split())


def test_an_adapter_has_the_counters_of_the_engine_that_it_copies() -> None:
    kernels, operators = (text_catalog().csv[name] for name in ("kernel_details", "op_summary"))
    for family, engine in (("A2", "cpp"), ("910A", "python")):
        copy = kernels.header(writer="adapter", family=family, metrics="Memory")
        original = operators.header(writer=engine, family=family, metrics="Memory")
        assert (
            copy[copy.index("aicore_time(us)") :] == original[original.index("aicore_time(us)") :]
        )


def test_there_are_no_counters_at_level_0_nor_without_compute_operators() -> None:
    file = text_catalog().csv["op_summary"]
    plain = file.header(writer="cpp", family="A2")
    assert plain[-1] == "Context ID"
    assert file.header(writer="cpp", family="A2", level=0, metrics="Memory") == plain
    lonely = file.header(writer="cpp", family="A2", metrics="Memory", scene=["communication-only"])
    assert lonely == (*plain[:11], "Context ID")


def test_a_group_that_the_family_lacks_is_refused() -> None:
    with pytest.raises(ValueError, match="MemoryAccess is not collected on 910A"):
        text_catalog().csv["op_summary"].header(
            writer="python", family="910A", metrics="MemoryAccess"
        )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"writer": "adapter"}, "unknown writer of op_summary: 'adapter'; known: cpp, python"),
        ({"family": "310P"}, "unknown family: '310P'; known: A3, A2, 950"),
        ({"level": 3}, "unknown level: 3; known: 0, 1, 2"),
        ({"metrics": "Luck"}, "unknown metrics: 'Luck'; known: PipeUtilization"),
        ({"scene": ["moon"]}, "unknown scene: 'moon'; known: steps"),
    ],
)
def test_circumstances_that_do_not_exist_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        text_catalog().csv["op_summary"].header(**{"writer": "cpp", "family": "A2", **change})


def test_repeated_groups_come_as_often_as_asked() -> None:
    trace = text_catalog().csv["step_trace"]
    plain = trace.header(writer="cpp", family="A2")
    twice = trace.header(writer="cpp", family="A2", repeat=2)
    assert twice == (*plain, *(("Reduce Start(us)", "Reduce Duration(us)") * 2))
    cache = text_catalog().csv["llc_aicpu"].header(writer="python", family="310", repeat=3)
    assert cache == (*("Device_id", "Metric", "CPU0(KB)", "CPU1(KB)", "CPU2(KB)"), "Total(KB)")


def test_a_column_is_found_by_its_older_name() -> None:
    operators, records = (text_catalog().csv[name] for name in ("op_summary", "memory_record"))
    found = operators.column("Block Dim")
    assert found is not None
    assert found.name == "Block Num"
    assert operators.column("Colour") is None
    members = {
        writer: column.members
        for writer in ("python", "adapter")
        if (column := records.column("Component", writer))
    }
    assert members["python"] == ("GE",)
    assert "PTA+GE" in members["adapter"]


def test_what_a_family_cannot_count_is_named() -> None:
    lacking = text_catalog().pmu.not_available["200I-500-A2"]
    assert {"vec_time", "vec_ratio", "l0c_write_bw"} <= lacking
    assert "mac_ratio" not in lacking


def test_the_engines_differ_in_coefficients_as_documented() -> None:
    """Python to C++, task-based: 2 for l1_write, 0.5 for l0b_read, 0.25 for l0c_cube (T41)."""
    metrics = text_catalog().pmu.metrics

    def quotient(name: str, one: Any, other: Any) -> float:
        over, under = metrics[name].coefficient(one), metrics[name].coefficient(other)
        assert over is not None
        assert under is not None
        return over / under

    assert quotient("l1_write_bw", "P", "C") == 2
    assert quotient("l0b_read_bw", "P", "C") == 0.5
    assert quotient("l0c_read_bw_cube", "P", "C") == quotient("l0c_write_bw_cube", "P", "C") == 0.25
    assert quotient("ub_write_bw_vector", "C", "S") == 2
    assert {n for n, m in metrics.items() if m.coefficients and m.coefficient("C") is None} == {
        *("ub_read_bw_mte", "ub_write_bw_mte")
    }


def test_every_metric_that_is_shown_says_what_it_is_made_of() -> None:
    bare = {
        name
        for name, metric in text_catalog().pmu.metrics.items()
        if not metric.events and metric.kind not in ("total-time", "cycles", "register")
    }
    assert bare == set()


def test_counters_have_the_names_that_databases_give_them() -> None:
    found = SHARED / "data" / "db" / "level1_rank0" / "ascend_pytorch_profiler_0.db"
    if not found.is_file():
        pytest.skip("the real databases are not next to the project in ../shared/data/db")
    query = "SELECT value FROM STRING_IDS WHERE id IN (SELECT name FROM TASK_PMU_INFO)"
    with closing(sqlite3.connect(f"file:{found}?immutable=1", uri=True)) as connection:
        stored = {name for (name,) in connection.execute(query)}
    columns = (
        text_catalog()
        .csv["op_summary"]
        .columns_at(writer="cpp", family="A2", metrics="PipeUtilization")
    )
    named = {column.metric for column in columns if column.metric}
    assert named <= stored
    # What is left belongs to units that the vector cores do not have.
    assert stored - named == {
        f"aiv_{pipe}_{kind}" for pipe in ("mac", "mte1") for kind in ("time", "ratio")
    }
