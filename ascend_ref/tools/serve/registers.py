"""GPR Status of block 0x04, as the answer shows it: registers in rows, with their progress.

The file says of each instruction which registers it touches and for how many instructions each
lives; the answer gives every living register a row of its own and says whether it begins, is in
use or ends there (bin-blocks.md 3.4).
"""

from __future__ import annotations

import heapq
from typing import Any

from ascend_spec import bin_catalog, per_spec

from .values import int32, items, member, text

MAX_EMPTY = 1_000_000
"""Empty rows of all instructions together, far beyond what real registers lead to; after that
registers are reported without empty rows."""


class RegisterRows:
    """Follows the registers from one instruction to the next, in the order of addresses.

    Of an empty row between others all is empty or 0; the viewer leaves its progress and length to
    chance.
    """

    def __init__(self) -> None:
        self._left: dict[str, int] = {}
        self._length: dict[str, int] = {}
        self._row: dict[str, int] = {}
        self._free: list[int] = []
        self._rows = 0
        self._empty_left = MAX_EMPTY

    def rewritten(self, statuses: Any) -> list[dict[str, Any]]:
        """The rows of one instruction: name, state, progress, and length in instructions."""
        touched = [self._touch(status) for status in items(statuses)]
        told: dict[int, dict[str, Any]] = {}
        for row, register in sorted(touched, key=lambda pair: pair[0]):
            told[row] = register
            self._release(register["name"])
        rows = range(max(told, default=-1) + 1)
        empty = len(rows) - len(told)
        if empty > self._empty_left:
            return list(told.values())
        self._empty_left -= empty
        return [told[row] if row in told else dict(_EMPTY) for row in rows]

    def _touch(self, status: Any) -> tuple[int, dict[str, Any]]:
        name = text(member(status, "regIndex"))
        if name not in self._row:
            self._row[name] = self._next_row()
        length = self._length.get(name, int32(member(status, "survivalTime")))
        if name in self._left:
            self._left[name] -= 1
            progress = _progress()["END" if self._left[name] == 0 else "IN_USE"]
        else:
            self._left[name] = length - 1
            self._length[name] = length
            progress = _progress()["BEGIN"]
        state = int32(member(status, "regStatus"))
        shown = {"name": name, "state": state, "progress": progress, "length": length}
        return self._row[name], shown

    def _next_row(self) -> int:
        if self._free:
            return heapq.heappop(self._free)
        self._rows += 1
        return self._rows - 1

    def _release(self, name: str) -> None:
        if self._left.get(name) == 0:
            del self._left[name], self._length[name]
            heapq.heappush(self._free, self._row.pop(name))


_EMPTY = {"name": "", "state": 0, "progress": 0, "length": 0}


@per_spec
def _progress() -> dict[str, Any]:
    return {
        stage.name or "": stage.value for stage in bin_catalog().enums["register_progress"].members
    }
