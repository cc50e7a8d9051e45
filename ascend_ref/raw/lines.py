"""Raw files of text: their lines by the grammar of the spec."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path

from ascend_spec.raw.text import Ends, Grammar, TextLine

from .damage import Damage, Damaged

LONGEST = 1 << 20
"""Bytes of one line; a longer one is damage."""

_ENDS: Mapping[Ends, bytes] = {"lf": b"\r\n", "nul": b"\n\0"}
_NUL_ENDED = re.compile(rb"[^\0]+\0?|\0")


def read_lines(
    path: Path, grammar: Grammar, damage: Damaged
) -> Iterator[tuple[str, Mapping[str, str]]]:
    """The name of each line's kind, and its changing parts.

    A kind that is known by its place is the first line of the file, whatever that is. Lines that
    are of no kind are stated in ``damage`` by their byte.
    """
    for offset, text in _lines(path, damage):
        found = _line_of(text, grammar, is_first=offset == 0)
        if found is None:
            shown = text if len(text) <= 60 else f"{text[:57]}..."
            damage.append(Damage(path, f"no line of {grammar.grammar}: {shown!r}", offset))
        else:
            line, parts = found
            yield line.line, parts


@dataclass(frozen=True, slots=True)
class Entry:
    """A line as it stands in a file: its kind and changing parts, and what readers pass over.

    ``line``: the name of the kind; ``None`` for a line of no kind, which is ``content`` alone.
    ``blanks``: as ``TextLine.blanks_of`` gives them; ``None`` for those of the form. ``end``: what
    the line ends with, nothing at the end of some files.
    """

    line: str | None
    parts: Mapping[str, object] = field(default_factory=dict)
    blanks: tuple[str, ...] | None = None
    end: bytes = b"\n"
    content: bytes = b""


def decode_lines(content: bytes, grammar: Grammar) -> list[Entry]:
    """The lines of a whole file, of which :func:`encode_lines` makes the same bytes."""
    lines = BytesIO(content) if grammar.ends == "lf" else _NUL_ENDED.findall(content)
    return [_entry(line, grammar, place == 0) for place, line in enumerate(lines)]


def encode_lines(entries: Iterable[Entry], grammar: Grammar) -> bytes:
    """A file of these lines.

    Raises ``KeyError`` for a part that is missing, ``ValueError`` for one that cannot be, and for
    blanks of another number of words.
    """
    return b"".join(_content(one, grammar) + one.end for one in entries)


def _entry(content: bytes, grammar: Grammar, is_first: bool) -> Entry:
    plain = content.rstrip(_ENDS[grammar.ends])
    end = content[len(plain) :]
    try:
        text = plain.decode()
    except UnicodeDecodeError:
        return Entry(None, end=end, content=plain)
    found = _line_of(text, grammar, is_first)
    if found is None:
        return Entry(None, end=end, content=plain)
    return Entry(found[0].line, found[1], found[0].blanks_of(text), end)


def _line_of(
    text: str, grammar: Grammar, is_first: bool
) -> tuple[TextLine, Mapping[str, str]] | None:
    for line in grammar.lines.values():
        if is_first and line.times == "first":
            return line, line.read(text) or {}
    return grammar.line_of(text)


def _content(entry: Entry, grammar: Grammar) -> bytes:
    if entry.line is None:
        return entry.content
    line = grammar.lines[entry.line]
    text = line.write(**entry.parts)
    return (text if entry.blanks is None else line.spaced(text, entry.blanks)).encode()


def _lines(path: Path, damage: Damaged) -> Iterator[tuple[int, str]]:
    offset = 0
    try:
        with path.open("rb") as file:
            while line := file.readline(LONGEST):
                if len(line) == LONGEST and not line.endswith(b"\n"):
                    damage.append(Damage(path, f"a line of more than {LONGEST:,} bytes", offset))
                    return
                text = line.rstrip(b"\r\n").decode("utf-8", "backslashreplace")
                if text.strip():
                    yield offset, text
                offset += len(line)
    except OSError as error:
        damage.append(Damage(path, error.strerror or str(error)))
