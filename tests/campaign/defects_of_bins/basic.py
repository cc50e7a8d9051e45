"""Basic info."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from damaged_profiles import Bin
from exporter_defects import defect

from .payloads import BASIC, HEAT, exchange, multiplied, plus


def _durations(factor: float) -> Callable[[Any], None]:
    def change(value: Any) -> None:
        if "mix_block_detail" in value or isinstance(value["block_detail"], dict):
            detail = value.get("mix_block_detail") or value["block_detail"]
            columns = [i for i, name in enumerate(detail["head_name"]) if "Duration" in name]
            for row in detail["row"]:
                for place in columns:
                    row["value"][place] = multiplied(row["value"][place], factor)
        else:
            for one in value["block_detail"]:
                one["duration"] = [multiplied(each, factor) for each in one["duration"]]

    return change


@defect("bin", "cycles and times give no clock, and a block takes longer than the operator")
def block_durations_in_ns(bin_: Bin) -> None:
    """ns are written for us."""
    bin_.each(BASIC, _durations(1000))


@defect("bin", "cycles and times give no clock")
def block_durations_in_ms(bin_: Bin) -> None:
    """ms are written for us."""
    bin_.each(BASIC, _durations(0.001))


@defect("bin", "cycles and times give a clock of 1 MHz")
def block_durations_in_cycles(bin_: Bin) -> None:
    """Cycles are written for us."""
    bin_.each(BASIC, _durations(1650))


@defect("bin", "every block takes longer than the operator")
def operator_duration_in_ms(bin_: Bin) -> None:
    """ms are written for us."""

    def change(value: Any) -> None:
        value["duration"] = multiplied(value["duration"], 0.001)

    bin_.each(BASIC, change)


@defect("bin", "rates of transfers are not their bytes by the duration")
def operator_duration_in_ns(bin_: Bin) -> None:
    """ns are written for us."""
    bin_.need(HEAT)

    def change(value: Any) -> None:
        value["duration"] = multiplied(value["duration"], 1000)

    bin_.each(BASIC, change)


@defect("bin", "the table has another number of blocks")
def block_dim_off_by_one(bin_: Bin) -> None:
    """The number of the last block is written for their count."""

    def change(value: Any) -> None:
        value["block_dim"] = plus(value["block_dim"], -1)

    bin_.each(BASIC, change)


def _rows(value: Any) -> list[Any]:
    detail = value.get("mix_block_detail") or value["block_detail"]
    rows: list[Any] = detail["row"] if isinstance(detail, dict) else detail
    return rows


@defect("bin", "a number is not below the number of blocks")
def blocks_counted_from_one(bin_: Bin) -> None:
    """Blocks are counted from 1 in the basic info."""

    def change(value: Any) -> None:
        for row in _rows(value):
            if "block_id" in row:
                row["block_id"] += 1
            else:
                row["value"][0] = plus(row["value"][0], 1)

    bin_.each(BASIC, change)


@defect("bin", "other blocks list a block that the basic info lacks")
def last_block_lost(bin_: Bin) -> None:
    """The table of blocks ends one row early."""
    bin_.each(BASIC, lambda value: _rows(value).pop())


@defect("bin", "each block has the number of the first")
def all_blocks_are_the_first(bin_: Bin) -> None:
    """The number of the block is not filled in."""

    def change(value: Any) -> None:
        for row in _rows(value):
            if "block_id" in row:
                row["block_id"] = 0
            else:
                row["value"][0] = "0"

    bin_.each(BASIC, change)


@defect("bin", "cycles and durations give different clocks")
def block_durations_of_the_next(bin_: Bin) -> None:
    """Durations are joined one row too late."""

    def change(value: Any) -> None:
        rows = _rows(value)
        if "value" not in rows[0]:
            raise KeyError("value")
        times = [row["value"][1:] for row in (*rows[1:], *rows[:1])]
        for row, moved in zip(rows, times, strict=True):
            row["value"][1:] = moved

    bin_.each(BASIC, change)


@defect("bin", "cycles and durations give different clocks")
def cube_and_vector_durations_exchanged(bin_: Bin) -> None:
    """Two columns are exchanged."""

    def change(value: Any) -> None:
        for row in value["mix_block_detail"]["row"]:
            exchange(row["value"], 1, 2)

    bin_.each(BASIC, change)


@defect("bin", "no chip has such a clock")
def clock_of_the_cores_in_hertz(bin_: Bin) -> None:
    """Hz are written for MHz."""

    def change(value: Any) -> None:
        for key in ("cur_freq", "rated_freq"):
            value[key] = multiplied(value[key], 1_000_000)

    bin_.each(BASIC, change)


@defect("bin", "the other blocks are of another chip")
def basic_info_of_another_chip(bin_: Bin) -> None:
    """The chip is the first of the list."""
    bin_.need(HEAT)
    bin_.each(BASIC, lambda value: value.update(soc="Ascend310P3"))


@defect("bin", "the kind is none of the viewer's, and the others name another")
def kinds_of_another_interface(bin_: Bin) -> None:
    """aiv and aic are written for vector and cube."""
    kinds = {"vector": "aiv", "cube": "aic", "mix": "aiv"}
    bin_.each(BASIC, lambda value: value.update(op_type=kinds[value["op_type"]]))


@defect("bin", "the table for mixed operators is missing")
def mixed_operator_as_vector(bin_: Bin) -> None:
    """The kind is that of the second kind of core."""

    def change(value: Any) -> None:
        if value["op_type"] != "mix":
            raise KeyError("op_type")
        value["op_type"] = "vector"

    bin_.each(BASIC, change)


@defect("bin", "the size is not that of the table")
def size_of_the_block_table_without_its_head(bin_: Bin) -> None:
    """The row of the head is not counted."""

    def change(value: Any) -> None:
        detail = value.get("mix_block_detail") or value["block_detail"]
        if isinstance(detail, list):
            raise KeyError("size")
        detail["size"][0] -= 1

    bin_.each(BASIC, change)
