"""The instructions of a core: ``source/api/instructions/dynamic``, block 0x04."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from .answer import Body
from .columns import core_index, cores_of, declared_types, row
from .question import Question
from .registers import RegisterRows
from .values import UINT64, is_int32, items, member, text

INSTRUCTIONS_TYPE = 0x04
STATUS = "GPR Status"

_HEXADECIMAL = re.compile(r"[ \t\n\v\f\r]*(?:0[xX])?([0-9a-fA-F]+)")


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
                "Source": text(instruction.get("Source")),
                "Address": text(instruction.get("Address")),
                "Ascend Inner Code": text(instruction.get("AscendC Inner Code")),
                "Cycles": _of_core(instruction, "Cycles", core),
                "Instructions Executed": _of_core(instruction, "Instructions Executed", core),
                "Pipe": text(instruction.get("Pipe")),
                "RealStallCycles": _of_core(instruction, "RealStallCycles", core),
                "TheoreticalStallCycles": _of_core(instruction, "TheoreticalStallCycles", core),
            }


def _of_core(instruction: dict[str, Any], key: str, core: int) -> int:
    """The core's number in a list; what is no integer of 32 bits does not count as an item."""
    listed: list[int] = [number for number in items(instruction.get(key)) if is_int32(number)]
    if not listed:
        return 0
    return listed[core] if core < len(listed) else listed[0]
