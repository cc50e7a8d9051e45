"""Damaging a clean file as a rule's ``break`` says: a closed set of edits, each one mapping.

Edits of a payload (``block`` is the type; its first block is meant):

- ``set: <pointer>, to: <value>``; the last name of the pointer may be new; with ``times: <n>`` the
  text that often in a row
- ``remove: <pointer>``, ``rename: <pointer>, to: <name>``
- ``append: <pointer of a list>, value: <value>``
- ``before: <pointer of an element>, value: <value>``
- ``repeat: <pointer of an element>``, with ``times: <n>`` so often
- ``swap: [<pointer>, <pointer>]``
- ``scale: <pointer>, by: <factor>`` and ``add: <pointer>, by: <amount>``, for a number or a text
  that spells one, which keeps its form
- ``record: <index>, field: <name>, to: <value>`` in packed records
- ``replace: <text>, with: <text>`` in the payload's text, once; ``text: <text>`` instead of all

Edits of the framing, where ``block`` may also be ``padded``, the first block with padding bytes:

- ``header: {<field>: <value>}`` for what stands in the header, whatever should stand there
- ``pad: none | wrong | dirty | longer``: no padding bytes, a number that does not align, bytes that
  are not 0, four more than needed
- ``behind: <hex>`` at the end of the path section
- ``move: first | last``, ``drop: true``, ``again: true`` (twice in a row)

Edits of the file:

- ``insert: {type:, text:, path:}``: a block at the end; ``fill: <hex>`` instead of the path fills
  its whole section with that byte
- ``tail: <hex>`` bytes after the end, ``cut: <bytes>`` off the end
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias

from ascend_ref.bin import BinFile, canonical, parse
from ascend_ref.bin.records import (
    cache_payload,
    memory_trace_payload,
    read_cache_records,
    read_memory_trace,
)
from ascend_ref.bin.write import path_section
from ascend_spec.bin import ALIGNMENT, FILLER, HEADER, PATH_TYPE
from ascend_spec.core.pointer import keys_of

from ...engine.trials import NotBreakable

Edit: TypeAlias = Mapping[str, Any]
Victim: TypeAlias = Mapping[str, Any]

CACHE_BLOCK = 0x0B


@dataclass
class _Part:
    """One block under edit. ``header`` holds the fields that shall not be as they should."""

    type: int
    version: int
    section: bytes
    payload: bytes
    pad: bytes | None = None
    header: dict[str, int] = field(default_factory=dict)

    def to_bytes(self) -> bytes:
        pad = bytes(-len(self.payload) % ALIGNMENT) if self.pad is None else self.pad
        fields = {
            "contentSize": len(self.payload) + len(pad),
            "type": self.type,
            "padding": len(pad),
            "version": self.version,
            "reverse": FILLER,
        }
        header: bytes = HEADER.build({**fields, **self.header})
        return header + self.section + self.payload + pad


def apply_edits(file: BinFile, edits: Iterable[Edit], victim: Victim | None = None) -> bytes:
    """The bytes of a sound file after the edits, ``{names}`` in them filled from the victim.

    Raises :class:`NotBreakable` where an edit finds no place.
    """
    parts = [
        _Part(entry.type, entry.version, file.path_section(entry), bytes(file.payload(entry)))
        for entry in file.entries
    ]
    tail = b""
    cut = 0
    for edit in edits:
        filled = _filled(edit, victim or {})
        if "tail" in filled:
            tail += bytes.fromhex(filled["tail"])
        elif "cut" in filled:
            cut += filled["cut"]
        elif "insert" in filled:
            parts.append(_inserted(filled["insert"]))
        else:
            _edit_block(parts, filled)
    content = b"".join(part.to_bytes() for part in parts) + tail
    return content[: len(content) - cut]


def _filled(value: Any, victim: Victim) -> Any:
    if isinstance(value, str) and "{" in value:
        if value.startswith("{") and value.endswith("}") and value[1:-1] in victim:
            return victim[value[1:-1]]
        for name, found in victim.items():
            value = value.replace(f"{{{name}}}", str(found))
        return value
    if isinstance(value, Mapping):
        return {key: _filled(inner, victim) for key, inner in value.items()}
    if isinstance(value, list):
        return [_filled(inner, victim) for inner in value]
    return value


def _inserted(wanted: Mapping[str, Any]) -> _Part:
    kind = wanted["type"]
    section = path_section(wanted.get("path", "").encode()) if kind == PATH_TYPE else b""
    if "fill" in wanted:
        section = bytes.fromhex(wanted["fill"]) * len(section)
    text = wanted["text"]
    payload = text.encode() if isinstance(text, str) else canonical(text)
    return _Part(kind, wanted.get("version", FILLER), section, payload)


def _edit_block(parts: list[_Part], edit: Edit) -> None:
    at = next((place for place, part in enumerate(parts) if _is_meant(part, edit["block"])), None)
    if at is None:
        raise NotBreakable(f"no block {edit['block']}")
    part = parts[at]
    if "header" in edit:
        part.header |= edit["header"]
    elif "pad" in edit:
        part.pad = PADS[edit["pad"]](-len(part.payload) % ALIGNMENT)
    elif "behind" in edit:
        end = bytes.fromhex(edit["behind"])
        part.section = part.section[: -len(end)] + end
    elif "move" in edit:
        parts.insert(0 if edit["move"] == "first" else len(parts), parts.pop(at))
    elif "drop" in edit:
        parts[:] = [one for one in parts if one.type != edit["block"]]
    elif "again" in edit:
        parts.insert(at + 1, deepcopy(part))
    elif "record" in edit:
        part.payload = _with_record(part, edit)
    elif "text" in edit:
        part.payload = edit["text"].encode()
    elif "replace" in edit:
        old, new = edit["replace"].encode(), edit["with"].encode()
        if old not in part.payload:
            raise NotBreakable(f"no {edit['replace']!r} in 0x{part.type:02X}")
        part.payload = part.payload.replace(old, new, 1)
    else:
        part.payload = canonical(_edited(parse(part.payload), edit))


def _with_record(part: _Part, edit: Edit) -> bytes:
    if part.type == CACHE_BLOCK:
        records, joined = read_cache_records(part.payload).copy(), cache_payload
    else:
        trace = read_memory_trace(part.payload)
        records = trace.records.copy()
        joined = partial(memory_trace_payload, call_stacks=bytes(trace.call_stacks))
    if edit["record"] >= len(records):
        raise NotBreakable(f"no record {edit['record']}")
    records[edit["field"]][edit["record"]] = edit["to"]
    return bytes(joined(records))


def _is_meant(part: _Part, block: int | str) -> bool:
    return len(part.payload) % ALIGNMENT != 0 if block == "padded" else part.type == block


PADS: Mapping[str, Callable[[int], bytes]] = {
    "none": lambda _right: b"",
    "wrong": lambda right: bytes((right + 1) % ALIGNMENT),
    "dirty": lambda right: bytes([FILLER]) * right,
    "longer": lambda right: bytes(right + ALIGNMENT),
}


def _edited(payload: Any, edit: Edit) -> Any:
    verb = next((verb for verb in VERBS if verb in edit), None)
    root = [payload]
    if verb is None:
        raise ValueError(f"unknown edit {sorted(edit)}")
    if verb == "swap":
        (one, left), (other, right) = (_place(root, pointer) for pointer in edit["swap"])
        one[left], other[right] = other[right], one[left]
        return root[0]
    container, key = _place(root, edit[verb], new=verb == "set")
    match verb:
        case "set":
            to = edit["to"]
            container[key] = to * edit["times"] if "times" in edit else deepcopy(to)
        case "remove":
            del container[key]
        case "rename":
            container[edit["to"]] = container.pop(key)
        case "append":
            container[key].append(deepcopy(edit["value"]))
        case "before":
            container.insert(key, deepcopy(edit["value"]))
        case "repeat":
            container[key:key] = [deepcopy(container[key]) for _ in range(edit.get("times", 1))]
        case "scale":
            container[key] = _like(container[key], lambda number: number * edit["by"])
        case "add":
            container[key] = _like(container[key], lambda number: number + edit["by"])
    return root[0]


VERBS = ("set", "remove", "rename", "append", "before", "repeat", "swap", "scale", "add")


def _place(root: list[Any], pointer: str, *, new: bool = False) -> tuple[Any, Any]:
    """Container and key of the value that a pointer leads to."""
    container: Any = root
    key: Any = 0
    there = True
    for name in keys_of(pointer):
        if not there:
            raise NotBreakable(f"nothing at {pointer}")
        container = container[key]
        key = int(name) if isinstance(container, list) and name.isdecimal() else name
        there = key in container if isinstance(container, dict) else key in range(len(container))
    if not there and not (new and isinstance(container, dict)):
        raise NotBreakable(f"nothing at {pointer}")
    return container, key


def _like(value: Any, change: Callable[[float], float]) -> Any:
    """The changed number in the form that it had: integer, decimals, text."""
    if isinstance(value, str):
        decimals = len(value.partition(".")[2])
        changed = change(float(value) if decimals else int(value))
        return f"{changed:.{decimals}f}" if decimals else str(int(changed))
    return type(value)(change(value))
