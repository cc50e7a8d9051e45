"""Numbers of blocks that msopprof keeps in 8 bits: the block behind 255 is 0 again in all but 0x05.

``blockId`` of ``ComputeLoadBlockDetail`` and ``MemMapDetail`` in its data_visualize_const.h.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from .flatten import as_text

PERIOD = 256

IN_ORDER = {
    0x06: ("subblock_detail", "block_id"),
    0x07: ("subblock_detail", "block_id"),
    0x08: ("core_memory_map", "core_no"),
    0x09: ("table_per_block", "block_id"),
}
"""List and key of the types that hold the blocks in their order."""

UNORDERED = {0x0C: ("op_detail", "core_id")}
"""Those whose exporter sorts by the 8 bits, so that equal numbers stand in any order."""


def counted_on(code: int, payload: Any) -> Any:
    """The payload with the numbers that its blocks have in 0x05; null where nobody can know."""
    listed, key = {**IN_ORDER, **UNORDERED}.get(code, ("", ""))
    entries = payload.get(listed) if isinstance(payload, dict) else None
    if not isinstance(entries, list) or len(entries) <= PERIOD:
        return payload
    if not all(isinstance(entry, dict) for entry in entries):
        return payload
    numbers = [as_text(entry.get(key)) for entry in entries]
    real = _in_order(numbers) if code in IN_ORDER else _alone(numbers)
    renamed = [{**entry, key: number} for entry, number in zip(entries, real, strict=True)]
    return {**payload, listed: renamed}


def _in_order(numbers: list[str | None]) -> Iterator[str | None]:
    passed, before = 0, None
    for number in numbers:
        passed += PERIOD * (before == str(PERIOD - 1) and number == "0")
        before = number
        yield str(passed + int(number)) if passed and number and number.isdecimal() else number


def _alone(numbers: list[str | None]) -> Iterator[str | None]:
    times = Counter(numbers)
    for number in numbers:
        yield number if times[number] == 1 else None
