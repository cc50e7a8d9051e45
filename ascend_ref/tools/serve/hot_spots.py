"""What source lines and instructions cost: ``source/api/*``, blocks 0x03 and 0x04.

A file declares the columns of both with a dtype (bin-blocks.md 3.4); older files declare none.
"""

from __future__ import annotations

import heapq
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ascend_spec import bin_catalog, per_spec

from .answer import Body, Question
from .values import UINT64, decimal32, int32, is_integer, items, member, number32, real, text

LINES_TYPE, INSTRUCTIONS_TYPE = 0x03, 0x04
STATUS = "GPR Status"
LEGACY_FIGURES = "Cycles", "Instructions Executed", "RealStallCycles", "TheoreticalStallCycles"

MAX_EMPTY = 1_000_000
"""Empty rows of all instructions together, far beyond what real registers lead to; after that
registers are reported without empty rows."""

_HEXADECIMAL = re.compile(r"[ \t\n\v\f\r]*(?:0[xX])?([0-9a-fA-F]+)")

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
    return {name: declared[name] for name in sorted(declared) if is_integer(declared[name])}


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


# --- source lines ---------------------------------------------------------------------------------


def lines_of_old_files(asked: Question) -> Body:
    """The body of ``source/api/line``.

    Only of files without "Files Dtype"; keys are without the s that the file has (A6).
    """
    return {
        "lines": [
            {
                "Line": line["Line"],
                "Instruction Executed": line["Instructions Executed"],
                "Cycle": line["Cycles"],
                "Address Range": line["Address Range"],
            }
            for line in _legacy_lines(asked)
        ]
    }


def lines(asked: Question) -> Body:
    """The body of ``source/api/line/dynamic``.

    With declared columns the core falls back to the first; without them, the lines of
    ``source/api/line`` under the file's keys, and none for an unknown core.
    """
    document = asked.blocks.hot_spots(LINES_TYPE)
    types = declared_types(document, "Files Dtype", "Lines")
    if not types:
        return {"Lines": _legacy_lines(asked)}
    cores = cores_of(asked.blocks.hot_spots(INSTRUCTIONS_TYPE))
    index = core_index(cores, asked.params["coreName"])
    found = [
        {**row(line, types, index, json_texts=False), "Address Range": address_ranges(line)}
        for listed in _of_source(document, asked)
        for line in items(listed)
        if isinstance(line, dict)
    ]
    return {"Lines": found, "Files Dtype": {"Lines": types}}


def _of_source(document: Any, asked: Question) -> list[Any]:
    """What stands under Lines in the entries of the file that is asked for."""
    files = items(member(document, "Files"))
    source = asked.params["sourceName"]
    return [member(file, "Lines") for file in files if text(member(file, "Source")) == source]


def _legacy_lines(asked: Question) -> list[dict[str, Any]]:
    """Lines that ran on a core, of the last entry with that path."""
    document, core = asked.blocks.hot_spots(LINES_TYPE), asked.params["coreName"]
    cores = cores_of(asked.blocks.hot_spots(INSTRUCTIONS_TYPE))
    if core not in cores or (isinstance(document, dict) and "Files Dtype" in document):
        return []
    of_source = [one for one in _of_source(document, asked) if isinstance(one, list)]
    last = of_source[-1] if of_source else []
    found = (_legacy_line(line, cores.index(core)) for line in last)
    return [line for line in found if line]


def _legacy_line(line: Any, core: int) -> dict[str, Any] | None:
    """A line, unless one of its four members is missing or it did not run on the core."""
    ranges, cycles, executed, number = (
        member(line, key) for key in ("Address Range", "Cycles", "Instructions Executed", "Line")
    )
    complete = all(isinstance(part, list) for part in (ranges, cycles, executed))
    if not complete or not is_integer(number) or core >= min(len(cycles), len(executed)):
        return None
    figures = number32(cycles[core]), int32(executed[core])
    if figures == (0, 0):
        return None
    return {
        "Line": number,
        "Instructions Executed": figures[1],
        "Cycles": figures[0],
        "Address Range": address_ranges(line),
    }


# --- instructions ---------------------------------------------------------------------------------


def instructions(asked: Question) -> Body:
    """The body of ``source/api/instructions/dynamic``; an unknown core counts as the first.

    With declared columns the instructions are sorted by address as a number; where one of several
    has none, there are no instructions at all. Registers are shown in rows of their own.
    """
    core = asked.params["coreName"]
    document = asked.blocks.hot_spots(INSTRUCTIONS_TYPE)
    index = core_index(cores_of(document), core)
    types = declared_types(document, "Instructions Dtype", "Instructions")
    if not types:
        return {"Instructions": list(_legacy_instructions(document, index))}
    found = _by_address(items(member(document, "Instructions")))
    rows = RegisterRows()
    answers = []
    for instruction in found:
        shown = instruction
        if isinstance(instruction.get(STATUS), list):
            shown = {**instruction, STATUS: rows.rewritten(instruction[STATUS])}
        answers.append(row(shown, types, index, json_texts=True))
    return {
        "Instructions": answers,
        "Instructions Dtype": {"Instructions": types},
        "Core": core,
    }


def _by_address(listed: list[Any]) -> list[dict[str, Any]]:
    found = [instruction for instruction in listed if isinstance(instruction, dict)]
    if len(found) < 2:
        return found
    addresses = [_address(instruction) for instruction in found]
    if None in addresses:
        return []
    places = sorted(range(len(found)), key=lambda place: addresses[place] or 0)
    return [found[place] for place in places]


def _address(instruction: dict[str, Any]) -> int | None:
    """The address, 0 without one, ``None`` where it is no hexadecimal number of 64 bits."""
    if "Address" not in instruction:
        return 0
    digits = _HEXADECIMAL.match(text(instruction["Address"]))
    if not digits or len(digits[1].lstrip("0")) > 16:
        return None
    address = int(digits[1], 16)
    return address if address in UINT64 else None


def _legacy_instructions(document: Any, core: int) -> Iterator[dict[str, Any]]:
    if isinstance(document, dict) and "Instructions Dtype" in document:
        return
    for instruction in items(member(document, "Instructions")):
        if isinstance(instruction, dict):
            yield {
                **{key: text(instruction.get(key)) for key in ("Source", "Address", "Pipe")},
                "Ascend Inner Code": text(instruction.get("AscendC Inner Code")),
                **{key: _of_core(instruction, key, core) for key in LEGACY_FIGURES},
            }


def _of_core(instruction: dict[str, Any], key: str, core: int) -> int:
    """The core's number in a list; what is no integer of 32 bits does not count as an item."""
    listed: list[int] = [number for number in items(instruction.get(key)) if is_integer(number)]
    if not listed:
        return 0
    return listed[core] if core < len(listed) else listed[0]


@dataclass(slots=True)
class _Living:
    """A register that lives: its row, its length in instructions, and how many are left."""

    row: int
    length: int
    left: int


class RegisterRows:
    """GPR Status as the answer shows it: registers in rows, in the order of addresses.

    The file says of each instruction which registers it touches and for how many instructions each
    lives; the answer gives every living register a row of its own and says whether it begins, is in
    use or ends there (bin-blocks.md 3.4).

    Of an empty row between others all is empty or 0; the viewer leaves its progress and length to
    chance.
    """

    def __init__(self) -> None:
        self._living: dict[str, _Living] = {}
        self._free: list[int] = []
        self._rows = 0
        self._empty_left = MAX_EMPTY

    def rewritten(self, statuses: Any) -> list[dict[str, Any]]:
        """The rows of one instruction: name, state, progress, and length in instructions."""
        touched = [self._touch(status) for status in items(statuses)]
        by_row: dict[int, dict[str, Any]] = {}
        for row, register in sorted(touched, key=lambda pair: pair[0]):
            by_row[row] = register
            self._release(register["name"])
        rows = range(max(by_row, default=-1) + 1)
        empty = len(rows) - len(by_row)
        if empty > self._empty_left:
            return list(by_row.values())
        self._empty_left -= empty
        return [by_row[row] if row in by_row else dict(_EMPTY) for row in rows]

    def _touch(self, status: Any) -> tuple[int, dict[str, Any]]:
        name = text(member(status, "regIndex"))
        living = self._living.get(name)
        if living is None:
            length = int32(member(status, "survivalTime"))
            living = self._living[name] = _Living(self._next_row(), length, length - 1)
            progress = _progress()["BEGIN"]
        else:
            living.left -= 1
            progress = _progress()["END" if living.left == 0 else "IN_USE"]
        state = int32(member(status, "regStatus"))
        shown = {"name": name, "state": state, "progress": progress, "length": living.length}
        return living.row, shown

    def _next_row(self) -> int:
        if self._free:
            return heapq.heappop(self._free)
        self._rows += 1
        return self._rows - 1

    def _release(self, name: str) -> None:
        if name in self._living and self._living[name].left == 0:
            heapq.heappush(self._free, self._living.pop(name).row)


_EMPTY = {"name": "", "state": 0, "progress": 0, "length": 0}


@per_spec
def _progress() -> dict[str, Any]:
    return {
        stage.name or "": stage.value for stage in bin_catalog().enums["register_progress"].members
    }
