"""Rows of the tables that sample a device or the host over time.

A table's rows follow from its columns in the spec: one for each combination of what identifies a
row, with a small value of its type in each other column. Only where columns depend on each other
does a function write the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import product

from ascend_ref.db.encode import SOURCES
from ascend_spec import catalog
from ascend_spec.db.model import Column, Table

from ..draws import Draws
from .memory import FIRST_RESERVED, FRAMEWORK
from .shape import Shape
from .world import FREQUENCY_MHZ, RELEASE_THREAD, SESSION_START_NS, Row, Rows, World

SAMPLES = 5
FIRST_SAMPLE_NS = 1_000_000
INTERVAL_NS = 1_000_000
SAMPLES_PER_SECOND = 1_000_000_000 // INTERVAL_NS
MOMENTS = tuple(
    SESSION_START_NS + FIRST_SAMPLE_NS + number * INTERVAL_NS for number in range(SAMPLES)
)
"""The times of all samples."""
MEGABYTE = 1 << 20

Keys = Mapping[str, Iterable[object]]
Values = dict[str, object]
TIME: Keys = {"timestampNs": MOMENTS}
BY_COLUMNS: Mapping[str, Keys] = {
    "DDR": TIME,
    "LLC": {**TIME, "mode": ("read", "write"), "llcId": range(2)},
    "QOS": {**TIME, "eventName": ("QoS OTHERS", "QoS AIC_READ", "QoS HCCL"), "dieId": (-1,)},
    "HCCS": TIME,
    "ACC_PMU": {**TIME, "accId": range(4)},
    "SOC_BANDWIDTH_LEVEL": TIME,
    "SIO": {"name": ("die 0", "die 1"), **TIME},
    "AICORE_FREQ": {"timestampNs": MOMENTS[:2], "freq": (FREQUENCY_MHZ,), "dieId": (-1,)},
    "CPU_USAGE": {**TIME, "cpuId": range(2)},
    "HOST_MEM_USAGE": TIME,
    "HOST_DISK_USAGE": TIME,
    "HOST_NETWORK_USAGE": TIME,
}
"""Tables whose rows follow from their columns, with what identifies a row, the slowest first."""
BOUNDS: Mapping[str, tuple[int, int]] = {
    "bytesPerSecond": (1, 4_000),
    "percent": (0, 1_000),
    "QOS.bytesPerSecond": (1, 4_095),
    "LLC.percent": (0, 999),
    "ACC_PMU.ordinal": (0, 3),
    "SOC_BANDWIDTH_LEVEL.ordinal": (0, 1),
    "HOST_DISK_USAGE.bytesPerSecond": (0, 900),
    "HOST_NETWORK_USAGE.bytesPerSecond": (0, 900),
}
"""Least and greatest value of a type, rates in MiB/s and shares in tenths of a percent; of a table
where it has its own. QOS rates stay below the 32 bits in which the exporter forms them."""
DEVICE_TABLES = (
    *("HBM", "DDR", "LLC", "QOS", "HCCS", "PCIE", "NIC", "ROCE", "NETDEV_STATS", "ACC_PMU"),
    *("SOC_BANDWIDTH_LEVEL", "NPU_MEM", "NPU_MODULE_MEM", "SIO", "UB"),
    *("SAMPLE_PMU_TIMELINE", "SAMPLE_PMU_SUMMARY"),
)
OF_CORES = ("SAMPLE_PMU_TIMELINE", "SAMPLE_PMU_SUMMARY")
HOST_TABLES = ("CPU_USAGE", "HOST_MEM_USAGE", "HOST_DISK_USAGE", "HOST_NETWORK_USAGE")
SYSTEM_CALLS = ("pthread_mutex_lock", "read", "ioctl")
PCIE_STREAMS = ("txPost", "txNonpost", "txCpl", "txNonpostLatency", "rxPost", "rxNonpost", "rxCpl")


def sample_tables(world: World, shape: Shape) -> dict[str, Rows]:
    """Rows of every sampled table, without those that the shape switches off."""
    names: list[str] = []
    if shape.with_samples:
        names = [name for name in DEVICE_TABLES if shape.with_pmu or name not in OF_CORES]
    # The clock is sampled, whatever the switches are; the encoder adds the bounds of the session.
    names.append("AICORE_FREQ")
    if shape.with_samples:
        names += _tables_without_capture()
    tables: dict[str, Rows] = {}
    for name in names:
        draws = Draws(shape.seed, name)
        tables[name] = [
            {"deviceId": device, **row} for device in world.devices for row in _rows(name, draws)
        ]
    draws = Draws(shape.seed, "host samples")
    return tables | {
        name: list(_rows(name, draws)) for name in (HOST_TABLES if shape.with_host else ())
    }


def _tables_without_capture() -> Iterator[str]:
    """Tables of the spec that no capture and nothing here knows: those of a draft."""
    known = {*SOURCES, *DEVICE_TABLES, *BY_COLUMNS, "CCU", "DPU_TASK", "STRING_IDS"}
    for table in catalog().tables.values():
        if table.name not in known | catalog().enums.keys() and table.carriers.keys() != {
            "analysis"
        }:
            yield table.name


def _rows(name: str, draws: Draws) -> Iterator[Values]:
    if name in RELATED:
        yield from RELATED[name](draws)
        return
    table = catalog().tables[name]
    for number, row in enumerate(_keyed(BY_COLUMNS.get(name, TIME))):
        drawn = [column for column in table.columns.values() if column.name not in row]
        yield row | {
            column.name: _value(table, column, number, draws)
            for column in drawn
            if column.type != "deviceId"
        }


def _keyed(keys: Keys) -> Iterator[Values]:
    """Every combination of the values of some columns."""
    return (dict(zip(keys, values, strict=True)) for values in product(*keys.values()))


def _value(table: Table, column: Column, number: int, draws: Draws) -> object:
    """A value of the type of a column, in the row of this number."""
    enum = next((one for one in column.references if one.startswith("ENUM_")), None)
    if enum is not None:
        members = catalog().enums[enum.partition(".")[0]].members
        return members[number % len(members)].id
    if column.storage == ("text",) or "STRING_IDS.id" in column.references:
        return column.members[number % len(column.members)] if column.members else column.name
    bounds = BOUNDS.get(f"{table.name}.{column.type}") or BOUNDS.get(column.type)
    if bounds is not None:
        value = draws.one(*bounds)
        by_unit = {"Byte/s": value * MEGABYTE, "%": value / 10}
        return by_unit.get(column.unit or "", value)
    least = column.minimum or 0
    return MOMENTS[number % SAMPLES] if least > SAMPLES and column.unit == "ns" else least + number


def _hbm(draws: Draws) -> Iterator[Values]:
    """The first sample has no interval before it."""
    for row in _keyed({**TIME, "type": ("read", "write"), "hbmId": range(4)}):
        first = row["timestampNs"] == MOMENTS[0]
        rate = 0 if first else draws.one(*BOUNDS["bytesPerSecond"]) * MEGABYTE
        yield row | {"bandwidth": rate}


def _pcie(draws: Draws) -> Iterator[Values]:
    """Minimum, mean and maximum of each stream, in this order of size."""
    for row in _keyed(TIME):
        for stream in PCIE_STREAMS:
            scale, value = 1 if stream.endswith("Latency") else 1_000_000, 0
            for name in ("Min", "Avg", "Max"):
                value += draws.one(0, 500)
                row[f"{stream}{name}"] = value * scale
        yield row


def _port(draws: Draws) -> Iterator[Values]:
    """Counters of one port that only grow; the rates are their growth per second."""
    totals = {"rx": [10_000, 4_000_000], "tx": [20_000, 9_000_000]}
    for row in _keyed({**TIME, "bandwidth": (25_000_000_000,), "funcId": (0,)}):
        for side, (packets, size) in totals.items():
            more = 0 if row["timestampNs"] == MOMENTS[0] else draws.one(0, 300)
            totals[side] = [packets + more, size + more * 1_024]
            row[f"{side}PacketRate"] = more * SAMPLES_PER_SECOND
            row[f"{side}ByteRate"] = more * 1_024 * SAMPLES_PER_SECOND
            row[f"{side}Packets"], row[f"{side}Bytes"] = totals[side]
            row[f"{side}Errors"] = row[f"{side}Dropped"] = 0
        yield row


def _netdev(draws: Draws) -> Iterator[Values]:
    """Growth since the sample before; the first sample has none, so it gives no row."""
    columns = catalog().tables["NETDEV_STATS"].columns
    rates = [name for name in columns if name.endswith("Bandwidth")]
    amounts = [f"{name.removesuffix('Bandwidth')}Byte" for name in rates]
    counts = [name for name in columns if name.endswith(("Pkt", "BadByte", "Rty"))]
    for row in _keyed({"timestampNs": MOMENTS[1:]}):
        for count in counts:
            row[count] = draws.one(0, 40)
        for rate, amount in zip(rates, amounts, strict=True):
            size = draws.one(0, 100_000)
            row |= {amount: size, rate: size * SAMPLES_PER_SECOND}
        yield row


def _npu_mem(draws: Draws) -> Iterator[Values]:
    """The device holds more than the process on it."""
    least = {"app": 2_212_077_568, "device": 2_449_920_000}
    for row in _keyed({"type": least, **TIME, "ddr": (0,)}):
        yield row | {"hbm": least[str(row["type"])] + draws.one(0, 4 << 20, 4_096)}


def _module_mem(draws: Draws) -> Iterator[Values]:
    """What the framework's allocator holds is that of the module APP."""
    members = catalog().enums["ENUM_MODULE"].members
    modules = sorted({member.id for member in members})
    framework = next(member.id for member in members if member.name == "APP")
    for time, module in product(MOMENTS[:2], modules):
        held = draws.one(0, 64 << 20, 4_096) if module % 3 == 0 else 0
        held += FIRST_RESERVED[FRAMEWORK] if module == framework else 0
        yield {"moduleId": module, "timestampNs": time, "totalReserved": held}


def _ub(draws: Draws) -> Iterator[Values]:
    for row in _keyed({**TIME, "portId": range(2)}):
        bound = draws.one(0, 1_000)
        yield row | {"rxUdmaBind": bound, "txUdmaBind": bound // 2}


def _core_timeline(draws: Draws) -> Iterator[Values]:
    """Load of each core; its first sample is related to 1 ns, as the exporter does."""
    for row in _keyed({"coreType": ("AIC", "AIV"), "coreId": range(2), **TIME}):
        cycles = draws.one(0, FREQUENCY_MHZ * INTERVAL_NS // 1_000)
        interval = 1 if row["timestampNs"] == MOMENTS[0] else INTERVAL_NS
        usage = 100 * cycles * 1_000 / (FREQUENCY_MHZ * interval)
        yield row | {"totalCycle": cycles, "usage": usage, "freq": FREQUENCY_MHZ}


def _core_summary(draws: Draws) -> Iterator[Values]:
    metrics = {"AIC": ("mac_ratio", "mte2_ratio"), "AIV": ("vec_ratio", "mte3_ratio")}
    for kind, names in metrics.items():
        for core, name in product(range(2), names):
            share = draws.one(0, 1_000) / 1_000
            yield {"metric": name, "value": share, "coreId": core, "coreType": kind}


RELATED: Mapping[str, Callable[[Draws], Iterator[Values]]] = {
    "HBM": _hbm,
    "PCIE": _pcie,
    "NIC": _port,
    "ROCE": _port,
    "NETDEV_STATS": _netdev,
    "NPU_MEM": _npu_mem,
    "NPU_MODULE_MEM": _module_mem,
    "UB": _ub,
    "SAMPLE_PMU_TIMELINE": _core_timeline,
    "SAMPLE_PMU_SUMMARY": _core_summary,
}
"""Tables whose columns depend on each other."""


def system_calls(shape: Shape) -> Iterator[Row]:
    """Calls of the operating system, as rows of SystemCalls."""
    draws = Draws(shape.seed, "system calls")
    for number, time in enumerate(MOMENTS if shape.with_host else ()):
        end = time + draws.one(0, 90_000, 10)
        name = SYSTEM_CALLS[number % len(SYSTEM_CALLS)]
        yield Row(start=time, end=end, thread=RELEASE_THREAD, name=name)
