"""The readable form of each kind of payload; of packed records a JSON array, one to a line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

import construct
import numpy as np

from ascend_spec.bin import CACHE_RECORD, TRACE_RECORD
from ascend_spec.core.packed import dtype_of

from .canonical import MAX_BYTES, MalformedPayload, canonical, parse
from .container import mapped
from .records import (
    LengthUnit,
    Records,
    cache_payload,
    memory_trace_payload,
    read_cache_records,
    read_memory_trace,
)
from .stream import iterate_array

VERBATIM_BYTES = 64 << 20
"""A longer JSON text is copied as it is: taken apart it would need many times its size."""

VERBATIM = ".verbatim.json"
"""How the name of such a copy ends."""

COUNTED = ".counted.json"
"""How the records of a 0x0A end whose first length counts records, not bytes."""


RECORDS_AT_ONCE = 1 << 16

HEXADECIMAL = frozenset({"addr", "pc"})
"""Fields that are shown as addresses; other JSON readers lose digits of such numbers anyway."""


@dataclass(frozen=True, slots=True)
class Form:
    """The files that hold a payload in readable form.

    ``raw`` names the file with the original bytes, where the readable form does not lead back to
    them; ``problem`` states why a payload has no readable form.
    """

    files: tuple[str, ...]
    raw: str | None = None
    problem: str | None = None


def write_form(kind: str, payload: memoryview, folder: Path, stem: str) -> Form:
    """Write the readable form of a payload of this kind (``BlockType.payload``)."""
    if kind == "source":
        return _copy(payload, folder, f"{stem}.txt")
    try:
        if kind == "json":
            return _write_json(payload, folder, stem)
        if kind == "trace-records":
            return _write_memory_trace(payload, folder, stem)
        if kind == "cache-records":
            records = read_cache_records(payload)
            return Form((write_records(records, CACHE_RECORD, folder / f"{stem}.json"),))
    except MalformedPayload as problem:
        return _copy(payload, folder, f"{stem}.raw", str(problem))
    return _copy(payload, folder, f"{stem}.raw")


def read_form(kind: str, form: Form, folder: Path) -> bytes | memoryview:
    """The payload that the files of a form describe. Raises ``ValueError``, ``OSError``."""
    first = folder / form.files[0]
    if first.suffix != ".json":
        return mapped(first)
    try:
        if kind == "trace-records":
            stacks = _read_json(folder / form.files[1])
            records = read_records(first, TRACE_RECORD)
            unit: LengthUnit = "records" if first.name.endswith(COUNTED) else "bytes"
            return memory_trace_payload(records, stacks, unit)
        if kind == "cache-records":
            return cache_payload(read_records(first, CACHE_RECORD))
        return _read_json(first)
    except MalformedPayload as problem:
        raise ValueError(f"{first.name}: {problem}") from problem


def _read_json(path: Path) -> bytes | memoryview:
    content = mapped(path)
    return content if path.name.endswith(VERBATIM) else canonical(parse(content))


def _copy(payload: memoryview, folder: Path, name: str, problem: str | None = None) -> Form:
    with (folder / name).open("wb") as file:
        file.write(payload)
    return Form((name,), problem=problem)


def _write_json(payload: memoryview, folder: Path, stem: str) -> Form:
    if len(payload) > VERBATIM_BYTES:
        return _copy(payload, folder, f"{stem}{VERBATIM}")
    value = parse(payload)
    readable = folder / f"{stem}.json"
    with readable.open("w", encoding="utf-8", newline="\n") as file:
        json.dump(value, file, ensure_ascii=False, indent=1)
        file.write("\n")
    if readable.stat().st_size > MAX_BYTES:  # too long to be read again: its indents outweigh it
        readable.unlink()
        return _copy(payload, folder, f"{stem}{VERBATIM}")
    if canonical(value) == bytes(payload):
        return Form((readable.name,))
    raw = _copy(payload, folder, f"{stem}.raw")
    return Form((readable.name,), raw=raw.files[0])


def _write_memory_trace(payload: memoryview, folder: Path, stem: str) -> Form:
    trace = read_memory_trace(payload)
    suffix = COUNTED if trace.length_unit == "records" else ".json"
    records = write_records(trace.records, TRACE_RECORD, folder / f"{stem}{suffix}")
    stacks, problem = f"{stem}-call-stacks", None
    try:
        form = _write_json(trace.call_stacks, folder, stacks)
    except MalformedPayload as malformed:
        form, problem = Form((), raw=""), f"call stacks: {malformed}"
    if form.raw is not None:  # a second text next to the records, no second copy of them
        for name in (*form.files, *filter(None, (form.raw,))):
            (folder / name).unlink()
        form = _copy(trace.call_stacks, folder, f"{stacks}{VERBATIM}")
    return Form((records, *form.files), problem=problem)


def write_records(records: Records, declaration: construct.Struct, path: Path) -> str:
    """Write records as a JSON array, one to a line; the file's name."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        write_array(record_lines(records, declaration), file)
        file.write("\n")
    return path.name


def write_array(lines: Iterable[str], target: TextIO) -> None:
    """Write JSON values as an array, one to a line."""
    target.write("[")
    separator = "\n"
    for line in lines:
        target.write(f"{separator}{line}")
        separator = ",\n"
    target.write("\n]")


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
    dtype = dtype_of(declaration)
    parts: list[Records] = []
    elements = iterate_array(mapped(path))
    while rows := list(islice(elements, RECORDS_AT_ONCE)):
        part = np.empty(len(rows), dtype)
        for field in declaration.subcons:
            members = {name: value for value, name in _members(field).items()}
            try:
                part[field.name] = _column(rows, field.name, members)
            except (LookupError, TypeError, ValueError, OverflowError):
                limits = np.iinfo(dtype[field.name])
                part[field.name] = [
                    _number(at, row, field.name, members, limits) for at, row in rows
                ]
        parts.append(part)
    return np.concatenate(parts) if parts else np.empty(0, dtype)


def _column(rows: list[tuple[int, Any]], name: str, members: dict[str, int]) -> list[int]:
    values = [row[name] for _, row in rows]
    # Neither a bool nor a text that is no member passes.
    if members:
        return [value if type(value) is int else members[value] for value in values]
    return [value if type(value) is int else int(value, 0) for value in values]


def _number(at: int, row: Any, name: str, members: dict[str, int], limits: np.iinfo[Any]) -> int:
    """The number of an element at a byte; raises ``ValueError`` without one that fits."""
    if not isinstance(row, dict) or name not in row:
        raise ValueError(f"byte {at:,}: expected an object with {name}")
    value = row[name]
    place = f"byte {at:,}: {name} is"
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        raise ValueError(f"{place} {value!r}; expected a number")
    try:
        number = members[value] if value in members else int(str(value), 0)
    except ValueError:
        raise ValueError(f"{place} {value!r}; expected a number or a member's name") from None
    if not limits.min <= number <= limits.max:
        raise ValueError(f"{place} {number}; expected {limits.min} to {limits.max}")
    return number
