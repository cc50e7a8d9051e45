"""What source lines cost: ``source/api/line`` and ``source/api/line/dynamic``, block 0x03."""

from __future__ import annotations

from typing import Any

from .answer import Body
from .blocks import Blocks
from .columns import address_ranges, core_index, cores_of, declared_types, row
from .question import Question
from .values import int32, is_int32, items, member, number32, text

LINES_TYPE, INSTRUCTIONS_TYPE = 0x03, 0x04


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
    blocks, source, core = _place(asked)
    document = blocks.hot_spots(LINES_TYPE)
    types = declared_types(document, "Files Dtype", "Lines")
    if not types:
        return {"Lines": _legacy_lines(asked)}
    index = core_index(cores_of(blocks.hot_spots(INSTRUCTIONS_TYPE)), core)
    found = [
        {**row(line, types, index, json_texts=False), "Address Range": address_ranges(line)}
        for file in items(member(document, "Files"))
        if text(member(file, "Source")) == source
        for line in items(member(file, "Lines"))
        if isinstance(line, dict)
    ]
    return {"Lines": found, "Files Dtype": {"Lines": types}}


def _place(asked: Question) -> tuple[Blocks, str, str]:
    """The blocks, and the file and core that are asked for."""
    return asked.blocks, asked.params["sourceName"], asked.params["coreName"]


def _legacy_lines(asked: Question) -> list[dict[str, Any]]:
    """Lines that ran on a core, of the last entry with that path."""
    blocks, source, core = _place(asked)
    document = blocks.hot_spots(LINES_TYPE)
    cores = cores_of(blocks.hot_spots(INSTRUCTIONS_TYPE))
    if core not in cores or (isinstance(document, dict) and "Files Dtype" in document):
        return []
    index = cores.index(core)
    of_source = [
        member(file, "Lines")
        for file in items(member(document, "Files"))
        if text(member(file, "Source")) == source and isinstance(member(file, "Lines"), list)
    ]
    found = (_legacy_line(line, index) for line in (of_source[-1] if of_source else []))
    return [line for line in found if line]


def _legacy_line(line: Any, core: int) -> dict[str, Any] | None:
    """A line, unless one of its four members is missing or it did not run on the core."""
    ranges, cycles, executed, number = (
        member(line, key) for key in ("Address Range", "Cycles", "Instructions Executed", "Line")
    )
    complete = all(isinstance(part, list) for part in (ranges, cycles, executed))
    if not complete or not is_int32(number) or core >= min(len(cycles), len(executed)):
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
