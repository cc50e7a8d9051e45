"""Files of samples and marks, from tables of a few rows, in full."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from small_recordings import START, recording, task, written

MB = 1 << 20
PCIE_UNSET = 0xFFFFF * 1_000_000 % (1 << 32)


def lines(tables: dict[str, Any], folder: Path, file: str, writer: str | None = None, **how: Any):  # type: ignore[no-untyped-def]
    return written(recording(tables, **how), folder, file, writer).splitlines()


def test_memory_of_the_device(tmp_path: Path) -> None:
    tables = {
        "NPU_MEM": [
            {"type": "app", "ddr": 0, "hbm": 1535, "timestampNs": START, "deviceId": 0},
            {"type": "device", "ddr": 1024, "hbm": 512, "timestampNs": START + 10, "deviceId": 0},
        ]
    }
    assert lines(tables, tmp_path, "npu_mem", "cpp") == [
        "Device_id,event,ddr(KB),hbm(KB),memory(KB),timestamp(us)",
        "0,APP,0,1,1,1700000000000000.000\t",
        "0,Device,1,0,1,1700000000000000.010\t",
    ]
    assert lines(tables, tmp_path, "npu_mem", "python")[1:] == [
        "0,APP,0.0,1.499,1.499,1700000000000000.000\t",
        "0,Device,1.0,0.5,1.5,1700000000000000.010\t",
    ]


def test_memory_of_the_components(tmp_path: Path) -> None:
    tables = {
        "NPU_MODULE_MEM": [
            {"moduleId": name, "timestampNs": START + time, "totalReserved": size, "deviceId": 0}
            for name, time, size in [("HCCL", 5, 3000), ("SLOG", 9, 0), ("HCCL", 1, 1024)]
        ]
    }
    assert lines(tables, tmp_path, "npu_module_mem", "cpp") == [
        "Device_id,Component,Timestamp(us),Total Reserved(KB),Device",
        "0,SLOG,1700000000000000.009\t,0,NPU:0",
        "0,HCCL,1700000000000000.001\t,1,NPU:0",
        "0,HCCL,1700000000000000.005\t,2,NPU:0",
    ]
    rows = lines(tables, tmp_path, "npu_module_mem", output="pytorch", family="310P")
    assert rows[1:] == [
        "0,HCCL,1700000000000000.005\t,0.002861328125,NPU:0",
        "0,SLOG,1700000000000000.009\t,0.0,NPU:0",
        "0,HCCL,1700000000000000.001\t,0.0009765625,NPU:0",
    ]


def test_memory_of_operators(tmp_path: Path) -> None:
    events = [
        ("outside", 9, "release", 2048, 1),
        ("a", 7, "allocate", 1024, 2),
        ("b", 8, "allocate", 512, 3),
        ("a", 7, "release", 1024, 1_004),
    ]
    tables = {
        "NPU_OP_MEM": [
            {
                "operatorName": name,
                "addr": address,
                "type": kind,
                "size": size,
                "timestampNs": START + time,
                "totalAllocate": 1024 * time,
                "totalReserve": 4096,
                "component": "GE",
                "deviceId": 0,
            }
            for name, address, kind, size, time in events
        ]
    }
    assert lines(tables, tmp_path, "operator_memory") == [
        "Device_id,Name,Size(KB),Allocation Time(us),Duration(us),"
        "Allocation Total Allocated(KB),Allocation Total Reserved(KB),"
        "Release Total Allocated(KB),Release Total Reserved(KB),Device",
        "0,,-2.0,,,,,1.0,4.0,NPU:0",
        "0,a,1.0,1700000000000000.002\t,1.002,2.0,4.0,1004.0,4.0,NPU:0",
        "0,b,0.5,1700000000000000.003\t,,3.0,4.0,,,NPU:0",
    ]
    assert lines(tables, tmp_path, "memory_record")[:2] == [
        "Device_id,Component,Timestamp(us),Total Allocated(KB),Total Reserved(KB),Device",
        "0,GE,1700000000000000.001\t,1.0,4.0,NPU:0",
    ]


def test_means_of_memories_and_caches(tmp_path: Path) -> None:
    tables = {
        "DDR": [
            {"deviceId": device, "timestampNs": START, "read": read * MB, "write": 0}
            for device, read in [(1, 1), (0, 2), (0, 5)]
        ],
        "HBM": [
            {
                "deviceId": 0,
                "timestampNs": START,
                "bandwidth": rate * MB,
                "hbmId": unit,
                "type": way,
            }
            for rate, unit, way in [(4, 1, "read"), (1, 0, "read"), (2, 0, "read"), (3, 1, "write")]
        ],
        "LLC": [
            {
                "deviceId": 0,
                "llcId": cache,
                "timestampNs": START,
                "hitRate": hits,
                "throughput": MB,
                "mode": mode,
            }
            for cache, hits, mode in [(1, 50.0, "read"), (0, 25.5, "read"), (1, 75.0, "read")]
        ],
    }
    assert lines(tables, tmp_path, "ddr", family="910A") == [
        "Device_id,Metric,Read(MB/s),Write(MB/s)",
        "1,Average,1.0,0.0",
        "0,Average,3.5,0.0",
    ]
    assert lines(tables, tmp_path, "hbm") == [
        "Device_id,Metric,Read(MB/s),Write(MB/s)",
        "0,Average,2.750,1.500",
        "0,0,1.5,0.0",
        "0,1,4.0,3.0",
    ]
    assert lines(tables, tmp_path, "llc_read_write") == [
        "Device_id,Mode,Task,Hit Rate(%),Throughput(MB/s)",
        "0,read,Average,44.0,1.0",
        "0,read,0,25.5,1.0",
        "0,read,1,62.5,1.0",
    ]


def pcie(time: int, minimum: int, maximum: int) -> dict[str, Any]:
    names = ["txPost", "txNonpost", "txCpl", "rxPost", "rxNonpost", "rxCpl"]
    rates = {"Min": minimum, "Max": maximum, "Avg": maximum}
    return {
        "deviceId": 0,
        "timestampNs": START + time,
        **{f"{name}{figure}": rate for name in names for figure, rate in rates.items()},
        **{f"txNonpostLatency{figure}": 1_500 for figure in rates},
    }


def test_links(tmp_path: Path) -> None:
    tables = {
        "HCCS": [
            {
                "deviceId": 0,
                "timestampNs": START + time,
                "txThroughput": time * MB,
                "rxThroughput": 0,
            }
            for time in (1, 4)
        ],
        "PCIE": [pcie(2, PCIE_UNSET, 3 * MB), pcie(1, MB, 5 * MB), pcie(0, 9 * MB, MB)],
    }
    assert lines(tables, tmp_path, "hccs") == [
        "Device_id,Mode,Max,Min,Average",
        "0,Tx (MB/s),4.0,1.0,2.5",
        "0,Rx (MB/s),0.0,0.0,0.0",
    ]
    latest = lines(tables, tmp_path, "pcie", family="A2")
    assert latest[:2] == ["Device_id,Mode,Min,Max,Avg", "0,Tx_p_avg(MB/s),0.0,3.0,3.0"]
    assert latest[4] == "0,Tx_latency_avg(us),1.5,1.5,1.5"
    assert [row.split(",")[1] for row in latest[5:]] == [
        "Rx_p_avg(MB/s)",
        "Rx_np_avg(MB/s)",
        "Rx_cpl_avg(MB/s)",
    ]
    tables["PCIE"] = [pcie(2, 3 * MB, 3 * MB), pcie(1, MB, 5 * MB), pcie(0, 9 * MB, MB)]
    assert lines(tables, tmp_path, "pcie", family="910A")[1] == "0,Tx_p_avg(MB/s),2.0,4.0,4.0"


def test_ports(tmp_path: Path) -> None:
    """One row a port: by the ns between samples, as in msprof's nic_model.py and roce_model.py."""
    port = {
        "deviceId": 0, "timestampNs": START + 1, "bandwidth": 200 * MB, "rxPacketRate": 10,
        "rxByteRate": 50 * MB, "rxPackets": 400, "rxErrors": 4, "rxDropped": 12,
        "txPacketRate": 0.5, "txByteRate": 0, "txPackets": 0, "txErrors": 0, "txDropped": 0,
        "funcId": 2,
    }  # fmt: skip
    sampled = [
        {**port, "funcId": 1, "timestampNs": START + 1_000 * turn, "rxErrors": 40 * turn,
         "txDropped": 1, "rxBytes": 400 * MB * turn, "rxDropped": 6}
        for turn in (1, 2)
    ]  # fmt: skip
    for file in ("nic", "roce"):
        header, *rows = lines({file.upper(): [*sampled, port]}, tmp_path, file)
        assert header == (
            "Device_id,Timestamp(us),Bandwidth(MB/s),Rx Bandwidth efficiency(%),rxPacket/s,"
            "rxError rate(%),rxDropped rate(%),Tx Bandwidth efficiency(%),txPacket/s,"
            "txError rate(%),txDropped rate(%),funcId"
        )
        assert [row.partition("\t")[2] for row in rows] == [
            ",200.0,0.016,0.02,206.7,30.0,0.0,0.001,0.0,200.0,1",
            ",200.0,0.0,10.0,0.01,0.03,0.0,0.5,0.0,0.0,2",
        ]


def test_sampled_cores(tmp_path: Path) -> None:
    tables = {
        "SAMPLE_PMU_SUMMARY": [
            {"deviceId": 0, "metric": metric, "value": value, "coreId": core, "coreType": kind}
            for core, kind, metric, value in [
                (2, "AIC", "mac_ratio", 0.12345),
                (2, "AIC", "mte2_ratio", 0.5),
                (0, "AIC", "mac_ratio", 0.3),
                (0, "AIV", "vec_ratio", 0.25),
                (0, "AIV", "mac_ratio", 0.125),
                (0, "AIV", "mte2_ratio", 0.5),
                (1, "AIV", "vec_ratio", 0.5),
                (1, "AIV", "mac_ratio", 0.0),
                (1, "AIV", "mte2_ratio", 0.1),
            ]
        ]
    }
    how = {"metrics": "PipeUtilization"}
    header, *rows = lines(tables, tmp_path, "ai_core_utilization", **how)
    assert header.startswith("Device_id,Core ID,mac_ratio,scalar_ratio,mte1_ratio,mte2_ratio,")
    assert [row.split(",")[:6] for row in rows] == [
        ["0", "Core0", "0.3", "N/A", "N/A", "N/A"],
        ["0", "Core2", "0.123", "N/A", "N/A", "0.5"],
        ["0", "Average", "0.211", "N/A", "N/A", "N/A"],
    ]
    header, *rows = lines(tables, tmp_path, "ai_vector_core_utilization", **how)
    assert header.endswith(",memory_bound")
    # The last is not their mean: msprof divides the means (0.3 by 0.375).
    assert [row.split(",")[-1] for row in rows] == ["2.0", "0.2", "0.8"]


def test_shares_of_executing_bound_memory_as_well(tmp_path: Path) -> None:
    shares = {"mac_exe_ratio": 0.25, "vec_exe_ratio": 0.5, "mte2_exe_ratio": 0.75}
    tables = {
        "SAMPLE_PMU_SUMMARY": [
            {"deviceId": 0, "metric": metric, "value": value, "coreId": 0, "coreType": "AIC"}
            for metric, value in shares.items()
        ]
    }
    how = {"metrics": "PipelineExecuteUtilization", "family": "200I-500-A2"}
    header, *rows = lines(tables, tmp_path, "ai_core_utilization", **how)
    assert header.endswith(",memory_bound")
    assert [row.split(",")[-1] for row in rows] == ["1.5", "1.5"]


def test_the_host(tmp_path: Path) -> None:
    tables = {
        "CPU_USAGE": [
            {"timestampNs": START, "cpuId": cpu, "usage": usage}
            for cpu, usage in [(0, 0.0), (0, 50.0), (1, 0.0)]
        ],
        "HOST_MEM_USAGE": [{"timestampNs": START, "usage": 25.0}],
        "HOST_DISK_USAGE": [
            {"timestampNs": START, "readRate": 2048.0 * rate, "writeRate": 0.0, "usage": 1.0}
            for rate in range(101)
        ],
        "HOST_NETWORK_USAGE": [{"timestampNs": START, "usage": 1.0, "speed": 512.0}],
        "OSRT_API": [
            {"name": name, "globalTid": (5 << 32) + 6, "startNs": START, "endNs": START + length}
            for name, length in [("read", 1_000), ("poll", 5_000), ("read", 2_000)]
        ],
    }
    assert lines(tables, tmp_path, "host_cpu_usage") == []
    extras = {
        "host_cpu_usage": [{"processors": 64}],
        "host_mem_usage": [{"total": 1 << 20}],
        "host_network_usage": [{"speed": 4096}],
    }
    assert lines(tables, tmp_path, "host_cpu_usage", extras=extras)[1] == "host,64,2,1"
    assert lines(tables, tmp_path, "host_mem_usage", extras=extras)[1] == "host,1024.0,256.0,320.0"
    assert lines(tables, tmp_path, "host_disk_usage")[1] == "host,200.0,247.5,0.0,0.0"
    assert lines(tables, tmp_path, "host_network_usage", extras=extras)[1] == "host,4.0,0.5,0.625"
    del tables["HOST_NETWORK_USAGE"]
    assert lines(tables, tmp_path, "host_network_usage", extras=extras)[1] == "host,4.0,N/A,N/A"
    assert lines(tables, tmp_path, "os_runtime_statistic")[1:] == [
        "host,5,6,poll,0.625,5.0,1,5.0,5.0,5.0",
        "host,5,6,read,0.375,3.0,2,1.5,2.0,1.0",
    ]


def test_marks_and_their_points_on_devices(tmp_path: Path) -> None:
    def mark(time: int, connection: int, message: str) -> dict[str, Any]:
        return {
            "startNs": START + time, "endNs": START + time + 10, "eventType": "marker",
            "category": 0, "message": message, "globalTid": (8 << 32) + 9, "domainId": "default",
            "connectionId": connection,
        }  # fmt: skip

    tables = {
        "MSTX_EVENTS": [mark(30, 4_000_000_000, "a, b"), mark(20, 4_000_000_001, 'c\n"d"')],
        "TASK": [
            task(1, 70, 0, connectionId=4_000_000_001, taskType="MsTx"),
            task(2, 90, 5, connectionId=4_000_000_001, taskType="MsTx", deviceId=3),
            task(3, 99, 5, connectionId=4_000_000_000),
        ],
    }
    found = written(recording(tables), tmp_path, "msprof_tx").split("\n0,", 1)
    assert found[0].startswith("Device_id,pid,tid,category,event_type,payload_type,")
    start, end = "1700000000000000.020\t", "1700000000000000.030\t"
    middle = f'8,9,0,marker,0,0,{start},{end},0,"c\n""d""",default'
    assert f"0,{found[1]}" == (
        f"0,{middle},1700000000000000.070\t,1700000000000000.070\t\n"
        f"3,{middle},1700000000000000.090\t,1700000000000000.095\t\n"
        "host,8,9,0,marker,0,0,1700000000000000.030\t,1700000000000000.040\t,0,"
        '"a, b",default,N/A,N/A\n'
    )
