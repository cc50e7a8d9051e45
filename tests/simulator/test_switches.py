"""What each switch of a capture makes appear and vanish, as the documents tell it.

The tables below are those of db-schema.md 2 (presence, switch, products), 4.4 (level 0) and 1.1
(no CANN data), text-outputs.md 3.1 (products) and consumers.md 3 (files); none comes from the code.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from slices import some

from ascend_ref.capture import Capture, Switches
from ascend_ref.db.columns import Values
from ascend_ref.db.encode import encode
from ascend_simulator import simulate, write_run
from ascend_simulator.choices import Scenario
from ascend_simulator.scenario import override, parse
from ascend_spec import catalog

Tables = Mapping[str, Mapping[str, Values]]

NOTHING = Switches(aic_metrics=None, record_shapes=False)
SAMPLED = {"aic_metrics": "PipeUtilization", "aic_mode": "sample-based"}

ALWAYS = {
    "META_DATA", "SESSION_TIME_INFO", "NPU_INFO", "HOST_INFO", "RANK_DEVICE_MAP", "STRING_IDS"
}  # fmt: skip
DEVICE = {"TASK", "COMPUTE_TASK_INFO", "CANN_API", "OVERLAP_ANALYSIS"}
COMMUNICATION = {"COMMUNICATION_OP", "COMMUNICATION_TASK_INFO"}
FRAMEWORK = {"PYTORCH_API", "CONNECTION_IDS", "STEP_TIME"}
TRANSIT = {"CommAnalyzerTime", "CommAnalyzerBandwidth", "CommAnalyzerMatrix"}
EVERYWHERE = {"LLC", "NPU_MEM", "NPU_MODULE_MEM"}

BY_PRODUCT: Mapping[str, Mapping[str, set[str]]] = {
    "A2": {
        "clock": {"AICORE_FREQ"},
        "counters": {"TASK_PMU_INFO"},
        "memory": EVERYWHERE | {"HBM", "QOS", "ACC_PMU", "SOC_BANDWIDTH_LEVEL"},
        "network": {"NIC", "ROCE", "NETDEV_STATS"},
        "links": {"HCCS", "PCIE", "SIO"},
    },
    "A3": {
        "clock": {"AICORE_FREQ"},
        "counters": {"TASK_PMU_INFO"},
        "memory": EVERYWHERE | {"HBM", "QOS", "ACC_PMU", "SOC_BANDWIDTH_LEVEL"},
        "network": {"NIC", "ROCE", "NETDEV_STATS"},
        "links": {"HCCS", "PCIE", "SIO"},
    },
    "910A": {
        "clock": set(),
        "counters": set(),
        "memory": EVERYWHERE | {"HBM", "DDR"},
        "network": {"NIC", "ROCE"},
        "links": {"HCCS", "PCIE"},
    },
    "310P": {
        "clock": set(),
        "counters": set(),
        "memory": EVERYWHERE | {"DDR"},
        "network": {"NIC"},
        "links": {"PCIE"},
    },
    "200I-500-A2": {
        "clock": {"AICORE_FREQ"},
        "counters": {"TASK_PMU_INFO"},
        "memory": EVERYWHERE | {"DDR", "ACC_PMU", "SOC_BANDWIDTH_LEVEL"},
        "network": {"NIC"},
        "links": set(),
    },
    "950": {
        "clock": {"AICORE_FREQ"},
        "counters": {"TASK_PMU_INFO"},
        "memory": EVERYWHERE | {"HBM", "QOS"},
        "network": set(),
        "links": {"HCCS", "PCIE", "SIO"},
    },
}
"""What counters and samples a product has; A3 is one of the later ones with TASK_PMU_INFO."""

FOR_INFERENCE = ("310P", "200I-500-A2")
"""Products on which the ranks of the scenario work alone."""

SWITCHES: Mapping[str, dict[str, Any]] = {
    "nothing": {},
    "without cpu": {"cpu": False},
    "without npu": {"npu": False},
    "aic_metrics": {"aic_metrics": "PipeUtilization"},
    "aic_mode": SAMPLED,
    "memory": {"memory": True},
    "stack": {"stack": True},
    "record_shapes": {"record_shapes": True},
    "mstx": {"mstx": True},
    "l2": {"l2": True},
    "gc": {"gc": True},
    "sys_hardware_mem": {"sys_hardware_mem": 50},
    "sys_io": {"sys_io": 50},
    "sys_interconnection": {"sys_interconnection": 50},
    **{
        f"host_sys {sampler}": {"host_sys": (sampler,)}
        for sampler in ("cpu", "mem", "disk", "network", "osrt")
    },
}
SAMPLERS = [name for name in SWITCHES if name.startswith(("sys_", "host_sys", "aic_", "memory"))]
HOST = {
    "host_sys cpu": "CPU_USAGE",
    "host_sys mem": "HOST_MEM_USAGE",
    "host_sys disk": "HOST_DISK_USAGE",
    "host_sys network": "HOST_NETWORK_USAGE",
    "host_sys osrt": "OSRT_API",
}


def documented(switch: str, level: int, product: str, carrier: str) -> set[str]:
    """The tables with rows."""
    npu, cpu = switch != "without npu", switch != "without cpu"
    talks = product not in FOR_INFERENCE
    if carrier == "analysis":
        return ({"StepTraceTime"} | (TRANSIT if level and talks else set())) if npu else set()
    own = BY_PRODUCT[product]
    found = ALWAYS | ((DEVICE | own["clock"]) if npu else set())
    if npu and talks:
        found |= COMMUNICATION
    if npu and level == 2:
        found |= {"MEMCPY_INFO"}
    found |= {
        "aic_metrics": own["counters"] if level else set(),
        "aic_mode": {"SAMPLE_PMU_TIMELINE", "SAMPLE_PMU_SUMMARY"} if level else set(),
        "memory": {"NPU_OP_MEM"},
        "mstx": {"MSTX_EVENTS"},
        "sys_hardware_mem": own["memory"],
        "sys_io": own["network"],
        "sys_interconnection": own["links"],
        **{name: {table} for name, table in HOST.items()},
    }.get(switch, set())
    if carrier == "msprof":
        return found
    found |= FRAMEWORK if cpu else set()
    return found | {
        "memory": {"MEMORY_RECORD", "OP_MEMORY"},
        "stack": {"PYTORCH_CALLCHAINS"},
        "gc": {"GC_RECORD"},
    }.get(switch, set())


@cache
def scenario(product: str) -> Scenario:
    """A step with copies, communication, operators of the graph engine, and a pause of Python."""
    return parse(
        f"""
hardware: {{product: "{product}", devices_per_host: 2}}
model: {{kind: cnn, batch: 2, image: 64, channels: 16}}
parallelism: {{ranks: 2}}
schedule: {{active: 1}}
capture: {{gc: true}}
faults: [{{kind: gc-pause, milliseconds: 1}}]
"""
    )


@cache
def recorded(switch: str, level: int, product: str) -> Capture:
    capture = replace(NOTHING, level=level, **SWITCHES[switch])
    return simulate(replace(scenario(product), capture=capture), seed=5).capture(0)


@cache
def tables(switch: str, level: int, product: str = "A2", carrier: Any = "pytorch") -> Tables:
    schema = catalog().at(catalog().revisions[-1].id, carrier)
    return encode(recorded(switch, level, product), schema)


def listed(column: Values) -> list[Any]:
    return column.tolist() if isinstance(column, np.ndarray) else column.to_pylist()  # type: ignore[no-any-return]


@pytest.mark.parametrize("carrier", some(["pytorch", "msprof", "analysis"], every=4))
@pytest.mark.parametrize("level", some([1, 0, 2], every=3))
@pytest.mark.parametrize("product", some(BY_PRODUCT, every=3))
def test_every_switch_shows_the_tables_that_the_documents_tell(
    product: str, level: int, carrier: str
) -> None:
    for switch in SWITCHES:
        if carrier == "msprof" and switch == "without npu":
            continue
        found = {
            name
            for name, columns in tables(switch, level, product, carrier).items()
            if any(len(column) for column in columns.values())
        }
        assert found == documented(switch, level, product, carrier), switch


CHANGED: Mapping[str, Mapping[str, set[str] | None]] = {
    "record_shapes": {"PYTORCH_API": {"inputDtypes", "inputShapes"}},
    "stack": {"PYTORCH_API": None},
}
"""Tables that a switch changes without making them, by column; None: it adds rows."""


@pytest.mark.parametrize("level", some([1, 0, 2], every=3))
@pytest.mark.parametrize(
    "switch", [name for name in SWITCHES if name not in ("nothing", "without npu", "mstx")]
)
@pytest.mark.parametrize("carrier", ["pytorch", "msprof"])
def test_a_switch_changes_no_value_of_another_one(switch: str, level: int, carrier: str) -> None:
    """Byte for byte, the numbers of texts included."""
    before, after = tables("nothing", level, "A2", carrier), tables(switch, level, "A2", carrier)
    told = CHANGED.get(switch, {})
    for name in before.keys() & after.keys() - {"STRING_IDS"}:
        changed = {
            column
            for column in before[name]
            if listed(before[name][column]) != listed(after[name][column])
        }
        if (expected := told.get(name, set())) is not None:
            assert changed == (expected if carrier == "pytorch" else set()), name


@pytest.mark.parametrize("product", some(BY_PRODUCT, every=3))
@pytest.mark.parametrize("level", some([1, 0, 2], every=3))
def test_no_sampler_changes_a_task(product: str, level: int) -> None:
    before = tables("nothing", level, product)["TASK"]
    for switch in SAMPLERS:
        after = tables(switch, level, product)["TASK"]
        for column in before:
            assert np.asarray(after[column]).tobytes() == np.asarray(before[column]).tobytes()


def rows(found: Tables, table: str, *left_out: str) -> Iterator[tuple[Any, ...]]:
    """Rows with the texts in place of their numbers."""
    texts = dict(
        zip(listed(found["STRING_IDS"]["id"]), listed(found["STRING_IDS"]["value"]), strict=True)
    )
    schema = catalog().at(catalog().revisions[-1].id, "pytorch").tables[table]
    columns = [
        [texts.get(value, value) for value in listed(values)]
        if "STRING_IDS.id" in schema.columns[name].references
        else listed(values)
        for name, values in found[table].items()
        if name not in left_out
    ]
    return zip(*columns, strict=True)


@pytest.mark.parametrize("level", [0, 1, 2])
def test_marks_add_tasks_of_their_own_and_change_none(level: int) -> None:
    before, after = tables("nothing", level), tables("mstx", level)
    number = "globalTaskId"
    known, found = set(rows(before, "TASK", number)), set(rows(after, "TASK", number))
    assert known < found
    kind = list(after["TASK"]).index("taskType") - 1
    assert {row[kind] for row in found - known} == {"MsTx"}
    for table in ("COMPUTE_TASK_INFO", "COMMUNICATION_TASK_INFO", "COMMUNICATION_OP", "CANN_API"):
        assert list(rows(before, table, number)) == list(rows(after, table, number))


def device_tasks(found: Tables) -> list[tuple[Any, ...]]:
    """All tasks but the profiler's own."""
    kind = list(found["TASK"]).index("taskType")
    return [row for row in rows(found, "TASK") if not row[kind].startswith("PROFILING_")]


@pytest.mark.parametrize("switch", ["nothing", "memory", "stack", "mstx", "aic_metrics"])
def test_the_level_changes_what_the_documents_tell(switch: str) -> None:
    """Level 0 has names and times, level 2 the runtime's calls (4.4, 7.1)."""
    low, middle, high = (tables(switch, level) for level in (0, 1, 2))
    attributes = {
        "COMPUTE_TASK_INFO": {"globalTaskId", "name", "gridDim", "blockDim", "attrInfo"},
        "COMMUNICATION_TASK_INFO": {"name", "globalTaskId", "groupName", "opId", "isMaster"},
        "COMMUNICATION_OP": {
            "opName", "startNs", "endNs", "connectionId", "groupName", "opId", "relay", "retry",
            "dataType", "algType", "count", "deviceId", "rankSize",
        },
    }  # fmt: skip
    for table, kept in attributes.items():
        for column, lower, higher in zip(
            low[table], zip(*rows(low, table), strict=True), zip(*rows(middle, table), strict=True),
            strict=True,
        ):  # fmt: skip
            assert (lower == higher) is (column in kept or set(higher) == set(lower)), column
    assert set(listed(low["COMMUNICATION_TASK_INFO"]["size"])) == {-1}
    assert set(listed(low["COMPUTE_TASK_INFO"]["blockNum"])) == {0}
    assert {5000} == set(listed(high["CANN_API"]["type"])) - set(listed(middle["CANN_API"]["type"]))
    ignored = ("connectionId", "globalTaskId")
    for table in ("COMPUTE_TASK_INFO", "COMMUNICATION_TASK_INFO", "COMMUNICATION_OP", "TASK"):
        assert list(rows(middle, table, *ignored)) == list(rows(high, table, *ignored))
    assert device_tasks(low) == device_tasks(middle)
    own = [len(list(rows(one, "TASK"))) - len(device_tasks(one)) for one in (low, middle)]
    assert own == [0, 2]  # as in real captures (6, I37)
    assert list(rows(low, "CANN_API")) == list(rows(middle, "CANN_API"))


INFO: Mapping[str, Mapping[str, Any]] = {
    "without cpu": {"activities": ["ProfilerActivity.NPU"]},
    "without npu": {"activities": ["ProfilerActivity.CPU"]},
    "aic_metrics": {"_aic_metrics": "ACL_AICORE_PIPE_UTILIZATION"},
    "aic_mode": {"_aic_metrics": "ACL_AICORE_PIPE_UTILIZATION"},
    "memory": {"profile_memory": True},
    "stack": {"with_stack": True},
    "record_shapes": {"record_shapes": True},
    "mstx": {"_mstx": True},
    "l2": {"_l2_cache": True},
    "gc": {"_gc_detect_threshold": 0},
    "sys_io": {"_sys_io": True},
    "sys_interconnection": {"_sys_interconnection": True},
    **{name: {"_host_sys": [name.split()[1]]} for name in HOST},
}
"""What profiler_info tells of a switch; of the others the framework's profiler knows nothing."""


@pytest.mark.exhaustive
@pytest.mark.parametrize("level", some([1, 0], every=2))
def test_the_files_of_a_rank_tell_the_switches(level: int, tmp_path: Path) -> None:
    def written(switch: str) -> tuple[set[str], dict[str, Any]]:
        capture = replace(NOTHING, level=level, **SWITCHES[switch])  # type: ignore[arg-type]
        alone = override(replace(scenario("A2"), capture=capture), ranks=1)
        run = write_run(alone, 5, tmp_path / f"{level} {switch}")
        rank = run.profiles[0]
        names = {str(path.relative_to(rank)) for path in rank.rglob("*") if path.is_file()}
        config = json.loads((rank / "profiler_info_0.json").read_text())["config"]
        return names, {**config["common_config"], **config["experimental_config"]}

    files, told = written("nothing")
    assert told["_profiler_level"] == f"Level{level}"
    for switch in [name for name in SWITCHES if name != "nothing"]:
        found, now = written(switch)
        changed = {name: value for name, value in now.items() if value != told[name]}
        uncounted = switch in ("aic_metrics", "aic_mode") and not level
        assert changed == ({} if uncounted else INFO.get(switch, {})), switch
        if switch == "without npu":
            assert not any("PROF_" in name or "analysis.db" in name for name in found)
        else:
            assert found == files, switch
