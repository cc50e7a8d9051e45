"""Where findings stand: types by name, paths in payloads without indices, bytes in the file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import construct

from ascend_ref.bin import BinFile
from ascend_ref.bin.records import read_memory_trace
from ascend_ref.db.display import clip, printable
from ascend_ref.json_place import place_of
from ascend_spec import bin_catalog
from ascend_spec.core.packed import dtype_of
from ascend_spec.core.pointer import ANY, escaped, unescaped

from .flatten import EACH_ELEMENT, EACH_MEMBER, FactTable, steps_of

POINTER = 300
"""Characters of a pointer that are shown."""

SEARCHED = 1 << 30
"""Bytes of payloads that are searched in one file for the places of findings."""


def block_label(code: int) -> str:
    """``0x08 memory heat map``; the bare code for a type that the spec does not know."""
    known = bin_catalog().blocks.get(code)
    return f"0x{code:02X} {known.name}" if known else f"0x{code:02X}"


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
        stated = table.columns[column]
        keep = len(tokens) - stated.up
        tokens = [*tokens[:keep], *map(escaped, stated.path)]
        further = (EACH_ELEMENT if name.isdecimal() else name for name in stated.path)
        steps = [*steps[:keep], *further]
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


def field_offset(declaration: construct.Struct, name: str | None) -> int:
    """The byte within a packed record at which a field stands; 0 for no field."""
    fields: Mapping[str, Any] = dtype_of(declaration).fields or {}
    return int(fields.get(name or "", (None, 0))[1])


def first_place(offset: int | None, pointer: str | None) -> str:
    """Where the first bad value stands, for the end of a message."""
    parts = [f"byte {offset:,}"] if offset is not None else []
    if pointer:
        parts.append(pointer)
    return f" (first: {', '.join(parts)})" if parts else ""
