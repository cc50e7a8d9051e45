"""Files of records, which no database has, in full."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from small_recordings import START, recording, written


def lines(
    extras: dict[str, Any], folder: Path, file: str, writer: str | None = None, **how: Any
) -> list[str]:
    return written(recording({}, extras, **how), folder, file, writer).splitlines()


def of_task(number: int, **changes: int) -> dict[str, Any]:
    return {"device": 0, "stream": 2, "number": number, "name": f"op_{number}", **changes}


@pytest.mark.parametrize(("family", "hits"), [("A2", "N/A"), ("910A", "0.25")])
def test_the_cache(family: str, hits: str, tmp_path: Path) -> None:
    rows = [
        of_task(4, request=3, hit=1, victim=2),
        of_task(5, request=40_000, hit=10_000, victim=1),
    ]
    found = written(
        recording({"COMPUTE_TASK_INFO": [{"globalTaskId": 1}]}, {"l2_cache": rows}, family=family),
        tmp_path,
        "l2_cache",
    )
    assert found.splitlines()[0::2] == [
        "Device_id,Stream Id,Task Id,Hit Rate,Victim Rate,Op Name",
        f"0,2,5,{hits},2.5e-05,op_5",
    ]
    # Without operators nobody knows their names.
    header, *_ = lines({"l2_cache": rows}, tmp_path, "l2_cache", family=family)
    assert header == "Device_id,Stream Id,Task Id,Hit Rate,Victim Rate"


def test_translations_and_page_faults(tmp_path: Path) -> None:
    extras = {
        "soc_pmu": [of_task(4, request=4, hit=3, miss=1), of_task(5, request=0, hit=0, miss=0)],
        "page_fault": [of_task(4, faults=7)],
    }
    assert lines(extras, tmp_path, "soc_pmu", family="950") == [
        "Device_id,Stream Id,Task Id,TLB Hit Rate,TLB Miss Rate",
        "0,2,4,0.75,0.25",
        "0,2,5,0.0,0.0",
    ]
    assert lines(extras, tmp_path, "page_fault", family="950") == [
        "Device Id,Stream Id,Task Id,Page Fault Num,Op Name",
        "0,2,4,7,op_4",
    ]


def test_ai_cpu(tmp_path: Path) -> None:
    row = {
        "device": 0, "time": START + 1, "name": "Cast", "compute": 1_500, "memcpy": 2,
        "task": 1_600, "dispatch": 10, "total": 1_700, "stream": 3, "number": 4,
    }  # fmt: skip
    extras = {
        "aicpu": [{**row, "name": None}, {**row, "time": START - 1_601}],
        "aicpu_mi": [{"device": 0, "name": "q", "start": START, "end": START + 1_500, "size": 3}],
        "dp": [{"device": 0, "time": START, "action": "a", "source": "s", "buffered": 3}],
    }
    expected = [
        "Device_id,Timestamp(us),Node,Compute_time(us),Memcpy_time(us),Task_time(us),"
        "Dispatch_time(us),Total_time(us),Stream ID,Task ID",
        "0,1700000000000000.001\t,N/A,1.5,0.002,1.6,0.01,1.7,3,4",
    ]
    assert lines(extras, tmp_path, "aicpu") == expected
    assert lines(extras, tmp_path, "data_preprocess", output="pytorch", level=2) == expected
    assert lines(extras, tmp_path, "data_preprocess", output="pytorch", level=1) == []
    assert lines(extras, tmp_path, "aicpu_mi")[1] == "0,q,1700000000000000,1700000000000001.5,3"
    assert lines(extras, tmp_path, "dp", family="910A")[1] == "0,1700000000000000,a,s,3"
    assert lines(extras, tmp_path, "dp") == []


def test_graphs(tmp_path: Path) -> None:
    extras = {
        "fusion_op": [
            {
                "model_name": "m",
                "model": 1,
                "name": "ab",
                "originals": "a;b",
                "input": 1024,
                "output": 512,
                "weight": 0,
                "workspace": 100,
            }
        ],
        "static_op_mem": [
            {"name": "a", "model_name": "0", "graph": 1, "start": 0, "end": 5, "size": 1536},
            {"name": "TOTAL", "model_name": "0", "graph": 1, "start": 0, "end": -1, "size": 2048},
        ],
    }
    assert lines(extras, tmp_path, "fusion_op") == [
        "Device_id,Model Name,Model ID,Fusion Op,Original Ops,Memory Input(KB),"
        "Memory Output(KB),Memory Weight(KB),Memory Workspace(KB),Memory Total(KB)",
        "host,m,1,ab,a;b,1.0,0.5,0.0,0.09765625,1.59765625",
    ]
    assert lines(extras, tmp_path, "static_op_mem") == [
        "Device_id,Op Name,Model Name,Graph ID,Node Index Start,Node Index End,Size(KB)",
        "host,a,0,1,0,5,1.5",
        "host,TOTAL,0,1,0,4294967295,2.0",
    ]


def test_iterations_have_as_many_reductions_as_any_of_them(tmp_path: Path) -> None:
    def iteration(number: int, start: int, **changes: int) -> dict[str, int]:
        times = {"start": start, "fp_start": start + 2, "bp_end": start + 7, "end": start + 9}
        moments = {name: START + 1000 * time for name, time in {**times, **changes}.items()}
        return {"device": 0, "model": 1, "iteration": number, **moments}

    extras = {
        "step_trace": [
            iteration(1, 10),
            {**iteration(2, 20), "fp_start": -1, "bp_end": -1, "model": -1},
            iteration(3, 40),
        ],
        "step_trace_reduce": [
            {
                "device": 0,
                "model": 1,
                "iteration": number,
                "start": START + start,
                "end": START + end,
            }
            for number, start, end in [
                (1, 14_000, 14_250),
                (3, 45_000, 45_001),
                (1, 15_000, 16_000),
            ]
        ],
    }
    header = (
        "Device_id,Iteration ID,FP Start(us),BP End(us),Iteration End(us),Iteration Time(us),"
        "FP to BP Time(us),Iteration Refresh(us),Data Aug Bound(us),Model ID"
    )
    assert lines(extras, tmp_path, "step_trace", "python") == [
        header + ",Reduce Start(us),Reduce Duration(us)" * 2,
        "0,1,1700000000000012.000\t,1700000000000017.000\t,1700000000000019.000\t,9.0,5.0,2.0,N/A,1,"
        "1700000000000014.000\t,0.25,1700000000000015.000\t,1.0",
        "0,2,N/A,N/A,1700000000000029.000\t,9.0,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A",
        "0,3,1700000000000042.000\t,1700000000000047.000\t,1700000000000049.000\t,9.0,5.0,2.0,13.0,1,"
        "1700000000000045.000\t,0.001,N/A,N/A",
    ]
    fixed = lines(extras, tmp_path, "step_trace", "cpp")[3]
    assert ",9.000,5.000,2.000,13.000,1,1700000000000045.000\t,0.001,N/A,N/A" in fixed
    del extras["step_trace_reduce"]
    assert lines(extras, tmp_path, "step_trace")[0] == header


def test_systems_and_processes(tmp_path: Path) -> None:
    memory = {
        "total": 4096, "free": 2048, "buffers": 1024, "cached": 0, "shared": 0, "commit_limit": 0,
        "committed": 0, "huge_total": 3, "huge_free": 1,
    }  # fmt: skip
    spent = ["nice", "iowait", "irq", "soft", "steal", "guest", "guest_nice"]
    processor = {"device": 0, "cpu": 0, "type": "aicpu", "user": 1, "sys": 2, "idle": 5}
    process = {"pid": 3, "name": "p", "size": 10, "resident": 5, "shared": 2}
    extras = {
        "sys_mem": [
            {"device": 0, **memory},
            {"device": 0, **memory, "free": 1024, "huge_free": 2},
            {"device": -1, **memory},
        ],
        "process_mem": [
            {"device": -1, **process},
            {"device": 0, **process, "pid": 4, "size": 1},
            {"device": 0, **process},
            {"device": 0, **process, "size": 13},
        ],
        "cpu_usage": [{**processor, **dict.fromkeys(spent, 0)}],
        "process_cpu_usage": [
            {
                "device": 0,
                "pid": pid,
                "name": "p",
                "user": user,
                "sys": 1,
                "children_user": 0,
                "children_sys": 0,
                "system": 10,
            }
            for pid, user in [(1, 0), (2, 4)]
        ],
    }
    assert lines(extras, tmp_path, "sys_mem")[1:] == [
        "0,4,1,1,0,0,0,0,3,1",
        "host,4,2,1,0,0,0,0,3,1",
    ]
    assert lines(extras, tmp_path, "process_mem")[1:] == [
        "0,3,p,11,5,2",
        "0,4,p,1,5,2",
        "host,3,p,10,5,2",
    ]
    assert lines(extras, tmp_path, "cpu_usage")[1] == "0,AI CPU,12.5,25.0,0.0,0.0,0.0,62.5"
    assert lines(extras, tmp_path, "process_cpu_usage")[1:] == ["0,2,p,50.0", "0,1,p,10.0"]


def test_processors(tmp_path: Path) -> None:
    functions = [
        {"device": 0, "function": f"f{number}", "module": "m", "cycles": cycles}
        for number, cycles in enumerate([1, 2, 3, 4, 5, 5])
    ]
    events = [
        {"device": 0, "event": event, "name": "cpu_cycles", "count": count}
        for event, count in [(0x11, 9), (0x8, 100)]
    ]
    extras = {
        f"{kind}_cpu_{file}": rows
        for kind in ("ai", "ctrl", "ts")
        for file, rows in (("top_function", functions), ("pmu_events", events))
    }
    assert lines(extras, tmp_path, "ctrl_cpu_top_function")[:3] == [
        "Device_id,Function,Module,Cycles,Cycles(%)",
        "0,f4,m,5,25.0",
        "0,f5,m,5,25.0",
    ]
    assert lines(extras, tmp_path, "ts_cpu_top_function")[1:] == [
        "0,f4,5,25.0",
        "0,f5,5,25.0",
        "0,f3,4,20.0",
        "0,f2,3,15.0",
        "0,f1,2,10.0",
    ]
    assert lines(extras, tmp_path, "ai_cpu_pmu_events") == [
        "Device_id,Event,Name,Count",
        "0,0x8,Cpu_cycles,100",
        "0,0x11,Cpu_cycles,9",
    ]
    # As texts, 9 is more than 100.
    assert lines(extras, tmp_path, "ts_cpu_pmu_events")[1] == "0,0x11,Cpu_cycles,9"


def test_engines_for_images(tmp_path: Path) -> None:
    row = {"device": 0, "group": 0, "type": "VDEC", "engine": 1, "busy": 1_500, "frames": 2}
    extras = {"dvpp": [{**row, "utilization": 16_667}]}
    assert lines(extras, tmp_path, "dvpp") == [
        "Device_id,Dvpp Id,Engine Type,Engine ID,All Time(us),All Frame,All Utilization(%)",
        "0,0,VDEC,1,1.5,2,16.667",
    ]
