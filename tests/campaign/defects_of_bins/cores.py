"""The load between cores."""

from __future__ import annotations

from typing import Any

from damaged_profiles import Bin
from exporter_defects import defect

from .payloads import CORES, rotate, scale


def _subcores(value: Any) -> list[Any]:
    return [one for core in value["op_detail"] for one in core["core_detail"]]


@defect("bin", "cycles differ from the heat map")
def core_cycles_in_us(bin_: Bin) -> None:
    """us are written for cycles."""
    bin_.each(CORES, lambda value: scale(_subcores(value), "cycles", 1 / 1650))


@defect("bin", "bytes are 128 times the requests of the tables")
def throughput_in_requests(bin_: Bin) -> None:
    """Requests are written for bytes."""
    bin_.each(CORES, lambda value: scale(_subcores(value), "throughput", 1 / 128))


@defect("bin", "bytes are 128 times the requests of the tables")
def throughput_in_kib(bin_: Bin) -> None:
    """KiB are written for bytes."""
    bin_.each(CORES, lambda value: scale(_subcores(value), "throughput", 1 / 1024))


@defect("bin", "the rates of the parts do not enclose that of the whole")
def hit_rates_of_cores_as_fractions(bin_: Bin) -> None:
    """A fraction is written for percent."""
    bin_.each(CORES, lambda value: scale(_subcores(value), "L2cache_hit_rate", 0.01))


@defect("bin", None)
def hit_rates_of_two_sub_cores_exchanged(bin_: Bin) -> None:
    """Rates are joined with the sub-core that follows; no other block has them by sub-core."""
    bin_.each(CORES, lambda value: rotate(_subcores(value), "L2cache_hit_rate"))


@defect("bin", "cycles differ from the heat map")
def cycles_of_the_next_sub_core(bin_: Bin) -> None:
    """Cycles are joined with the sub-core that follows."""
    bin_.each(CORES, lambda value: rotate(_subcores(value), "cycles"))


@defect("bin", "a number is not among the blocks")
def cores_counted_from_one(bin_: Bin) -> None:
    """Cores are counted from 1."""

    def change(value: Any) -> None:
        for core in value["op_detail"]:
            core["core_id"] += 1

    bin_.each(CORES, change)


@defect("bin", "two sub-cores have one number")
def sub_cores_without_number(bin_: Bin) -> None:
    """The number of the sub-core is not filled in."""

    def change(value: Any) -> None:
        for one in _subcores(value):
            one["subcore_id"] = "0"

    bin_.each(CORES, change)


@defect("bin", "the basic info is of another chip")
def cores_of_another_chip(bin_: Bin) -> None:
    """The chip is the first of the list."""
    bin_.each(CORES, lambda value: value.update(soc="Ascend310P3"))
