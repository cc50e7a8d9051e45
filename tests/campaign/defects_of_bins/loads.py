"""Load of the units."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from damaged_profiles import Bin
from exporter_defects import defect

from .payloads import COUNTS, FIGURE, plus, rotate, scale


def _load(code: int, change: Callable[[list[Any]], object]) -> Callable[[Bin], None]:
    return lambda bin_: bin_.each(code, lambda value: change(value["subblock_detail"]))


@defect("bin", "a number is not among the blocks")
def figure_blocks_counted_from_one(bin_: Bin) -> None:
    """Blocks are counted from 1 in one block type."""

    def change(items: list[Any]) -> None:
        for item in items:
            item["block_id"] = plus(item["block_id"], 1)

    _load(FIGURE, change)(bin_)


@defect("bin", "a number is not among the blocks")
def counts_of_blocks_counted_from_one(bin_: Bin) -> None:
    """Blocks are counted from 1 in one block type."""

    def change(items: list[Any]) -> None:
        for item in items:
            item["block_id"] = plus(item["block_id"], 1)

    _load(COUNTS, change)(bin_)


@defect("bin", "cycles differ from those of the heat map")
def figure_of_the_next_block(bin_: Bin) -> None:
    """Figures are joined with the block that follows."""

    def change(items: list[Any]) -> None:
        kinds = {(item["block_type"], item["name"]) for item in items}
        for kind in sorted(kinds):
            own = [item for item in items if (item["block_type"], item["name"]) == kind]
            rotate(own, "origin_value", "value")

    _load(FIGURE, change)(bin_)


@defect("bin", "a share is not 100 times its cycles over all")
def figure_as_fractions(bin_: Bin) -> None:
    """Fractions are written for percent."""
    _load(FIGURE, lambda items: scale(items, "value", 0.01))(bin_)


@defect("bin", "a share is not 100 times its cycles over all")
def figure_of_all_blocks_summed(bin_: Bin) -> None:
    """Cycles are the sum over the blocks, shares are those of one."""

    def change(items: list[Any]) -> None:
        count = len({str(item["block_id"]) for item in items})
        scale(items, "origin_value", count)

    _load(FIGURE, change)(bin_)


@defect("bin", "a share is not its cycles over those of its sub-block")
def figure_of_another_sub_block(bin_: Bin) -> None:
    """Sub-blocks are exchanged."""
    swap = {"cube0": "vector0", "vector0": "cube0"}

    def change(items: list[Any]) -> None:
        for item in items:
            item["block_type"] = swap.get(item["block_type"], item["block_type"])

    _load(FIGURE, change)(bin_)


@defect("bin", "the unit of each entry is that of its name")
def units_are_not_filled_in(bin_: Bin) -> None:
    """All units are 0, microseconds."""

    def change(items: list[Any]) -> None:
        for item in items:
            item["unit"] = 0

    _load(COUNTS, change)(bin_)


@defect("bin", "the unit of each entry is that of its name")
def units_off_by_one(bin_: Bin) -> None:
    """Units are counted from 1."""

    def change(items: list[Any]) -> None:
        for item in items:
            item["unit"] += 1

    _load(COUNTS, change)(bin_)


@defect("bin", "the whole is not the sum of its parts")
def whole_counts_of_all_cores(bin_: Bin) -> None:
    """The whole is that of both vector cores."""

    def change(items: list[Any]) -> None:
        scale([item for item in items if item["name"] == "Vector All Active"], "value", 2)

    _load(COUNTS, change)(bin_)


@defect("bin", "shares add up to more than the whole")
def floats_and_integers_exchanged(bin_: Bin) -> None:
    """Names of two entries are exchanged: what counts as FP is INT."""
    swap = {"Cube All Active": "Cube INT", "Cube INT": "Cube All Active"}

    def change(items: list[Any]) -> None:
        for item in items:
            item["name"] = swap.get(item["name"], item["name"])

    _load(FIGURE, change)(bin_)


@defect("bin", "the conflicts do not add up to all")
def conflicts_exchanged_with_all(bin_: Bin) -> None:
    """Names of two entries are exchanged."""
    swap = {
        "Vector All Block": "Vector Bank Conflict Block",
        "Vector Bank Conflict Block": "Vector All Block",
    }

    def change(items: list[Any]) -> None:
        for item in items:
            item["name"] = swap.get(item["name"], item["name"])

    _load(COUNTS, change)(bin_)


@defect("bin", None)
def data_sizes_in_kib(bin_: Bin) -> None:
    """KiB are written for bytes. Nothing else in the file shows how much was computed."""

    def change(items: list[Any]) -> None:
        scale([item for item in items if "Data Size" in item["name"]], "value", 1 / 1024)

    _load(COUNTS, change)(bin_)


@defect("bin", "each entry stands twice")
def figure_twice(bin_: Bin) -> None:
    """Entries are flushed twice."""
    _load(FIGURE, lambda items: items.extend(dict(item) for item in list(items)))(bin_)


@defect("bin", "each entry stands twice")
def counts_twice(bin_: Bin) -> None:
    """Entries are flushed twice."""
    _load(COUNTS, lambda items: items.extend(dict(item) for item in list(items)))(bin_)
