"""Packed records as a JSON array, one record to a line."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import construct
import numpy as np

from ascend_spec.core.packed import dtype_of

from .container import mapped
from .records import Records
from .stream import iterate_array

RECORDS_AT_ONCE = 1 << 16

HEXADECIMAL = frozenset({"addr", "pc"})
"""Fields that are shown as addresses; other JSON readers lose digits of such numbers anyway."""


def write_records(records: Records, declaration: construct.Struct, path: Path) -> str:
    """Write records as a JSON array, one to a line; the file's name."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write("[")
        separator = "\n"
        for line in record_lines(records, declaration):
            file.write(f"{separator}{line}")
            separator = ",\n"
        file.write("\n]\n")
    return path.name


def record_lines(records: Records, declaration: construct.Struct) -> Iterator[str]:
    """Each record as a JSON object on one line."""
    names = [field.name for field in declaration.subcons]
    pattern = "{" + ", ".join(f'"{name}": %s' for name in names) + "}"
    for start in range(0, len(records), RECORDS_AT_ONCE):
        part = records[start : start + RECORDS_AT_ONCE]
        columns = [_texts(part[field.name], field) for field in declaration.subcons]
        yield from map(pattern.__mod__, zip(*columns, strict=True))


def _texts(column: np.ndarray[Any, Any], field: construct.Construct) -> list[str]:
    values = column.tolist()
    if field.name in HEXADECIMAL:
        return [f'"0x{value:x}"' for value in values]
    members = _members(field)
    return [f'"{members[value]}"' if value in members else str(value) for value in values]


def _members(field: construct.Construct) -> dict[int, str]:
    enum = field.subcon
    return dict(enum.ksymapping) if isinstance(enum, construct.Enum) else {}


def read_records(path: Path, declaration: construct.Struct) -> Records:
    """Records from a JSON array of objects, as :func:`write_records` writes them.

    Fields may be numbers, member names or hexadecimal texts. Raises ``ValueError``,
    ``MalformedPayload``.
    """
    fields = declaration.subcons
    numbers = {
        field.name: {name: value for value, name in _members(field).items()} for field in fields
    }
    dtype = dtype_of(declaration)
    parts: list[Records] = []
    elements = iterate_array(mapped(path))
    while rows := list(islice(elements, RECORDS_AT_ONCE)):
        part = np.empty(len(rows), dtype)
        for field in fields:
            column = _column(rows, field.name, numbers[field.name])
            try:
                part[field.name] = column
            except OverflowError:
                limits = np.iinfo(dtype[field.name])
                raise _misfit(rows, column, field.name, limits.min, limits.max) from None
        parts.append(part)
    return np.concatenate(parts) if parts else np.empty(0, dtype)


def _column(rows: list[tuple[int, Any]], name: str, members: dict[str, int]) -> list[int]:
    try:
        values = [row[name] for _, row in rows]
        # Neither a bool nor a text that is no member passes.
        if members:
            return [value if type(value) is int else members[value] for value in values]
        return [value if type(value) is int else int(value, 0) for value in values]
    except (LookupError, TypeError, ValueError):
        return [
            _number(_member(row, name, at), members, f"byte {at:,}: {name}") for at, row in rows
        ]


def _misfit(
    rows: list[tuple[int, Any]], column: list[int], name: str, least: int, most: int
) -> ValueError:
    """What to raise for a column that holds a number beyond those of its field."""
    (at, _), value = next(
        pair for pair in zip(rows, column, strict=True) if not least <= pair[1] <= most
    )
    return ValueError(f"byte {at:,}: {name} is {value}; expected {least} to {most}")


def _member(row: Any, name: str, at: int) -> Any:
    if not isinstance(row, dict) or name not in row:
        raise ValueError(f"byte {at:,}: expected an object with {name}")
    return row[name]


def _number(value: Any, members: dict[str, int], place: str) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        raise ValueError(f"{place} is {value!r}; expected a number")
    if isinstance(value, int):
        return value
    if value in members:
        return members[value]
    try:
        return int(value, 0)
    except ValueError:
        raise ValueError(f"{place} is {value!r}; expected a number or a member's name") from None
