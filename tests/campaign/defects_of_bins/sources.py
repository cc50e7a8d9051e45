"""Cache lines, source lines and instructions."""

from __future__ import annotations

from typing import Any

from damaged_profiles import Bin
from exporter_defects import defect

from .payloads import CACHE, INSTRUCTIONS, LINES

# Cache lines.


def _lines_of_cache(value: Any) -> list[Any]:
    lines: list[Any] = value["Cacheline Records"]
    return lines


@defect("bin", "lines are numbered by their places")
def cache_lines_from_one(bin_: Bin) -> None:
    """Lines are counted from 1."""

    def change(value: Any) -> None:
        for line in _lines_of_cache(value):
            line["Cacheline Id"] += 1

    bin_.each(CACHE, change)


@defect("bin", "a share is that of its count")
def cache_shares_in_percent(bin_: Bin) -> None:
    """Percent are written for fractions."""

    def change(value: Any) -> None:
        for line in _lines_of_cache(value):
            for one in ("Hit", "Miss"):
                line[one]["Value"][1] *= 100

    bin_.each(CACHE, change)


@defect("bin", "a share is that of its count")
def cache_counts_exchanged(bin_: Bin) -> None:
    """The numbers of hits and misses are exchanged, their shares are not."""

    def change(value: Any) -> None:
        for line in _lines_of_cache(value):
            hit, miss = line["Hit"]["Value"], line["Miss"]["Value"]
            hit[0], miss[0] = miss[0], hit[0]

    bin_.each(CACHE, change)


# Source lines and instructions.


def _source_lines(value: Any) -> list[Any]:
    return [line for file in value["Files"] for line in file["Lines"]]


@defect("bin", None)
def source_lines_off_by_one(bin_: Bin) -> None:
    """Lines are counted from 0. Which line made an instruction no other block has to show."""

    def change(value: Any) -> None:
        for line in _source_lines(value):
            line["Line"] -= 1

    bin_.each(LINES, change)


@defect("bin", "the source file has no such line")
def source_lines_of_the_preprocessed_file(bin_: Bin) -> None:
    """Lines are those of the file with its headers."""

    def change(value: Any) -> None:
        for line in _source_lines(value):
            line["Line"] += 5000

    bin_.each(LINES, change)


@defect("bin", "the file carries no such source")
def sources_without_their_folder(bin_: Bin) -> None:
    """The name of a source file lacks its folder."""

    def change(value: Any) -> None:
        for file in value["Files"]:
            file["Source"] = file["Source"].rpartition("/")[2]

    bin_.each(LINES, change)


@defect("bin", "an end is no address of an instruction")
def ranges_end_behind_their_last(bin_: Bin) -> None:
    """The end is one past the last byte."""

    def change(value: Any) -> None:
        for line in _source_lines(value):
            for pair in line["Address Range"]:
                pair[1] = f"0x{int(pair[1], 16) + 2:08x}"

    bin_.each(LINES, change)


@defect("bin", "a range ends before it starts")
def ranges_exchanged(bin_: Bin) -> None:
    """Begin and end are exchanged."""

    def change(value: Any) -> None:
        for line in _source_lines(value):
            for pair in line["Address Range"]:
                pair.reverse()

    bin_.each(LINES, change)


@defect("bin", "the ranges name no instruction")
def instruction_addresses_relative(bin_: Bin) -> None:
    """Addresses count from the begin of the kernel in one of two blocks."""

    def change(value: Any) -> None:
        first = min(int(one["Address"], 16) for one in value["Instructions"])
        for one in value["Instructions"]:
            one["Address"] = f"0x{int(one['Address'], 16) - first:08x}"

    bin_.each(INSTRUCTIONS, change)


@defect("bin", "an address is not hexadecimal")
def addresses_in_decimal(bin_: Bin) -> None:
    """Addresses are decimal."""

    def change(value: Any) -> None:
        for one in value["Instructions"]:
            one["Address"] = str(int(one["Address"], 16))

    bin_.each(INSTRUCTIONS, change)


@defect("bin", "two instructions have one address")
def instructions_twice(bin_: Bin) -> None:
    """Instructions are flushed twice."""

    def change(value: Any) -> None:
        value["Instructions"].extend([dict(one) for one in value["Instructions"]])

    bin_.each(INSTRUCTIONS, change)


@defect("bin", "the order of cores is not that of the instructions")
def cores_of_lines_in_another_order(bin_: Bin) -> None:
    """Cores are sorted in another way in one of two blocks."""
    bin_.each(LINES, lambda value: value["Cores"].reverse())


@defect("bin", "a list has not one value for each core")
def one_core_short(bin_: Bin) -> None:
    """The last core is left out of each list."""

    def change(value: Any) -> None:
        if len(value["Cores"]) == 1:
            raise KeyError("Cores")
        for one in value["Instructions"]:
            one["Cycles"].pop()

    bin_.each(INSTRUCTIONS, change)


@defect("bin", "a column that is declared as a float holds whole numbers")
def hit_rates_of_instructions_as_integers(bin_: Bin) -> None:
    """Whole numbers are written without a point, and read as 0."""

    def change(value: Any) -> None:
        for one in value["Instructions"]:
            one["L2Cache Hit Rate"] = int(one["L2Cache Hit Rate"])

    bin_.each(INSTRUCTIONS, change)


@defect("bin", "counts are read as numbers only")
def counts_of_instructions_as_texts(bin_: Bin) -> None:
    """Numbers are written as texts."""

    def change(value: Any) -> None:
        for one in value["Instructions"]:
            one["Instructions Executed"] = [str(each) for each in one["Instructions Executed"]]

    bin_.each(INSTRUCTIONS, change)


@defect("bin", "a whole is the sum of its two parts")
def scalar_cycles_of_one_part(bin_: Bin) -> None:
    """The whole leaves one part out."""

    def change(value: Any) -> None:
        for one in value["Instructions"]:
            one["ScalarCycles"] = list(one["CcuCycles"])

    bin_.each(INSTRUCTIONS, change)


@defect("bin", "a share of samples is above 1")
def stall_shares_in_percent(bin_: Bin) -> None:
    """Percent are written for fractions."""

    def change(value: Any) -> None:
        for one in value["Instructions"]:
            one["Stall Sampling(All Samples)"]["Percent"] *= 100.0

    bin_.need(LINES)
    bin_.each(INSTRUCTIONS, change)


@defect("bin", "columns that nobody declares are not shown")
def columns_not_declared(bin_: Bin) -> None:
    """The types of columns are not written."""
    bin_.each(INSTRUCTIONS, lambda value: value["Instructions Dtype"]["Instructions"].clear())


@defect("bin", "a text is declared as a number, and is read as 0")
def columns_of_another_type(bin_: Bin) -> None:
    """Codes of two types are exchanged."""

    def change(value: Any) -> None:
        types = value["Instructions Dtype"]["Instructions"]
        types.update({name: {1: 3, 3: 1}.get(code, code) for name, code in types.items()})

    bin_.each(INSTRUCTIONS, change)
