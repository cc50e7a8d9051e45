"""Rows of the tables that sample a device or the host over time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from ascend_ref.db.encode import SOURCES
from ascend_spec import catalog
from ascend_spec.db.model import Column, Table

from ..draws import Draws
from .shape import Shape
from .world import FREQUENCY_MHZ, RELEASE_THREAD, SESSION_START_NS, Row, Rows, World

SAMPLES = 5
FIRST_SAMPLE_NS = 1_000_000
INTERVAL_NS = 1_000_000
SAMPLES_PER_SECOND = 1_000_000_000 // INTERVAL_NS
MEGABYTE = 1 << 20
WRAP = 1 << 32
"""The exporter forms QOS and PCIE rates in 32 bits; smaller rates are stored as they are."""

PCIE_STREAMS = ("txPost", "txNonpost", "txCpl", "txNonpostLatency", "rxPost", "rxNonpost", "rxCpl")
NETDEV_RATES = {
    "macTxBandwidth": "macTxByte",
    "macRxBandwidth": "macRxByte",
    "nicTxBandwidth": "nicTxByte",
    "nicRxBandwidth": "nicRxByte",
}
NETDEV_COUNTS = (
    "macTxPfcPkt",
    "macRxPfcPkt",
    "macTxBadByte",
    "macRxBadByte",
    "roceTxPkt",
    "roceRxPkt",
    "roceTxErrPkt",
    "roceRxErrPkt",
    "roceTxCnpPkt",
    "roceRxCnpPkt",
    "roceNewPktRty",
)
SIO_FIELDS = ("rxReq", "rxRsp", "rxSnp", "rxDat", "txReq", "txRsp", "txSnp", "txDat")

CORES = 2
SYSTEM_CALLS = ("pthread_mutex_lock", "read", "ioctl")

Sampler = Callable[[int, Draws], Iterator[Row]]


def moments() -> list[int]:
    """The times of all samples, in order."""
    first = SESSION_START_NS + FIRST_SAMPLE_NS
    return [first + number * INTERVAL_NS for number in range(SAMPLES)]


def sample_tables(world: World, shape: Shape) -> dict[str, Rows]:
    """Rows of every sampled table, without those that the shape switches off."""
    tables = {name: _sampled(name, SAMPLERS[name], world, shape) for name in _device_tables(shape)}
    # The clock is sampled, whatever the switches are; the encoder adds the bounds of the session.
    tables["AICORE_FREQ"] = [
        {"deviceId": device, "timestampNs": time, "freq": FREQUENCY_MHZ, "dieId": -1}
        for device in world.devices
        for time in moments()[:2]
    ]
    if shape.with_samples:
        tables |= {table.name: list(_by_type(table, world)) for table in _tables_without_capture()}
    return tables | (_host_tables(shape) if shape.with_host else {})


def _tables_without_capture() -> Iterator[Table]:
    """Tables of the spec that neither a capture nor a sampler here knows: those of a draft."""
    known = {*SOURCES, *SAMPLERS, *HOST_TABLES, "AICORE_FREQ", "CCU", "DPU_TASK", "STRING_IDS"}
    for table in catalog().tables.values():
        if table.name not in known | catalog().enums.keys() and table.carriers.keys() != {
            "analysis"
        }:
            yield table


def _by_type(table: Table, world: World) -> Iterator[Row]:
    """A few rows of a table, with a value of the type of each column."""
    for device in world.devices:
        for number, time in enumerate(moments()):
            yield {
                column.name: _of_type(column, device, number, time)
                for column in table.columns.values()
            }


def _of_type(column: Column, device: int, number: int, time: int) -> object:
    if column.type == "deviceId":
        return device
    enum = next((one for one in column.references if one.startswith("ENUM_")), None)
    if enum is not None:
        members = catalog().enums[enum.partition(".")[0]].members
        return members[number % len(members)].id
    if column.storage == ("text",) or "STRING_IDS.id" in column.references:
        return column.members[number % len(column.members)] if column.members else column.name
    least = column.minimum or 0
    return time if least > number and column.unit == "ns" else int(least) + number


def _device_tables(shape: Shape) -> list[str]:
    if not shape.with_samples:
        return []
    return [name for name in SAMPLERS if shape.with_pmu or name not in OF_CORES]


def _sampled(name: str, sampler: Sampler, world: World, shape: Shape) -> Rows:
    draws = Draws(shape.seed, name)
    return [
        {"deviceId": device, **row} for device in world.devices for row in sampler(device, draws)
    ]


def _rate(draws: Draws, largest_megabytes: int = 4_000) -> int:
    return draws.one(1, largest_megabytes) * MEGABYTE


def _hbm(_: int, draws: Draws) -> Iterator[Row]:
    for number, time in enumerate(moments()):
        for direction in ("read", "write"):
            for unit in range(4):
                rate = _rate(draws) if number else 0
                yield {"timestampNs": time, "bandwidth": rate, "hbmId": unit, "type": direction}


def _ddr(_: int, draws: Draws) -> Iterator[Row]:
    for time in moments():
        yield {"timestampNs": time, "read": _rate(draws), "write": _rate(draws)}


def _llc(_: int, draws: Draws) -> Iterator[Row]:
    for time in moments():
        for mode in ("read", "write"):
            for cache in range(2):
                rate = draws.one(0, 999) / 10
                row: Row = {"llcId": cache, "timestampNs": time, "hitRate": rate}
                yield {**row, "throughput": _rate(draws), "mode": mode}


def _qos(_: int, draws: Draws) -> Iterator[Row]:
    for time in moments():
        for event in ("OTHERS", "AIC_READ", "HCCL"):
            rate = _rate(draws, WRAP // MEGABYTE - 1)
            yield {"eventName": f"QoS {event}", "bandwidth": rate, "timestampNs": time, "dieId": -1}


def _hccs(_: int, draws: Draws) -> Iterator[Row]:
    for time in moments():
        sent, received = _rate(draws), _rate(draws)
        yield {"timestampNs": time, "txThroughput": sent, "rxThroughput": received}


def _pcie(_: int, draws: Draws) -> Iterator[Row]:
    """Minimum, mean and maximum of each stream, in this order of size."""
    for time in moments():
        row: Row = {"timestampNs": time}
        for stream in PCIE_STREAMS:
            scale = 1 if stream.endswith("Latency") else 1_000_000
            smallest = draws.one(0, 500)
            mean = smallest + draws.one(0, 500)
            largest = mean + draws.one(0, 500)
            row[f"{stream}Min"] = smallest * scale
            row[f"{stream}Avg"] = mean * scale
            row[f"{stream}Max"] = largest * scale
        yield row


def _port(_: int, draws: Draws) -> Iterator[Row]:
    """Counters of one port that only grow; the rates are their growth per second."""
    totals = {"rx": [10_000, 4_000_000], "tx": [20_000, 9_000_000]}
    for number, time in enumerate(moments()):
        row: Row = {"timestampNs": time, "bandwidth": 25_000_000_000, "funcId": 0}
        for side, (packets, size) in totals.items():
            packets_more = draws.one(0, 300) if number else 0
            size_more = packets_more * 1_024
            totals[side] = [packets + packets_more, size + size_more]
            row[f"{side}PacketRate"] = packets_more * SAMPLES_PER_SECOND
            row[f"{side}ByteRate"] = size_more * SAMPLES_PER_SECOND
            row[f"{side}Packets"], row[f"{side}Bytes"] = totals[side]
            row[f"{side}Errors"] = row[f"{side}Dropped"] = 0
        yield row


def _netdev(_: int, draws: Draws) -> Iterator[Row]:
    """Growth since the sample before; the first sample has none, so it gives no row."""
    for time in moments()[1:]:
        row: Row = {"timestampNs": time}
        for count in NETDEV_COUNTS:
            row[count] = draws.one(0, 40)
        for rate, count in NETDEV_RATES.items():
            size = draws.one(0, 100_000)
            row |= {count: size, rate: size * SAMPLES_PER_SECOND}
        yield row


def _acc_pmu(_: int, draws: Draws) -> Iterator[Row]:
    for time in moments():
        for accelerator in range(4):
            row: Row = {"accId": accelerator, "timestampNs": time}
            for level in ("readBwLevel", "writeBwLevel", "readOstLevel", "writeOstLevel"):
                row[level] = draws.one(0, 3)
            yield row


def _soc(_: int, draws: Draws) -> Iterator[Row]:
    for time in moments():
        levels: Row = {"l2BufferBwLevel": draws.one(0, 1), "mataBwLevel": draws.one(0, 1)}
        yield {**levels, "timestampNs": time}


def _npu_mem(_: int, draws: Draws) -> Iterator[Row]:
    for owner, least in (("app", 2_212_077_568), ("device", 2_449_920_000)):
        for time in moments():
            held = least + draws.one(0, 4 << 20, 4_096)
            yield {"type": owner, "ddr": 0, "hbm": held, "timestampNs": time}


def _module_mem(_: int, draws: Draws) -> Iterator[Row]:
    modules = sorted({member.id for member in catalog().enums["ENUM_MODULE"].members})
    for time in moments()[:2]:
        for module in modules:
            held = draws.one(0, 64 << 20, 4_096) if module % 3 == 0 else 0
            yield {"moduleId": module, "timestampNs": time, "totalReserved": held}


def _sio(_: int, draws: Draws) -> Iterator[Row]:
    for die in range(2):
        for time in moments():
            row: Row = {"name": f"die {die}", "timestampNs": time}
            yield row | {field: _rate(draws) for field in SIO_FIELDS}


def _ub(_: int, draws: Draws) -> Iterator[Row]:
    for time in moments():
        for port in range(2):
            bound = draws.one(0, 1_000)
            row: Row = {"portId": port, "timestampNs": time}
            yield {**row, "rxUdmaBind": bound, "txUdmaBind": bound // 2}


def _core_timeline(_: int, draws: Draws) -> Iterator[Row]:
    """Load of each core; its first sample is related to 1 ns, as the exporter does."""
    for kind in ("AIC", "AIV"):
        for core in range(2):
            for number, time in enumerate(moments()):
                cycles = draws.one(0, FREQUENCY_MHZ * INTERVAL_NS // 1_000)
                interval = INTERVAL_NS if number else 1
                yield {
                    "timestampNs": time,
                    "totalCycle": cycles,
                    "usage": 100 * cycles * 1_000 / (FREQUENCY_MHZ * interval),
                    "freq": FREQUENCY_MHZ,
                    "coreId": core,
                    "coreType": kind,
                }


def _core_summary(_: int, draws: Draws) -> Iterator[Row]:
    for kind, metrics in (
        ("AIC", ("mac_ratio", "mte2_ratio")),
        ("AIV", ("vec_ratio", "mte3_ratio")),
    ):
        for core in range(2):
            for metric in metrics:
                share = draws.one(0, 1_000) / 1_000
                yield {"metric": metric, "value": share, "coreId": core, "coreType": kind}


SAMPLERS: Mapping[str, Sampler] = {
    "HBM": _hbm,
    "DDR": _ddr,
    "LLC": _llc,
    "QOS": _qos,
    "HCCS": _hccs,
    "PCIE": _pcie,
    "NIC": _port,
    "ROCE": _port,
    "NETDEV_STATS": _netdev,
    "ACC_PMU": _acc_pmu,
    "SOC_BANDWIDTH_LEVEL": _soc,
    "NPU_MEM": _npu_mem,
    "NPU_MODULE_MEM": _module_mem,
    "SIO": _sio,
    "UB": _ub,
    "SAMPLE_PMU_TIMELINE": _core_timeline,
    "SAMPLE_PMU_SUMMARY": _core_summary,
}
HOST_TABLES = ("CPU_USAGE", "HOST_MEM_USAGE", "HOST_DISK_USAGE", "HOST_NETWORK_USAGE")
OF_CORES = ("SAMPLE_PMU_TIMELINE", "SAMPLE_PMU_SUMMARY")


def _host_tables(shape: Shape) -> dict[str, Rows]:
    """Usages are percent, rates Byte/s."""
    draws = Draws(shape.seed, "host samples")

    def percent() -> float:
        return draws.one(0, 1_000) / 10

    def rate() -> int:
        return draws.one(0, 900) * MEGABYTE

    return {
        "CPU_USAGE": [
            {"timestampNs": time, "cpuId": core, "usage": percent()}
            for time in moments()
            for core in range(CORES)
        ],
        "HOST_MEM_USAGE": [{"timestampNs": time, "usage": percent()} for time in moments()],
        "HOST_DISK_USAGE": [
            {"timestampNs": time, "readRate": rate(), "writeRate": rate(), "usage": percent()}
            for time in moments()
        ],
        "HOST_NETWORK_USAGE": [
            {"timestampNs": time, "usage": percent(), "speed": rate()} for time in moments()
        ],
    }


def system_calls(shape: Shape) -> Iterator[tuple[int, int, int, str]]:
    """Start, end, thread and name of calls of the operating system."""
    draws = Draws(shape.seed, "system calls")
    for number, time in enumerate(moments() if shape.with_host else ()):
        end = time + draws.one(0, 90_000, 10)
        yield time, end, RELEASE_THREAD, SYSTEM_CALLS[number % len(SYSTEM_CALLS)]
