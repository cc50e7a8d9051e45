"""The readable form of each kind of payload."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from ascend_spec.bin import CACHE_RECORD, TRACE_RECORD

from .canonical import MAX_BYTES, MalformedPayload, canonical, parse
from .container import mapped
from .record_text import read_records, write_records
from .records import (
    LengthUnit,
    cache_payload,
    memory_trace_payload,
    read_cache_records,
    read_memory_trace,
)

VERBATIM_BYTES = 64 << 20
"""A longer JSON text is copied as it is: taken apart it would need many times its size."""

VERBATIM = ".verbatim.json"
"""How the name of such a copy ends."""

COUNTED = ".counted.json"
"""How the records of a 0x0A end whose first length counts records, not bytes."""


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
