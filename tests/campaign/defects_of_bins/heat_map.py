"""The heat map."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from damaged_profiles import Bin
from exporter_defects import defect

from .payloads import HEAT, exchange, plus, rotate, scale, units_of


@defect("bin", "the viewer takes a truth value for false")
def display_as_truth_value(bin_: Bin) -> None:
    """true is written for 1."""

    def change(value: Any) -> None:
        for unit in units_of(value):
            unit["display"] = True

    bin_.each(HEAT, change)


def _cores(change: Callable[[Any], object]) -> Callable[[Bin], None]:
    def all_cores(value: Any) -> None:
        for core in value["core_memory_map"]:
            change(core)

    return lambda bin_: bin_.each(HEAT, all_cores)


@defect("bin", "it is not hits by requests")
def hit_ratio_in_another_unit(bin_: Bin) -> None:
    """A fraction is written for percent."""
    _cores(lambda core: scale([core["L2cache"]], "hit_ratio", 0.01))(bin_)


@defect("bin", "the rate is not hits by requests")
def hits_and_misses_exchanged(bin_: Bin) -> None:
    """Two values are exchanged."""
    _cores(lambda core: exchange(core["L2cache"], "hit", "miss"))(bin_)


@defect("bin", "hits and misses are more than all requests")
def requests_of_reads_alone(bin_: Bin) -> None:
    """The total is that of one direction."""
    _cores(lambda core: scale([core["L2cache"]], "total_request", 0.5))(bin_)


@defect("bin", "rates are not bytes by the duration")
def rates_of_paths_in_mib(bin_: Bin) -> None:
    """MiB/s are written for GiB/s."""
    bin_.each(HEAT, lambda value: scale(list(units_of(value)), "bandwidth", 1024))


@defect("bin", "rates are not bytes by the duration")
def rates_of_paths_in_decimal_units(bin_: Bin) -> None:
    """10^9 bytes are a GB, where files of all times count 2^30."""
    bin_.each(HEAT, lambda value: scale(list(units_of(value)), "bandwidth", 1.073741824))


@defect("bin", "rates are not bytes by the duration")
def requests_in_bytes(bin_: Bin) -> None:
    """Bytes are written for requests."""
    bin_.each(HEAT, lambda value: scale(list(units_of(value)), "request", 128))


@defect("bin", "the paths are not those of the chip")
def paths_off_by_one(bin_: Bin) -> None:
    """Paths are counted from 1."""

    def change(value: Any) -> None:
        for unit in units_of(value):
            unit["memory_path"] += 1

    bin_.each(HEAT, change)


@defect("bin", "a peak is below its own part")
def peaks_as_fractions(bin_: Bin) -> None:
    """A fraction is written for percent."""
    bin_.each(HEAT, lambda value: scale(list(units_of(value)), "peak_ratio", 0.01))


@defect("bin", "requests differ from the table of the same memory")
def requests_of_the_next_path(bin_: Bin) -> None:
    """Requests and rates are joined one row too late."""
    _cores(lambda core: rotate(core["memory_unit"], "request", "bandwidth"))(bin_)


@defect("bin", "a share is not cycles by all")
def shares_of_units_as_fractions(bin_: Bin) -> None:
    """A fraction is written for percent."""

    def change(core: Any) -> None:
        scale([core[one] for one in ("Cube", "Vector", "Vector1") if one in core], "ratio", 0.01)

    _cores(change)(bin_)


@defect("bin", "a number is not among the blocks")
def cores_of_the_heat_map_from_one(bin_: Bin) -> None:
    """Cores are counted from 1."""

    def change(core: Any) -> None:
        core["core_no"] = plus(core["core_no"], 1)

    _cores(change)(bin_)


@defect("bin", "cycles and durations give different clocks")
def units_of_the_next_core(bin_: Bin) -> None:
    """Cycles are joined with the core that follows."""

    def change(value: Any) -> None:
        cores = value["core_memory_map"]
        names = [one for one in ("Cube", "Vector", "Vector1") if one in cores[0]]
        rotate(cores, *names)

    bin_.each(HEAT, change)


@defect("bin", "cycles and durations give different clocks")
def vector_cores_exchanged(bin_: Bin) -> None:
    """The two vector cores are exchanged."""
    _cores(lambda core: exchange(core, "Vector", "Vector1"))(bin_)


@defect("bin", "the basic info is of another chip")
def heat_map_of_another_chip(bin_: Bin) -> None:
    """The family of chips is the first of the list."""
    _cores(lambda core: core.update(soc="310P") if "soc" in core else _none())(bin_)


def _none() -> None:
    raise KeyError
