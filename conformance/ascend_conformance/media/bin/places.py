"""Where findings stand: types by name, paths in payloads without indices, bytes in the file."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ascend_ref.bin import BinFile
from ascend_ref.bin.records import read_memory_trace
from ascend_ref.db.display import clip, printable
from ascend_ref.json_place import place_of
from ascend_spec import bin_catalog
from ascend_spec.bin import HEADER
from ascend_spec.core.pointer import ANY, escaped, unescaped

from .flatten import EACH_ELEMENT, EACH_MEMBER, FactTable, fact_tables, steps_of

POINTER = 300
"""Characters of a pointer that are shown."""

SEARCHED = 1 << 30
"""Bytes of payloads that are searched in one file for the places of findings."""

_UP = re.compile(r"(?P<up>\d+)(?P<rest>#|/.*|)")


def block_label(code: int | None) -> str | None:
    """``0x08 memory heat map``; the bare code for a type that the spec does not know."""
    if code is None:
        return None
    known = bin_catalog().blocks.get(code)
    return f"0x{code:02X} {known.name}" if known else f"0x{code:02X}"


def fact_table(name: str | None) -> FactTable | None:
    """The table that ``facts.yaml`` declares under a name."""
    return next((table for table in fact_tables() if table.name == name), None)


@dataclass(frozen=True, slots=True)
class Place:
    """A value in a payload: its place, and its JSON Pointer."""

    path: str | None
    pointer: str | None


def place_in(table: FactTable, column: str | None, pointer: str) -> Place:
    """Where the column's value of the row at ``pointer`` stands."""
    tokens = pointer.split("/")[1:]
    steps = next(
        (
            steps
            for steps in map(steps_of, table.patterns)
            if len(steps) == len(tokens) and all(map(_leads, steps, tokens))
        ),
        [],
    )
    if column is not None:
        relative = table.places[table.columns.index(column)]
        found = _UP.fullmatch(relative)
        up, rest = (int(found["up"]), found["rest"]) if found else (0, relative)
        keep = len(tokens) - up
        further = [name for name in rest.removesuffix("#").split("/") if name]
        tokens = [*tokens[:keep], *further]
        steps = [
            *steps[:keep],
            *(EACH_ELEMENT if name.isdecimal() else unescaped(name) for name in further),
        ]
    return Place(_written(steps) or None, "".join(f"/{token}" for token in tokens))


def _leads(step: str, token: str) -> bool:
    if step == EACH_ELEMENT:
        return token.isdecimal()
    return step == EACH_MEMBER or step == unescaped(token)


def _written(steps: list[str]) -> str:
    """Steps as a place: ``/a/b/*/*`` for each member of each element."""
    return "".join(
        f"/{ANY if step in (EACH_ELEMENT, EACH_MEMBER) else escaped(step)}" for step in steps
    )


def shown(pointer: str | None) -> str | None:
    """A JSON Pointer that is safe to show: on one line, long ones cut."""
    return pointer and clip(printable(pointer), POINTER)


@dataclass
class Locator:
    """Finds the bytes of values, as long as that costs no more than reading :data:`SEARCHED`."""

    file: BinFile
    left: int = SEARCHED

    def byte_of(self, block: int, pointer: str) -> int | None:
        """The byte of the file at which the value of a pointer stands in the payload of a block."""
        entry = self.file.entries[block]
        payload = self.file.payload(entry)
        if bin_catalog().blocks[entry.type].payload == "trace-records":
            payload = read_memory_trace(payload).call_stacks
        self.left -= len(payload)
        if self.left < 0:
            return None
        return entry.payload_offset + entry.payload_size - len(payload) + place_of(payload, pointer)


def header_field(name: str | None) -> int:
    """The byte within a block header at which a field stands; 0 for no field."""
    offset = 0
    for field in HEADER.subcons:
        if field.name == name:
            return offset
        offset += field.sizeof()
    return 0
