"""ClusterCommunicationTime and ClusterCommunicationBandwidth: every operator, and their sums."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from ascend_ref.capture.batch import Reals
from ascend_ref.derive.communication_report import TOTAL, quotients

from .ranks import RANK, Rank, durations, joined

OPERATOR = "hccl_op_name"
PLACE = ["step", RANK, "group_name"]
LINK = [*PLACE, "transport_type"]
RATIOS = ("synchronization_time", "wait_time")
"""Whose shares are shown: of themselves and transit_time."""


def times(ranks: Sequence[Rank]) -> pa.Table:
    """The times of every operator; of each step, rank and group their sums and shares."""
    single = joined(ranks, "CommAnalyzerTime")
    totals = summed(single, PLACE, dict.fromkeys(durations("CommAnalyzerTime"), "sum"))
    transit = reals(totals, "transit_time")
    for name in RATIOS:
        spent = reals(totals, name)
        totals = totals.append_column(f"{name}_ratio", pa.array(quotients(spent, spent + transit)))
        single = single.append_column(f"{name}_ratio", constant(single, 0.0))
    totals = totals.append_column(OPERATOR, constant(totals, TOTAL))
    totals = totals.append_column("start_timestamp", constant(totals, 0.0))
    together = pa.concat_tables([single.select(totals.column_names), totals])
    return together.rename_columns({"elapse_time": "elapsed_time"})


def bandwidths(ranks: Sequence[Rank]) -> pa.Table:
    """Every link and packet size of every operator; of each step, rank and group their sums.

    Each row of an operator repeats the size and the time of its link, which count once.
    """
    single = joined(ranks, "CommAnalyzerBandwidth")
    once = summed(single, [*LINK, OPERATOR], {"transit_size": "first", "transit_time": "first"})
    links = summed(once, LINK, {"transit_size": "sum", "transit_time": "sum"})
    packets = summed(single, [*LINK, "package_size"], {"count": "sum", "total_duration": "sum"})
    of_link = pc.index_in(keys_of(packets, LINK), keys_of(links, LINK))
    totals = packets
    for name in ("transit_size", "transit_time"):
        totals = totals.append_column(name, links[name].take(of_link))
    rates = quotients(reals(totals, "transit_size"), reals(totals, "transit_time"))
    totals = totals.append_column("bandwidth", pa.array(rates))
    totals = totals.append_column("large_packet_ratio", constant(totals, 0.0))
    totals = totals.append_column(OPERATOR, constant(totals, TOTAL))
    together = pa.concat_tables([single.select(totals.column_names), totals])
    return together.rename_columns({"transport_type": "band_type"})


def summed(table: pa.Table, keys: list[str], columns: dict[str, str]) -> pa.Table:
    """A row for each set of keys, with an aggregate of each column under its own name."""
    found = table.group_by(keys, use_threads=False).aggregate(list(columns.items()))
    return found.rename_columns({f"{name}_{how}": name for name, how in columns.items()})


def keys_of(table: pa.Table, columns: Sequence[str]) -> pa.Array:
    """The columns of a row as one text that no other set of values has."""
    parts = [
        pc.binary_join_element_wise(
            pc.cast(pc.utf8_length(text), pa.string()), text, ":", null_handling="replace"
        )
        for text in (pc.cast(table[name], pa.string()) for name in columns)
    ]
    return pc.binary_join_element_wise(*parts, "").combine_chunks()


def constant(table: pa.Table, value: str | float) -> pa.Array:
    """A column of one value."""
    return pa.repeat(pa.scalar(value), table.num_rows)


def reals(table: pa.Table, name: str) -> Reals:
    """The numbers of a column, 0 where there is none."""
    found: Reals = table[name].cast(pa.float64()).fill_null(0.0).to_numpy()
    return found
