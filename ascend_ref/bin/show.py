"""A ``visualize_data.bin`` as one readable JSON document."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from ascend_ref.db.display import printable
from ascend_spec import bin_catalog
from ascend_spec.bin import CACHE_RECORD, TRACE_RECORD

from .canonical import MalformedPayload, parse
from .container import BinFile, Entry, open_file
from .folder import block_head
from .forms import VERBATIM_BYTES, record_lines, write_array
from .records import read_cache_records, read_memory_trace


def show(path: Path, types: frozenset[int] | None, target: TextIO) -> list[str]:
    """Write every block of the file, or those of some types; returns what could not be read.

    Raises :class:`~ascend_ref.bin.Unreadable`.
    """
    with open_file(path) as file:
        problems = [f"byte {one.offset:,}: {one.message}" for one in file.damage]
        target.write("[")
        separator = "\n"
        for entry in file.entries:
            if types is None or entry.type in types:
                target.write(separator)
                problems.extend(show_block(file, entry, target))
                separator = ",\n"
        target.write("\n]\n")
    return problems


def show_block(file: BinFile, entry: Entry, target: TextIO) -> Iterator[str]:
    """Write one block; gives what of it could not be read."""
    head = block_head(file, entry)
    if "path" in head:
        head["path"] = printable(head["path"])
    target.write(json.dumps(head, ensure_ascii=False)[:-1])
    try:
        _show_payload(file, entry, target)
    except MalformedPayload as problem:
        target.write(f', "problem": {json.dumps(str(problem))}')
        yield f"block {entry.ordinal} ({head['name']}) at byte {entry.offset:,}: {problem}"
    target.write("}")


def _show_payload(file: BinFile, entry: Entry, target: TextIO) -> None:
    known = bin_catalog().blocks.get(entry.type)
    kind = known.payload if known else "none"
    payload = file.payload(entry)
    if kind == "json":
        _show_json("payload", payload, target)
    elif kind == "source":
        _require_showable(payload)
        text = bytes(payload).decode("utf-8", "backslashreplace")
        target.write(f', "payload": {json.dumps(text, ensure_ascii=False)}')
    elif kind == "trace-records":
        trace = read_memory_trace(payload)
        target.write(', "records": ')
        write_array(record_lines(trace.records, TRACE_RECORD), target)
        _show_json("call_stacks", trace.call_stacks, target)
    elif kind == "cache-records":
        target.write(', "records": ')
        write_array(record_lines(read_cache_records(payload), CACHE_RECORD), target)


def _show_json(key: str, payload: memoryview, target: TextIO) -> None:
    _require_showable(payload)
    text = json.dumps(parse(payload), ensure_ascii=False, indent=1)
    target.write(f', "{key}": {text}')


def _require_showable(payload: memoryview) -> None:
    if len(payload) > VERBATIM_BYTES:
        raise MalformedPayload(0, f"{len(payload):,} bytes are too many to show; use -o DIR")
