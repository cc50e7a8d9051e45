"""Rooflines."""

from __future__ import annotations

from typing import Any

from damaged_profiles import Bin
from exporter_defects import defect

from .payloads import ROOFS, rotate, scale


def _roofs(value: Any) -> list[Any]:
    return [roof for one in value["multiple_rooflines"] for roof in one["rooflines"]]


@defect("bin", "one chart has different performances")
def points_with_axes_exchanged(bin_: Bin) -> None:
    """The axes of the points are exchanged."""

    def change(value: Any) -> None:
        for roof in _roofs(value):
            roof["point"].reverse()

    bin_.each(ROOFS, change)


@defect("bin", "a ratio is not performance by roof")
def roof_ratios_in_percent(bin_: Bin) -> None:
    """Percent are written for fractions."""
    bin_.each(ROOFS, lambda value: scale(_roofs(value), "ratio", 100))


@defect("bin", "a ratio is not performance by roof")
def roofs_of_memory_in_gb(bin_: Bin) -> None:
    """GB/s are written for TB/s."""
    bin_.each(ROOFS, lambda value: scale(_roofs(value), "bw", 1024))


@defect("bin", "a ratio is not performance by roof")
def points_in_gigaops(bin_: Bin) -> None:
    """10^9 operations are written for 10^12."""

    def change(value: Any) -> None:
        for roof in _roofs(value):
            roof["point"][1] *= 1000.0

    bin_.each(ROOFS, change)


@defect("bin", "lines of one chart have different roofs or names")
def roof_names_of_the_next(bin_: Bin) -> None:
    """Names are joined one row too late."""

    def change(value: Any) -> None:
        for one in value["multiple_rooflines"]:
            rotate(one["rooflines"], "bw_name")

    bin_.each(ROOFS, change)


@defect("bin", "lines of one chart are of other cores")
def roof_titles_exchanged(bin_: Bin) -> None:
    """The titles of cube and vector cores are exchanged."""

    def change(value: Any) -> None:
        for one in value["multiple_rooflines"]:
            swapped = one["title"].replace("Cube", "\0").replace("Vector", "Cube")
            one["title"] = swapped.replace("\0", "Vector")

    bin_.each(ROOFS, change)
