"""Codes of blocks, and ways to change what their payloads hold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

CODE, TRACE, LINES, INSTRUCTIONS, BASIC, FIGURE, COUNTS, HEAT, TABLES, CORES, ROOFS, CACHE = (
    0x01,
    0x02,
    0x03,
    0x04,
    0x05,
    0x06,
    0x07,
    0x08,
    0x09,
    0x0C,
    0x0D,
    0x0E,
)


def multiplied(value: Any, factor: float) -> Any:
    """A number, or the text of one, multiplied; its form stays."""
    if isinstance(value, str):
        try:
            number = float(value)
        except ValueError:
            return value
        return f"{number * factor:.6f}" if "." in value else str(int(number * factor))
    return type(value)(value * factor)


def plus(value: Any, step: int) -> Any:
    if isinstance(value, str):
        return str(int(value) + step) if value.isdigit() else value
    return value + step


def scale(items: list[Any], key: str, factor: float) -> None:
    for item in items:
        item[key] = multiplied(item[key], factor)


def rotate(items: list[Any], *keys: str) -> None:
    """Each item gets the values of the one behind it."""
    moved = [{key: item[key] for key in keys} for item in (*items[1:], *items[:1])]
    for item, values in zip(items, moved, strict=True):
        item.update(values)


def exchange(item: Any, first: Any, second: Any) -> None:
    item[first], item[second] = item[second], item[first]


def units_of(heat: Any) -> Iterator[Any]:
    for core in heat["core_memory_map"]:
        yield from core["memory_unit"]


def tables_of(value: Any, beginning: str = "") -> Iterator[Any]:
    for block in value["table_per_block"]:
        yield from (one for one in block["table_detail"] if one["table_name"].startswith(beginning))


def column_of(table: Any, header: str) -> int:
    headers = [name.partition("(")[0] for name in table["header_name"]]
    if header not in headers:
        raise KeyError(header)
    return headers.index(header) - 1


def rescale(value: Any, beginning: str, header: str, factor: float) -> None:
    """Multiply a column of tables."""
    for table in tables_of(value, beginning):
        place = column_of(table, header)
        for row in table["row"]:
            row["value"][place] = multiplied(row["value"][place], factor)
