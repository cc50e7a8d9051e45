"""Columns that a file declares with a dtype (bin-blocks.md 3.4): how the viewer reads them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from ascend_spec import bin_catalog, per_spec

from .values import decimal32, int32, is_int32, items, member, real, text

_READERS: Mapping[str, Callable[[Any], Any]] = {
    "INT": int32,
    "FLOAT": decimal32,
    "STRING": text,
    "PERCENTAGE": decimal32,
}
"""How one value is read, by the name of its dtype. Of those that are not here, JSON_STR and
CUSTOM_PERCENTAGE hold one value for all cores, and any other is not read."""


@per_spec
def _dtype_names() -> Mapping[int | str, str]:
    return {dtype.value: dtype.name or "" for dtype in bin_catalog().enums["dtypes"].members}


def declared_types(document: Any, part: str, rows: str) -> dict[str, int]:
    """The dtype of each column, by name; empty where the document declares none.

    ``document[part][rows]`` declares them. What is no integer of 32 bits is left out.
    """
    declared = member(member(document, part), rows)
    if not isinstance(declared, dict):
        return {}
    return {name: declared[name] for name in sorted(declared) if is_int32(declared[name])}


def row(
    values: Mapping[str, Any], types: Mapping[str, int], core: int, *, json_texts: bool
) -> dict[str, Any]:
    """The declared columns of a line or an instruction, as the answer has them, for one core.

    A list holds one value per core; a shorter one, and a single value, serves every core. A column
    that is missing or an empty list is left out, and so is one of an unknown dtype. ``json_texts``:
    whether the dtype JSON_STR is known, which it is of instructions only.
    """
    found: dict[str, Any] = {}
    for name in sorted(values.keys() & types.keys()):
        value, kind = values[name], _dtype_names().get(types[name], "")
        if kind in _READERS:
            every = value if isinstance(value, list) else [value]
            if every:
                found[name] = _READERS[kind](every[core if core < len(every) else 0])
        elif kind == "JSON_STR" and json_texts:
            found[name] = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        elif kind == "CUSTOM_PERCENTAGE":
            found[name] = _share(value)
    return found


def _share(value: Any) -> dict[str, Any]:
    percent = member(value, "Percent")
    details = member(value, "Details")
    return {
        "Percent": real(percent) if isinstance(percent, str) else decimal32(percent),
        "Details": {name: int32(number) for name, number in details.items()}
        if isinstance(details, dict)
        else {},
    }


def cores_of(instructions: Any) -> list[str]:
    """The cores that block 0x04 names; block 0x03 is not asked."""
    return [text(core) for core in items(member(instructions, "Cores"))]


def core_index(cores: list[str], name: str) -> int:
    """The place of a core in the lists; the first for an unknown one."""
    return cores.index(name) if name in cores else 0


def address_ranges(line: Mapping[str, Any]) -> list[list[str]]:
    """The pairs of texts in a line's Address Range; anything else in it is left out."""
    return [
        pair
        for pair in items(line.get("Address Range"))
        if isinstance(pair, list) and len(pair) == 2 and all(isinstance(end, str) for end in pair)
    ]
