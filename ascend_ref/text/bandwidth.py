"""Traffic of memories, caches, links and ports (text-outputs.md 3.5)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ascend_ref.arrays import chosen, dictionary, integers, is_one_of, reals, same, text_places
from ascend_ref.capture.batch import Integers, Reals
from ascend_ref.derive.decimals import Form, number_texts
from ascend_ref.derive.matching import greatest, groups, least
from ascend_ref.derive.traffic import (
    MEBIBYTE,
    UNSET_RATE,
    Counters,
    Spread,
    channel,
    means,
    port_traffic,
    spread,
)
from ascend_ref.recorded import Recorded
from ascend_spec import catalog

from .columns import Columns, of_table
from .order import ordered
from .setting import Setting

AVERAGE = "Average"
AS_ONE = -1
"""Stands for all members together."""
CHANNELS = {
    "Tx_p_avg(MB/s)": "txPost",
    "Tx_np_avg(MB/s)": "txNonpost",
    "Tx_cpl_avg(MB/s)": "txCpl",
    "Tx_latency_avg(us)": "txNonpostLatency",
    "Rx_p_avg(MB/s)": "rxPost",
    "Rx_np_avg(MB/s)": "rxNonpost",
    "Rx_cpl_avg(MB/s)": "rxCpl",
}
"""Each mode in pcie.csv and the columns of PCIE that show it, without Min, Max and Avg."""


def ddr(recorded: Recorded, setting: Setting) -> Iterator[Columns]:
    """DDR: means over the samples."""
    table = recorded.table("DDR")
    device = integers(table["deviceId"])
    read, write = (means(reals(table[name]), device) for name in ("read", "write"))
    statistic = {
        "device": device[read.first],
        "metric": same(AVERAGE, len(read.first)),
        "read": read.mean,
        "write": write.mean,
    }
    yield ordered(setting, of_table("ddr_statistic", pa.table(statistic)))


def hbm(recorded: Recorded, setting: Setting) -> Iterator[Columns]:
    """HBM: means of each unit, after their mean, which always has three decimals."""
    table = recorded.table("HBM")
    device, unit = integers(table["deviceId"]), integers(table["hbmId"])
    reads = is_one_of(table["type"], ["read"])
    rates = reals(table["bandwidth"]) / MEBIBYTE
    read, write = (means(rates, device, unit, counted=way) for way in (reads, ~reads))
    device, unit, (reading, writing) = _with_average(
        device[read.first], unit[read.first], [read.mean, write.mean]
    )
    is_average = pa.array(unit == AS_ONE)

    def shown(values: Reals) -> pa.Array:
        return pc.if_else(is_average, number_texts(values, Form.FIXED), number_texts(values))

    statistic = pa.table({"device": device, "metric": _members(unit)})
    columns = {"Read(MB/s)": shown(reading), "Write(MB/s)": shown(writing)}
    yield ordered(setting, of_table("hbm_statistic", statistic, columns))


def llc_read_write(recorded: Recorded, setting: Setting) -> Iterator[Columns]:
    """LLC: means of each cache, after their mean."""
    table = recorded.table("LLC")
    modes = dictionary(table["mode"])
    device, cache = integers(table["deviceId"]), integers(table["llcId"])
    mode = np.maximum(text_places(modes), 0).astype(np.int64)
    scale = max(len(modes.dictionary), 1)
    owner = device * scale + mode
    hits = means(reals(table["hitRate"]), owner, cache)
    amounts = means(reals(table["throughput"]), owner, cache)
    owner, cache, (hit, amount) = _with_average(
        owner[hits.first], cache[hits.first], [hits.mean, amounts.mean]
    )
    statistic = {
        "device": owner // scale,
        "mode": chosen(modes.dictionary, owner % scale),
        "task": _members(cache),
        "hit_rate": hit,
        "throughput": amount,
    }
    yield ordered(setting, of_table("llc_read_write_statistic", pa.table(statistic)))


def hccs(recorded: Recorded, setting: Setting) -> Iterator[Columns]:
    """HCCS: two rows a device."""
    table = recorded.table("HCCS")
    found, owner = np.unique(integers(table["deviceId"]), return_inverse=True)
    ways = {"Tx (MB/s)": "txThroughput", "Rx (MB/s)": "rxThroughput"}
    rows = [spread(owner, reals(table[name])) for name in ways.values()]
    statistic = _by_mode(found, list(ways), rows, ("min", "max", "average"))
    yield ordered(setting, of_table("hccs_statistic", statistic))


def pcie(recorded: Recorded, setting: Setting) -> Iterator[Columns]:
    """PCIE: a row for each direction and kind of traffic."""
    table = recorded.table("PCIE")
    found, owner = np.unique(integers(table["deviceId"]), return_inverse=True)
    time = integers(table["timestampNs"])
    rows = []
    for mode, name in CHANNELS.items():
        is_rate = mode.endswith("(MB/s)")
        samples = Spread(*(reals(table[f"{name}{figure}"]) for figure in ("Min", "Max", "Avg")))
        one = channel(
            owner,
            time,
            samples,
            last_only=catalog().products[setting.family].can("pcie-last-sample"),
            unset=UNSET_RATE if is_rate else None,
        )
        rows.append(Spread(*(values / (MEBIBYTE if is_rate else 1e3) for values in one)))
    statistic = _by_mode(found, list(CHANNELS), rows, ("min", "max", "avg"))
    yield ordered(setting, of_table("pcie_statistic", statistic))


def ports(recorded: Recorded, setting: Setting) -> Iterator[Columns]:
    """NIC and ROCE: a row for each port, on a clock that began with the recording."""
    table = recorded.table(setting.file.tables[0])
    device, function = integers(table["deviceId"]), integers(table["funcId"])
    first, port = groups(device, function)
    _, card = np.unique(device, return_inverse=True)
    time, bandwidth = integers(table["timestampNs"]), reals(table["bandwidth"])[first]
    count = len(first)
    length = greatest(port, time, count) - least(port, time, count)
    traffic = {
        "device": device[first],
        "time": recorded.origin.start + length,
        "function": function[first],
        "bandwidth": bandwidth,
    }
    for way, (wrong_of, is_mean) in {"rx": (card, True), "tx": (port, False)}.items():
        names = ("PacketRate", "Bytes", "Packets", "Errors", "Dropped")
        counters = Counters(*(reals(table[way + name]) for name in names))
        figures = port_traffic(
            port, length, bandwidth, counters, wrong_of=wrong_of, is_mean_dropped=is_mean
        )
        traffic |= {f"{way}_{name}": values for name, values in figures._asdict().items()}
    yield ordered(setting, of_table("port_traffic", pa.table(traffic)))


def _by_mode(
    devices: Integers, modes: Sequence[str], rows: Sequence[Spread], names: Sequence[str]
) -> pa.Table:
    """A row for each mode of each device. rows: of each mode, by device. names: of the figures."""
    figures = zip(*rows, strict=True)
    return pa.table(
        {
            "device": np.repeat(devices, len(modes)),
            "mode": chosen(modes, np.tile(np.arange(len(modes)), len(devices))),
            **{
                name: np.stack(one, axis=1).ravel()
                for name, one in zip(names, figures, strict=True)
            },
        }
    )


def _with_average(
    owner: Integers, member: Integers, values: list[Reals]
) -> tuple[Integers, Integers, list[Reals]]:
    """The rows of each owner after one with their means, whose member is AS_ONE."""
    found = means(values[0], owner).first
    averages = [means(one, owner).mean for one in values]
    all_owners = np.concatenate([owner[found], owner])
    all_members = np.concatenate([np.full(len(found), AS_ONE), member])
    order = np.lexsort((all_members, all_owners))
    rows = [np.concatenate(pair)[order] for pair in zip(averages, values, strict=True)]
    return all_owners[order], all_members[order], rows


def _members(numbers: Integers) -> pa.DictionaryArray:
    """Average, or the number of a member."""
    found, place = np.unique(numbers, return_inverse=True)
    return chosen([AVERAGE if one == AS_ONE else str(one) for one in found.tolist()], place)
