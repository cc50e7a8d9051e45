"""Each switch makes appear and vanish what the documents say, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from encode_captures import EVERYTHING, capture
from encode_profiles import encoded, texts

from ascend_ref.db.encode.collection import SWITCHED
from ascend_spec import catalog

FRAMEWORK = {
    "PYTORCH_API", "CONNECTION_IDS", "PYTORCH_CALLCHAINS", "STEP_TIME", "GC_RECORD"
}  # fmt: skip
DEVICE = {
    "TASK", "COMPUTE_TASK_INFO", "COMMUNICATION_OP", "COMMUNICATION_TASK_INFO",
    "COMMUNICATION_SCHEDULE_TASK_INFO", "MEMCPY_INFO", "TASK_PMU_INFO", "CANN_API",
    "OVERLAP_ANALYSIS", "NPU_OP_MEM",
}  # fmt: skip
MEMORY = {"MEMORY_RECORD", "OP_MEMORY", "NPU_OP_MEM"}
HARDWARE = {
    "ACC_PMU", "DDR", "HBM", "LLC", "NPU_MEM", "NPU_MODULE_MEM", "QOS", "SOC_BANDWIDTH_LEVEL"
}  # fmt: skip
NETWORK = {"NIC", "ROCE", "NETDEV_STATS"}
LINKS = {"HCCS", "PCIE", "SIO", "UB"}
HOST = {"CPU_USAGE", "HOST_MEM_USAGE", "HOST_DISK_USAGE", "HOST_NETWORK_USAGE", "OSRT_API"}


def vanished(**changes: Any) -> set[str]:
    everything = encoded(capture(switches=EVERYTHING))
    return everything.keys() - encoded(capture(switches=replace(EVERYTHING, **changes))).keys()


def test_every_switch_of_a_table_follows_from_those_of_a_capture() -> None:
    named = {switch for table in catalog().tables.values() for switch in table.switches}
    assert SWITCHED.keys() == named


@pytest.mark.parametrize(
    ("changes", "tables"),
    [
        ({"level": 1}, {"MEMCPY_INFO"}),
        ({"level": 0}, {"MEMCPY_INFO", "TASK_PMU_INFO"}),
        ({"cpu": False}, FRAMEWORK),
        (
            {"npu": False},
            DEVICE | HARDWARE | NETWORK | LINKS | HOST | {"MSTX_EVENTS", "AICORE_FREQ"},
        ),
        ({"aic_metrics": None}, {"TASK_PMU_INFO"}),
        ({"aic_mode": "sample-based"}, {"TASK_PMU_INFO"}),
        ({"memory": False}, MEMORY),
        ({"stack": False}, {"PYTORCH_CALLCHAINS"}),
        ({"record_shapes": False}, set()),
        ({"mstx": False}, {"MSTX_EVENTS"}),
        ({"l2": False}, set()),
        ({"gc": False}, {"GC_RECORD"}),
        ({"sys_hardware_mem": 0}, HARDWARE),
        ({"sys_io": 0}, NETWORK),
        ({"sys_interconnection": 0}, LINKS),
        ({"host_sys": ("cpu", "mem")}, {"HOST_DISK_USAGE", "HOST_NETWORK_USAGE", "OSRT_API"}),
        ({"host_sys": ("disk", "network", "osrt")}, {"CPU_USAGE", "HOST_MEM_USAGE"}),
    ],
)
def test_a_switch_takes_its_tables_with_it(changes: dict[str, Any], tables: set[str]) -> None:
    assert vanished(**changes) == tables


def test_sampled_counters_appear_with_their_mode() -> None:
    tables = encoded(capture(switches=replace(EVERYTHING, aic_mode="sample-based")))
    assert {"SAMPLE_PMU_TIMELINE", "SAMPLE_PMU_SUMMARY"} <= tables.keys()


def kinds(changes: dict[str, Any], table: str) -> set[int]:
    return set(encoded(capture(switches=replace(EVERYTHING, **changes)))[table]["type"])


def test_no_counters_are_sampled_at_level_0() -> None:
    """Sampled ones need the level as those of tasks do, and profiler_info then names no group."""
    switches = replace(EVERYTHING, aic_mode="sample-based", level=0)
    tables = encoded(capture(switches=switches))
    assert tables.keys().isdisjoint({"SAMPLE_PMU_TIMELINE", "SAMPLE_PMU_SUMMARY", "TASK_PMU_INFO"})


@pytest.mark.parametrize(
    ("chip", "told"),
    [("Ascend910B", True), ("Ascend310B", True), ("Ascend910A", False), ("Ascend310P", False)],
)
def test_counters_of_tasks_are_for_some_chips(chip: str, told: bool) -> None:
    """seed-001 TASK_PMU_INFO; real databases of 910A have none at level 1 (db-schema.md 7.1)."""
    made = capture(switches=EVERYTHING)
    tables = encoded(replace(made, origin=replace(made.origin, chip=chip)))
    assert ("TASK_PMU_INFO" in tables) is told


def test_no_switch_moves_the_texts_of_the_tasks() -> None:
    everything = encoded(capture(switches=EVERYTHING))
    for changes in ({"sys_hardware_mem": 0}, {"memory": False}, {"host_sys": ()}, {"level": 1}):
        tables = encoded(capture(switches=replace(EVERYTHING, **changes)))
        assert list(tables["TASK"]["taskType"]) == list(everything["TASK"]["taskType"])


def test_runtime_calls_need_level_2() -> None:
    assert 5000 in kinds({"level": 2}, "CANN_API")
    assert kinds({"level": 1}, "CANN_API") == {10000, 20000}


def test_the_python_trace_needs_stacks() -> None:
    assert kinds({}, "PYTORCH_API") == {50001, 50002, 50003}
    assert kinds({"stack": False}, "PYTORCH_API") == {50001, 50002}


def test_shapes_are_null_unless_recorded() -> None:
    tables = encoded(capture(switches=replace(EVERYTHING, record_shapes=False)))
    for column in ("inputShapes", "inputDtypes"):
        assert set(tables["PYTORCH_API"][column]) == {None}
        assert set(encoded(capture())["PYTORCH_API"][column]) > {None}


def test_marks_on_the_device_vanish_with_those_of_the_host() -> None:
    for on in (True, False):
        tables = encoded(capture(switches=replace(EVERYTHING, mstx=on)))
        assert ("MsTx" in texts(tables, "TASK", "taskType")) is on
        assert any("mstx" in name for name in texts(tables, "PYTORCH_API", "name")) is on


def test_level_0_keeps_names_and_times_only() -> None:
    tables = encoded(capture(switches=replace(EVERYTHING, level=0)))
    compute, task = tables["COMPUTE_TASK_INFO"], tables["COMMUNICATION_TASK_INFO"]
    for column in ("opType", "taskType", "inputShapes", "opState", "hf32Eligible", "attrInfo"):
        assert set(texts(tables, "COMPUTE_TASK_INFO", column)) == {"N/A"}
    assert set(compute["blockNum"]) == {0}
    assert "N/A" not in texts(tables, "COMPUTE_TASK_INFO", "name")
    for column in ("rdmaType", "transportType", "dataType", "linkType"):
        assert set(task[column]) == {65534}
    for column in ("planeId", "srcRank", "dstRank"):
        assert set(task[column]) == {4294967295}
    assert (set(task["size"]), set(task["notifyId"]), set(task["bandwidth"])) == ({-1}, {0}, {0})
    assert set(texts(tables, "COMMUNICATION_OP", "opType")) == {"N/A"}
    assert set(texts(tables, "COMMUNICATION_OP", "algType")) == {"MESH-RING"}


def test_analysis_at_level_0_knows_steps_only() -> None:
    level_0 = capture(switches=replace(EVERYTHING, level=0))
    assert encoded(level_0, carrier="analysis").keys() == {"StepTraceTime"}
    assert len(encoded(capture(), carrier="analysis")) == 4


def test_without_the_device_there_is_nothing_to_analyse() -> None:
    assert encoded(capture(switches=replace(EVERYTHING, npu=False)), carrier="analysis") == {}
