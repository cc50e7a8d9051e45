"""Inputs with one random change each, and what an accepted change was."""

from __future__ import annotations

import csv
import io
import json
import random
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from ascend_ref.bin import read_blocks

SOURCE_CODE = 0x01
TOKENS = (
    b"-1",
    b"1e308",
    b"NaN",
    b"",
    b"9" * 30,
    b"null",
    b'"',
    b"\0",
    b"\xff",
    b"N/A",
    b"{}",
    b",",
)
NUMBER = re.compile(rb"-?[0-9]+(?:\.[0-9]+)?")

UNDETECTABLE = {
    "same": "another spelling of the same content",
    "value": "a number became another of the same form, within its range",
    "text": "a name became another",
    "rows": "a whole row is absent or stands elsewhere, and nothing else in the file counts them",
}
"""Kinds of changes that no reader of the file alone can know of, each with the reason."""


def mutant(draw: random.Random, content: bytes) -> bytes:
    """The content with one change; never the content itself."""
    while True:
        changed = draw.choice(CHANGES)(draw, content)
        if changed != content:
            return changed


def _flip(draw: random.Random, content: bytes) -> bytes:
    at = draw.randrange(len(content))
    return content[:at] + bytes([content[at] ^ (1 << draw.randrange(8))]) + content[at + 1 :]


def _byte(draw: random.Random, content: bytes) -> bytes:
    at = draw.randrange(len(content))
    return content[:at] + bytes([draw.randrange(256)]) + content[at + 1 :]


def _cut(draw: random.Random, content: bytes) -> bytes:
    return content[: draw.randrange(len(content))]


def _without(draw: random.Random, content: bytes) -> bytes:
    start, length = draw.randrange(len(content)), draw.choice((1, 2, 5, 40))
    return content[:start] + content[start + length :]


def _twice(draw: random.Random, content: bytes) -> bytes:
    start, length = draw.randrange(len(content)), draw.choice((1, 2, 5, 40))
    return content[: start + length] + content[start:]


def _token(draw: random.Random, content: bytes) -> bytes:
    """A number, or what stands at some place, becomes something else."""
    numbers = [found.span() for found in NUMBER.finditer(content)] or [(0, 1)]
    start, end = draw.choice(numbers)
    return content[:start] + draw.choice(TOKENS) + content[end:]


def _line(draw: random.Random, content: bytes) -> bytes:
    """A line is moved or left out."""
    lines = content.splitlines(keepends=True)
    one = lines.pop(draw.randrange(len(lines)))
    if lines and draw.random() < 0.5:
        lines.insert(draw.randrange(len(lines)), one)
    return b"".join(lines) or b"\n"


CHANGES: tuple[Callable[[random.Random, bytes], bytes], ...] = (
    *(_flip, _byte, _cut, _without, _twice, _token, _line),
)


def of_sheet(before: bytes, after: bytes) -> str:
    """The kind of a change of a CSV file that was accepted."""
    old, new = (
        list(csv.reader(io.StringIO(one.decode("utf-8", "replace")))) for one in (before, after)
    )
    if old == new:
        return "same"
    if old[:1] != new[:1]:
        return "header"
    if len(old) != len(new) or sorted(old) == sorted(new):
        return "rows"
    pairs = [pair for rows in zip(old, new, strict=True) for pair in zip(*rows, strict=False)]
    kinds = {_of_cells(*pair) for pair in pairs if pair[0] != pair[1]}
    return next((one for one in ("form", "text", "value") if one in kinds), "same")


def _of_cells(before: str, after: str) -> str:
    if not NUMBER.fullmatch(before.strip().encode()):
        return "text"
    try:
        return "same" if float(after) == float(before) else "value"
    except ValueError:
        return "form"


def of_json(before: bytes, after: bytes) -> str:
    """The kind of a change of a JSON text that was accepted."""
    kinds = set(_differences(json.loads(before), json.loads(after)))
    order = ("type", "rows", "text", "value")
    return next((one for one in order if one in kinds), "same")


def _differences(old: Any, new: Any) -> Iterator[str]:
    if isinstance(old, dict) and isinstance(new, dict):
        if old.keys() != new.keys():  # keys that schemas ask for are missed: these are names
            yield "text" if len(old) == len(new) else "rows"
        for key in old.keys() & new.keys():
            yield from _differences(old[key], new[key])
    elif isinstance(old, list) and isinstance(new, list):
        if len(old) != len(new):
            yield "rows"
        for pair in zip(old, new, strict=False):
            yield from _differences(*pair)
    elif old != new or type(old) is not type(new):
        numbers = all(isinstance(one, (int, float)) for one in (old, new))
        texts = isinstance(old, str) and isinstance(new, str)
        yield "value" if numbers else "text" if texts else "type"


def of_database(before: Path, after: Path) -> str:
    """The kind of a change of a database that was accepted."""
    old, new = _dump(before), _dump(after)
    if old == new:
        return "same"
    if old.keys() != new.keys():
        return "schema"
    kinds = set()
    for table in old:
        if len(old[table]) != len(new[table]) or sorted(map(repr, old[table])) == sorted(
            map(repr, new[table])
        ):
            kinds |= {"rows"} if old[table] != new[table] else set()
            continue
        for rows in zip(old[table], new[table], strict=True):
            kinds |= {_of_values(*pair) for pair in zip(*rows, strict=True) if pair[0] != pair[1]}
    return next((one for one in ("type", "rows", "text", "value") if one in kinds), "same")


def _of_values(before: object, after: object) -> str:
    numbers = all(isinstance(one, (int, float)) for one in (before, after))
    texts = isinstance(before, str) and isinstance(after, str)
    return "value" if numbers else "text" if texts else "type"


def _dump(path: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Rows by the statement of their table; blanks of any kind are one, and names may be BLOBs."""
    with closing(sqlite3.connect(path)) as database:
        database.text_factory = lambda text: text.decode("utf-8", "replace")
        select = "SELECT sql, CAST(name AS TEXT) FROM sqlite_schema WHERE type = 'table'"
        tables = database.execute(select).fetchall()
        return {
            " ".join(sql.upper().split()): database.execute(f'SELECT * FROM "{name}"').fetchall()
            for sql, name in tables
        }


def of_blocks(before: bytes, after: bytes) -> str:
    """The kind of a change of a block file that was accepted."""
    (old, code), (new, other_code) = _blocks(before), _blocks(after)
    if [kind for kind, _ in old] != [kind for kind, _ in new]:
        return "blocks"
    changed = [
        (kind, was, now) for (kind, was), (_, now) in zip(old, new, strict=True) if was != now
    ]
    if not changed:
        return "source" if code != other_code else "container"
    ((kind, was, now),) = changed
    try:
        return of_json(was, now)
    except ValueError:
        return f"bytes of 0x{kind:02x}"


def _blocks(content: bytes) -> tuple[list[tuple[int, bytes]], list[bytes]]:
    """What blocks hold, by type, of source code the path; and the source code by itself."""
    file = read_blocks(content, "")
    held, code = [], []
    for entry in file.entries:
        payload = bytes(file.payload(entry))
        if entry.type == SOURCE_CODE:
            code.append(payload)
            payload = file.path(entry)
        held.append((entry.type, payload))
    return held, code
