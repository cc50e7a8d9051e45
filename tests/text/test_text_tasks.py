"""op_summary, kernel_details, task_time and the statistics of small recordings, in full."""

from __future__ import annotations

from pathlib import Path

import pytest
from slices import some
from small_recordings import START, kernel, recording, task, written

from ascend_ref.recorded import Output, Recorded
from ascend_spec import text_catalog

BASE = (
    "Device_id,Model ID,Task ID,Stream ID,Op Name,OP Type,OP State,Task Type,Task Start Time(us),"
    "Task Duration(us),Task Wait Time(us),Block Num,Mix Block Num,HF32 Eligible,Input Shapes,"
    "Input Data Types,Input Formats,Output Shapes,Output Data Types,Output Formats,Context ID"
)
NOTHING = ",".join(["N/A"] * 8)


def two_kernels_and_an_operator(output: Output = "msprof") -> Recorded:
    return recording(
        {
            "TASK": [
                task(0, 5_000, 2_500),
                task(1, 900_000, 10, contextId=3, modelId=9),
                task(2, 1, 2, taskType="EVENT_WAIT"),
            ],
            "COMPUTE_TASK_INFO": [
                kernel(0),
                kernel(1, inputShapes="N/A", opState="0", taskType="MIX_AIV", mixBlockNum=48),
            ],
            "COMMUNICATION_OP": [
                {
                    "opName": "hcom_allReduce__1_0_1",
                    "opType": "hcom_allReduce_",
                    "startNs": START + 8_000,
                    "endNs": START + 808_000,
                    "deviceId": 0,
                }
            ],
        },
        output=output,
    )


def test_op_summary_of_the_python_engine(tmp_path: Path) -> None:
    found = written(two_kernels_and_an_operator(), tmp_path, "op_summary", "python")
    common = "MatMul,{},{},1700000000000{}\t,{},{},24,{},NO"
    texts = 'FLOAT;FLOAT,ND;ND,"""2,4""",FLOAT,ND'
    assert found.splitlines() == [
        BASE,
        "0,4294967295,0,2,MatMul_0,"
        + common.format("dynamic", "AI_CORE", "005.000", "2.5", "0", 0)
        + f',"""2,3;3,4""",{texts},N/A',
        "0,4294967295,N/A,N/A,hcom_allReduce__1_0_1,hcom_allReduce_,N/A,COMMUNICATION,"
        f"1700000000000008.000\t,800.0,0.5,0,{NOTHING},N/A",
        "0,9,1,2,MatMul_1,"
        + common.format("static", "MIX_AIV", "900.000", "0.01", "92.0", 48)
        + f",N/A,{texts},3",
    ]


def test_op_summary_of_the_cpp_engine(tmp_path: Path) -> None:
    found = written(two_kernels_and_an_operator(), tmp_path, "op_summary")
    rows = [line.split(",")[8:12] for line in found.splitlines()]
    assert rows[1:] == [
        ["1700000000000005.000\t", "2.500", "0", "24"],
        # Floats of the instants lie a quarter of a us apart.
        ["1700000000000008.000\t", "800.000", "0.500000", "0"],
        ["1700000000000900.000\t", "0.010", "92.000000", "24"],
    ]
    assert '"2,3;3,4",FLOAT;FLOAT,ND;ND,"2,4",FLOAT,ND,N/A' in found


@pytest.mark.parametrize(
    ("family", "shape"), [("A2", '"2,3;3,4"'), ("310P", '"""2,3;3,4"""'), ("910A", '"""2,3;3,4"""')]
)
def test_the_adapter_reads_shapes_from_the_file_of_the_engine(
    family: str, shape: str, tmp_path: Path
) -> None:
    recorded = recording(
        {"TASK": [task(0, 0, 5)], "COMPUTE_TASK_INFO": [kernel(0)]}, output="pytorch", family=family
    )
    header, row, end = written(recorded, tmp_path, "kernel_details").split("\r\n")
    assert end == ""
    assert f",{shape},FLOAT;FLOAT," in row
    assert header.startswith("Device_id,Model ID,Task ID,Stream ID,Name,Type,OP State,Accelerator")


def test_steps_stand_first(tmp_path: Path) -> None:
    recorded = recording(
        {
            "TASK": [task(0, 100, 50), task(1, 500, 50), task(2, 5_000, 1)],
            "COMPUTE_TASK_INFO": [kernel(0), kernel(1), kernel(2)],
            "CANN_API": [
                {
                    "startNs": START + start,
                    "endNs": START + start + 9,
                    "type": "node",
                    "connectionId": number,
                    "globalTid": 1,
                    "name": "launch",
                }
                for number, start in enumerate([10, 20])
            ],
            "STEP_TIME": [{"id": 4, "startNs": START, "endNs": START + 300}],
        },
        output="pytorch",
    )
    rows = written(recorded, tmp_path, "kernel_details").splitlines()
    assert [row.split(",")[:2] for row in rows] == [
        ["Step Id", "Device_id"],
        ["4", "0"],
        ["4", "0"],
        ["", "0"],
    ]


def test_rows_from_before_the_session_and_helpers_are_left_out(tmp_path: Path) -> None:
    kinds = ["AI_CORE", "WRITE_BACK", "INVALID", "HCCL_AI_CPU", "COMMUNICATION", "COMMUNICATION"]
    names = ["before", "a", "b", "c", "d", "allReduceAivKernel"]
    recorded = recording(
        {
            "TASK": [task(place, place * 10 - 5, 2) for place in range(6)],
            "COMPUTE_TASK_INFO": [
                kernel(place, taskType=kind, name=name)
                for place, (kind, name) in enumerate(zip(kinds, names, strict=True))
            ],
        }
    )
    rows = written(recorded, tmp_path, "op_summary", "python").splitlines()[1:]
    assert [row.split(",")[4] for row in rows] == ["allReduceAivKernel"]


def test_devices_by_text_and_each_by_itself(tmp_path: Path) -> None:
    recorded = recording(
        {
            "TASK": [
                task(0, 100, 10, deviceId=10),
                task(1, 300, 10, deviceId=2),
                task(2, 200, 10, deviceId=10),
            ],
            "COMPUTE_TASK_INFO": [kernel(place) for place in range(3)],
        }
    )
    by_engine = {
        writer: [
            (row.split(",")[0], row.split(",")[10])
            for row in written(recorded, tmp_path, "op_summary", writer).splitlines()[1:]
        ]
        for writer in ("cpp", "python")
    }
    # In quarters of a us the tasks start at 0, 0.25 and 0.25.
    assert by_engine["cpp"] == [("10", "0"), ("10", "0.240000"), ("2", "0.000000")]
    assert by_engine["python"] == [("2", "0"), ("10", "0"), ("10", "0.09")]


def test_a_task_that_runs_again_has_the_next_counters(tmp_path: Path) -> None:
    recorded = recording(
        {
            "TASK": [task(0, 100, 50), task(0, 200, 60), task(0, 300, 70)],
            "COMPUTE_TASK_INFO": [kernel(0)],
            "TASK_PMU_INFO": [
                {"globalTaskId": 0, "name": name, "value": value}
                for name, value in (
                    ("aic_total_time", 1_500.0),
                    ("aic_mac_ratio", 0.25),
                    ("aic_total_cycles", 180.0),
                    ("aic_total_time", 2_000.5),
                    ("aic_mac_ratio", 0.0),
                    ("aic_total_cycles", 90.0),
                )
            ],
        },
        metrics="PipeUtilization",
    )
    header, *rows = (
        line.split(",")
        for line in written(recorded, tmp_path, "op_summary", "python")
        .replace('"""2,3;3,4"""', "s")
        .replace('"""2,4"""', "s")
        .splitlines()
    )
    chosen = ["aicore_time(us)", "aic_total_cycles", "aic_mac_ratio", "cube_utilization(%)"]
    assert [[row[header.index(name)] for name in chosen] for row in rows] == [
        # 100 * 180 / (1800 * 24 * 0.05)
        ["1.5", "180", "0.25", "8.333"],
        ["2.001", "90", "0.0", "0"],
        ["N/A", "N/A", "N/A", "N/A"],
    ]


@pytest.mark.parametrize(
    ("family", "group"),
    some(
        [
            (family, group)
            for family in ("A3", "A2", "200I-500-A2", "310P", "910A")
            for group, facts in text_catalog().pmu.groups.items()
            if family in facts.families and group != "Custom"
        ],
        every=3,
    ),
)
def test_every_group_of_metrics_on_every_family(family: str, group: str, tmp_path: Path) -> None:
    file = text_catalog().csv["op_summary"]
    writer = "cpp" if family in ("A3", "A2") else "python"
    columns = file.columns_at(writer=writer, family=family, metrics=group)
    metrics = [column.metric for column in columns if column.metric]
    # Erratum E55: the table has Byte per second where the parser in C++ is not.
    units = {name: 2**30 for name in metrics if "_bw" in name and family not in ("A3", "A2")}
    missing = text_catalog().pmu.not_available.get(family, frozenset())
    recorded = recording(
        {
            "TASK": [task(0, 0, 1_000)],
            "COMPUTE_TASK_INFO": [kernel(0, inputShapes="s", outputShapes="s")],
            "TASK_PMU_INFO": [
                {
                    "globalTaskId": 0,
                    "name": metric,
                    "value": 1000.0 * (place + 1) * units.get(metric, 1),
                }
                for place, metric in enumerate(metrics)
            ],
        },
        family=family,
        metrics=group,
    )
    header, row = written(recorded, tmp_path, "op_summary").splitlines()
    assert tuple(header.split(",")) == file.header(writer=writer, family=family, metrics=group)
    cells = dict(zip(header.split(","), row.replace('""""""', "").split(","), strict=True))
    for place, column in enumerate(one for one in columns if one.metric):
        value = float(place + 1) if column.unit == "us" else 1000.0 * (place + 1)
        text = str(int(value)) if column.unit == "cycle" else str(value)
        assert cells[column.name] == ("N/A" if column.metric in missing else text), column.name


def test_memory_bound_where_one_block_has_all_pipes(tmp_path: Path) -> None:
    ratios = {"mac_ratio": 0.25, "vec_ratio": 0.5, "mte2_ratio": 0.8, "total_cycles": 9.0}
    recorded = recording(
        {
            "TASK": [task(0, 0, 1_000), task(1, 5, 1)],
            "COMPUTE_TASK_INFO": [kernel(0), kernel(1)],
            "TASK_PMU_INFO": [
                {"globalTaskId": 0, "name": name, "value": value} for name, value in ratios.items()
            ],
        },
        family="910A",
        metrics="PipeUtilization",
    )
    header, *rows = written(recorded, tmp_path, "op_summary").splitlines()
    assert header.endswith(",memory_bound,cube_utilization(%)")
    # 100 * 9 / (1800 * 24 * 1)
    assert [row.split(",")[-2:] for row in rows] == [["1.6", "0.021"], ["N/A", "N/A"]]


def test_the_group_is_told_by_its_metrics_where_nobody_says_it(tmp_path: Path) -> None:
    names = ["aic_total_time", "aic_total_cycles", "aic_l0a_read_bw", "aiv_l0c_write_bw"]
    recorded = recording(
        {
            "TASK": [task(0, 0, 1_000)],
            "COMPUTE_TASK_INFO": [kernel(0)],
            "TASK_PMU_INFO": [{"globalTaskId": 0, "name": name, "value": 1.0} for name in names],
        }
    )
    header, _ = written(recorded, tmp_path, "op_summary").splitlines()
    expected = (
        text_catalog().csv["op_summary"].header(writer="cpp", family="A2", metrics="MemoryL0")
    )
    assert tuple(header.split(",")) == expected


def test_chosen_registers_are_columns(tmp_path: Path) -> None:
    recorded = recording(
        {
            "TASK": [task(0, 0, 1_000)],
            "COMPUTE_TASK_INFO": [kernel(0)],
            "TASK_PMU_INFO": [
                {"globalTaskId": 0, "name": name, "value": 5.0}
                for name in ("aic_total_time", "aic_0x49", "aiv_0x49", "aic_0x4a")
            ],
        },
        metrics="Custom",
    )
    header, row = written(recorded, tmp_path, "op_summary").splitlines()
    assert header.endswith(
        "Context ID,aicore_time(us),aic_total_cycles,aic_0x49,aic_0x4a,aiv_time(us),"
        "aiv_total_cycles,aiv_0x49,aiv_0x4a"
    )
    assert row.endswith(",N/A,0.005,N/A,5.0,5.0,N/A,N/A,5.0,N/A")


def test_only_communication_has_fewer_columns(tmp_path: Path) -> None:
    recorded = recording(
        {
            "COMMUNICATION_OP": [
                {"opName": "a", "opType": "N/A", "startNs": START, "endNs": START + 1}
            ]
        },
        metrics="PipeUtilization",
    )
    assert written(recorded, tmp_path, "op_summary", "python").splitlines() == [
        BASE.partition(",Block Num")[0] + ",Context ID",
        "0,4294967295,N/A,N/A,a,N/A,N/A,COMMUNICATION,1700000000000000.000\t,0.001,0,N/A",
    ]


def test_task_time_has_a_name_and_a_kind_for_each_task(tmp_path: Path) -> None:
    recorded = recording(
        {
            "TASK": [
                task(3, 30, 1_500, taskType="KERNEL_AICPU", deviceId=1),
                task(0, 40, 5),
                task(1, 10, 0, taskType="EVENT_RECORD"),
                task(2, 20, 7, taskType="KERNEL_AIVEC"),
                task(4, -9, 8),
            ],
            "COMPUTE_TASK_INFO": [kernel(0), kernel(2, taskType="N/A", name="Cast")],
            "COMMUNICATION_SCHEDULE_TASK_INFO": [
                {"globalTaskId": 3, "name": "scheduling", "taskType": "AI_CPU"}
            ],
        }
    )
    expected = {
        "EVENT_RECORD": "0,N/A,EVENT_RECORD,2,1,{},1700000000000000.010\t,1700000000000000.010\t",
        "Cast": "0,Cast,KERNEL_AIVEC,2,2,{},1700000000000000.020\t,1700000000000000.027\t",
        "scheduling": "1,scheduling,AI_CPU,2,3,{},1700000000000000.030\t,1700000000000001.530\t",
        "MatMul_0": "0,MatMul_0,AI_CORE,2,0,{},1700000000000000.040\t,1700000000000000.045\t",
    }
    header = "Device_id,kernel_name,kernel_type,stream_id,task_id,task_time(us),task_start(us)"
    for writer, order, times in (
        ("cpp", ["EVENT_RECORD", "Cast", "scheduling", "MatMul_0"], "0.000 0.007 1.500 0.005"),
        ("python", ["EVENT_RECORD", "Cast", "MatMul_0", "scheduling"], "0.0 0.007 0.005 1.5"),
    ):
        found = written(recorded, tmp_path, "task_time", writer).splitlines()
        rows = [
            expected[name].format(length) for name, length in zip(order, times.split(), strict=True)
        ]
        assert found == [f"{header},task_stop(us)", *rows]


def test_statistics_of_operators(tmp_path: Path) -> None:
    recorded = recording(
        {
            "TASK": [
                task(0, 10, 1_000),
                task(1, 2_000, 2_001),
                task(2, 5_000, 500),
                task(3, 6_000, 499),
                task(4, -1, 9_999),
            ],
            "COMPUTE_TASK_INFO": [
                kernel(0),
                kernel(1),
                kernel(2, opType="Cast", taskType="AI_VECTOR_CORE"),
                kernel(3, opType="N/A"),
                kernel(4, opType="begins before the session"),
            ],
        }
    )
    header = (
        "Device_id,OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),"
        "Ratio(%)"
    )
    assert written(recorded, tmp_path, "op_statistic", "python").splitlines() == [
        header,
        # Shares are of all that was counted, also of what is not shown.
        "0,MatMul,AI_CORE,2,3.001,1.0,1.5,2.001,75.025",
        "0,Cast,AI_VECTOR_CORE,1,0.5,0.5,0.5,0.5,12.5",
    ]
    assert written(recorded, tmp_path, "op_statistic", "cpp").splitlines()[1:] == [
        "0,MatMul,AI_CORE,2,3.001,1,1.501,2.001,75.025",
        "0,Cast,AI_VECTOR_CORE,1,0.5,0.5,0.5,0.5,12.5",
    ]


def test_shares_are_of_one_device(tmp_path: Path) -> None:
    recorded = recording(
        {
            "TASK": [task(place, place, 100 + place, deviceId=place % 2) for place in range(4)],
            "COMPUTE_TASK_INFO": [kernel(place, opType=f"op_{place}") for place in range(4)],
        }
    )
    for writer, order in (("python", "0 0 1 1"), ("cpp", "1 0 1 0")):
        rows = written(recorded, tmp_path, "op_statistic", writer).splitlines()[1:]
        cells = [row.split(",") for row in rows]
        assert [row[0] for row in cells] == order.split()
        assert {row[1]: row[-1] for row in cells} == {
            "op_0": "49.505",
            "op_1": "49.51",
            "op_2": "50.495",
            "op_3": "50.49",
        }


def test_statistics_of_calls(tmp_path: Path) -> None:
    calls = [
        ("communication", "b", 10, 1_500),
        ("acl", "a", 20, 500),
        ("runtime", "a", 30, 250),
        ("acl", "a", 40, 1_000),
        ("node", "before", -100, 50),
    ]
    recorded = recording(
        {
            "CANN_API": [
                {
                    "startNs": START + start,
                    "endNs": START + start + length,
                    "type": level,
                    "name": name,
                    "globalTid": 1,
                    "connectionId": number,
                }
                for number, (level, name, start, length) in enumerate(calls)
            ]
        }
    )
    assert written(recorded, tmp_path, "api_statistic", "python").splitlines() == [
        "Device_id,Level,API Name,Time(us),Count,Avg(us),Min(us),Max(us),Variance",
        "host,acl,a,1.5,2,0.75,0.5,1.0,0.062",
        "host,runtime,a,0.25,1,0.25,0.25,0.25,0.0",
        "host,communication,b,1.5,1,1.5,1.5,1.5,0.0",
        "host,node,before,0.05,1,0.05,0.05,0.05,0.0",
    ]
    assert written(recorded, tmp_path, "api_statistic", "cpp").splitlines()[1:] == [
        "host,runtime,a,0.25,1,0.25,0.25,0.25,0",
        "host,acl,a,1.5,2,0.75,0.5,1,0.063",
        "host,communication,b,1.5,1,1.5,1.5,1.5,0",
    ]


def test_statistics_of_communication(tmp_path: Path) -> None:
    rows = [("allReduce", 10, 300), ("send", 20, 100), ("allReduce", 30, 500)]
    recorded = recording(
        {
            "COMMUNICATION_OP": [
                {
                    "opName": "a",
                    "opType": f"hcom_{kind}_",
                    "deviceId": 0,
                    "startNs": START + start,
                    "endNs": START + start + length,
                }
                for kind, start, length in rows
            ]
        }
    )
    assert written(recorded, tmp_path, "communication_statistic", "python").splitlines() == [
        "Device_id,OP Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),Ratio(%)",
        "0,hcom_allReduce_,2,0.8,0.3,0.4,0.5,88.889",
        "0,hcom_send_,1,0.1,0.1,0.1,0.1,11.111",
    ]
