"""Raw files of text: their lines by the grammar of the spec."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from ascend_spec.raw import Grammar

from .damage import Damage

LONGEST = 1 << 20
"""Bytes of one line; a longer one is damage."""


def read_lines(
    path: Path, grammar: Grammar, damage: list[Damage]
) -> Iterator[tuple[str, Mapping[str, str]]]:
    """The name of each line's kind, and its changing parts.

    A kind that is known by its place is the first line of the file, whatever that is. Lines that
    are of no kind are stated in ``damage`` by their byte.
    """
    heads = [line for line in grammar.lines.values() if line.times == "first"]
    for offset, text in _lines(path, damage):
        if heads and offset == 0:
            yield heads[0].line, heads[0].read(text) or {}
            continue
        found = grammar.line_of(text)
        if found is None:
            shown = text if len(text) <= 60 else f"{text[:57]}..."
            damage.append(Damage(path, f"no line of {grammar.grammar}: {shown!r}", offset))
        else:
            line, parts = found
            yield line.line, parts


def _lines(path: Path, damage: list[Damage]) -> Iterator[tuple[int, str]]:
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
