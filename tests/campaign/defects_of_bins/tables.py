"""The tables of the memory."""

from __future__ import annotations

from typing import Any

from damaged_profiles import Bin
from exporter_defects import defect

from .payloads import TABLES, column_of, plus, rescale, rotate, tables_of


@defect("bin", "the size is not that of the table")
def sizes_transposed(bin_: Bin) -> None:
    """Columns stand before rows."""

    def change(value: Any) -> None:
        for table in tables_of(value):
            table["size"].reverse()

    bin_.each(TABLES, change)


@defect("bin", "rows and headers differ in length")
def first_header_lost(bin_: Bin) -> None:
    """The header of the first column, which is empty, is not written."""

    def change(value: Any) -> None:
        for table in tables_of(value):
            table["header_name"].pop(0)

    bin_.each(TABLES, change)


def _renamed(value: Any, beginning: str, first: str, second: str) -> None:
    swap = {first: second, second: first}
    for table in tables_of(value, beginning):
        for row in table["row"]:
            row["name"] = swap.get(row["name"], row["name"])


@defect("bin", "the rows are in another order than in every file")
def pipes_exchanged(bin_: Bin) -> None:
    """Names of two pipes are exchanged."""
    bin_.each(TABLES, lambda value: _renamed(value, "Pipe", "MTE2", "MTE3"))


@defect("bin", "the total of the rows is its part")
def total_and_read_exchanged(bin_: Bin) -> None:
    """Names of two rows are exchanged."""
    bin_.each(TABLES, lambda value: _renamed(value, "Cache", "L2 Cache Read", "L2 Cache Total"))


@defect("bin", None)
def reads_and_writes_of_the_cache_exchanged(bin_: Bin) -> None:
    """The values of two rows are exchanged: the sum and all rates stay."""

    def change(value: Any) -> None:
        for table in tables_of(value, "Cache"):
            first, second = table["row"][:2]
            if not second["name"].endswith("Read"):
                raise KeyError("L2 Cache Read")
            first["value"], second["value"] = second["value"], first["value"]

    bin_.each(TABLES, change)


@defect("bin", "the rate is not hits by requests")
def hit_rates_in_another_unit(bin_: Bin) -> None:
    """A fraction is written for percent."""
    bin_.each(TABLES, lambda value: rescale(value, "Cache", "hit rate", 0.01))


@defect("bin", "the sum of hits and misses is not the total")
def hits_of_the_cache_in_thousands(bin_: Bin) -> None:
    """One column is divided by 1000."""
    bin_.each(TABLES, lambda value: rescale(value, "Cache", "hit", 0.001))


@defect("bin", "cycles and rates differ by another factor than before")
def active_rates_as_fractions(bin_: Bin) -> None:
    """Fractions are written for percent."""
    bin_.each(TABLES, lambda value: rescale(value, "Pipe", "active rate", 0.01))


@defect("bin", "a pipe is active for longer than the whole")
def cycles_of_pipes_of_all_blocks(bin_: Bin) -> None:
    """Cycles are summed over all blocks."""

    def change(value: Any) -> None:
        rescale(value, "Pipe", "cycle", len(value["table_per_block"]))

    bin_.each(TABLES, change)


@defect("bin", "time and cycles give no clock")
def scalar_times_in_ns(bin_: Bin) -> None:
    """ns are written for us."""
    bin_.each(TABLES, lambda value: rescale(value, "Scalar", "time", 1000))


@defect("bin", "time and cycles give a clock of 1 MHz")
def scalar_times_in_cycles(bin_: Bin) -> None:
    """Cycles are written for us."""

    def change(value: Any) -> None:
        for table in tables_of(value, "Scalar"):
            cycle, time = column_of(table, "cycle"), column_of(table, "time")
            for row in table["row"]:
                if row["value"][cycle] != "NA":
                    row["value"][time] = f"{float(row['value'][cycle]):.6f}"

    bin_.each(TABLES, change)


@defect("bin", "rates differ from those of the heat map")
def rates_of_tables_in_mib(bin_: Bin) -> None:
    """MiB/s are written for GiB/s."""
    bin_.each(TABLES, lambda value: rescale(value, "U", "throughput", 1024))


@defect("bin", "requests differ from those of the heat map")
def requests_of_tables_in_bytes(bin_: Bin) -> None:
    """Bytes are written for requests."""
    bin_.each(TABLES, lambda value: rescale(value, "U", "requests", 128))


@defect("bin", "requests differ from those of the heat map")
def tables_of_the_next_block(bin_: Bin) -> None:
    """Tables are joined with the block that follows."""
    bin_.each(TABLES, lambda value: rotate(value["table_per_block"], "table_detail"))


@defect("bin", "requests differ from those of the heat map")
def tables_of_vector_cores_exchanged(bin_: Bin) -> None:
    """The tables of the two vector cores are exchanged."""

    def change(value: Any) -> None:
        for block in value["table_per_block"]:
            by_name = {one["table_name"]: one for one in block["table_detail"]}
            first, second = by_name["UB Core0"], by_name["UB Core1"]
            first["row"], second["row"] = second["row"], first["row"]
            for row in (*first["row"], *second["row"]):
                row["value"] = list(row["value"])

    bin_.each(TABLES, change)


@defect("bin", "a table stands twice")
def tables_twice(bin_: Bin) -> None:
    """Tables are flushed twice."""

    def change(value: Any) -> None:
        for block in value["table_per_block"]:
            block["table_detail"].extend(list(block["table_detail"]))

    bin_.each(TABLES, change)


@defect("bin", "a number is not among the blocks")
def blocks_of_tables_from_one(bin_: Bin) -> None:
    """Blocks are counted from 1."""

    def change(value: Any) -> None:
        for block in value["table_per_block"]:
            block["block_id"] = plus(block["block_id"], 1)

    bin_.each(TABLES, change)
