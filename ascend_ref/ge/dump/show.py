"""The texts as readable JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TextIO

from ascend_spec import ge_catalog

from .forms import word_of
from .read import BadLine, read_dump_lines
from .records import DumpRecord, TextDump


def show_dumps(path: Path, limit: int | None, target: TextIO) -> list[str]:
    """Write the texts of a file with their first records, ``None`` for all.

    The file is read to its end all the same. Returns what is no line of such a text. Raises
    ``OSError``.
    """
    problems: list[str] = []
    shown = number = 0
    current: TextDump | None = None
    target.write(f'{{"file": {json.dumps(path.name)}, "kind": "ge-dump", "texts": [')
    for _, part in read_dump_lines(path):
        if isinstance(part, BadLine):
            problems.append(f"{path}: line {part.line:,}: {part.text!r} is not {part.wanted}")
        elif isinstance(part, DumpRecord):
            number += 1
            if current is not None and (limit is None or shown < limit):
                target.write((",\n" if shown else "\n") + json.dumps(_shown(current, part)))
                shown += 1
        else:
            if current is not None:
                target.write(f"\n], {_end(current, number)}}}, ")
            head = {"dump": part.dump, "version": part.version, "stated": part.count}
            target.write(json.dumps(head, ensure_ascii=False)[:-1] + ', "records": [')
            current, shown, number = part, 0, 0
    if current is not None:
        target.write(f"\n], {_end(current, number)}}}")
    target.write("]}\n")
    return problems


def _end(dump: TextDump, number: int) -> str:
    end = {"number": number, "dropped_after": dump.dropped_after, "ended": dump.is_ended}
    return json.dumps(end)[1:-1]


def _shown(dump: TextDump, record: DumpRecord) -> dict[str, object]:
    spec = ge_catalog().dumps[dump.dump]
    known = ge_catalog().events[spec.space].by_text.get(record.event, ())
    found: dict[str, object] = {
        "time_ns": record.time,
        "thread": record.thread,
        "element": record.element,
        "event": record.event,
        "state": word_of(spec, record),
    }
    if known:
        found["event_names"] = [one.name for one in known]
    return found
