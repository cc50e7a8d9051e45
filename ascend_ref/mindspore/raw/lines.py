"""Files of text whose lines may go on from one slice to the next."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from ascend_ref.raw.damage import Damage, Damaged, few
from ascend_ref.raw.lines import LONGEST
from ascend_ref.raw.series import Slice
from ascend_ref.raw.slices import state_missing
from ascend_spec import mindspore_catalog
from ascend_spec.raw.text import Grammar, TextLine

BITS = 63
"""Of the greatest number that is sound."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a file: the name of its kind, and its changing parts. ``number``: from 1."""

    path: Path
    number: int
    line: str
    parts: Mapping[str, str]

    def damaged(self, message: str) -> Damage:
        """Damage of this line."""
        return Damage(self.path, f"line {self.number:,}: {message}")


@dataclass(frozen=True, slots=True)
class _Piece:
    """Bytes of a line up to its end, or to that of the file."""

    path: Path
    number: int
    content: bytes


def read_slices(slices: Sequence[Slice], kind: str, damage: list[Damage]) -> Iterator[Line]:
    """The lines of a kind of file through its slices.

    Lines of no kind are left out and stated in ``damage`` by file and line, as is text that is no
    UTF-8, and a number of more than 63 bits. A line that a slice ends within goes on in the next
    one where neither piece is a line by itself.
    """
    file = mindspore_catalog().files[kind]
    grammar = mindspore_catalog().grammars[file.grammar or kind]
    with few(damage) as stated:
        state_missing(slices, stated)
        for piece in _joined(slices, grammar, stated):
            text = _text(piece, stated)
            if not text.strip():
                continue
            found = grammar.line_of(text)
            if found is None:
                shown = text if len(text) <= 60 else f"{text[:57]}..."
                message = f"line {piece.number:,}: no line of {grammar.grammar}: {shown!r}"
                stated.append(Damage(piece.path, message))
                continue
            line = Line(piece.path, piece.number, found[0].line, found[1])
            for name in _too_great(grammar, found):
                stated.append(line.damaged(f"{name} is too great: {line.parts[name]}"))
            yield line


def _too_great(grammar: Grammar, found: tuple[TextLine, Mapping[str, str]]) -> Iterator[str]:
    """The numbers of more bits than are sound; those of texts have one more."""
    for name, text in found[1].items():
        part = grammar.parts[name]
        bits = BITS + (part.shows.reason == "dictionary")
        if len(text) > 18 and part.type == "whole" and int(text) >> bits:
            yield name


def _text(piece: _Piece, damage: Damaged) -> str:
    content = piece.content.rstrip(b"\r\n")
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        message = f"line {piece.number:,}: no UTF-8 at its byte {error.start:,}"
        damage.append(Damage(piece.path, message))
        return content.decode("utf-8", "backslashreplace")


def _joined(slices: Sequence[Slice], grammar: Grammar, damage: Damaged) -> Iterator[_Piece]:
    """Lines, of which one that ends with its slice is held until the next one begins."""
    held: _Piece | None = None
    following = 0
    for one in slices:
        try:
            with one.path.open("rb") as file:
                for found in _pieces(file, one.path, damage):
                    piece = found
                    if held is not None:
                        goes_on = found.number == 1 and one.number == following
                        if goes_on and _is_one(held, found, grammar):
                            piece = _Piece(held.path, held.number, held.content + found.content)
                        else:
                            yield held
                    held = None if piece.content.endswith(b"\n") else piece
                    if held is None:
                        yield piece
        except OSError as error:
            damage.append(Damage(one.path, error.strerror or str(error)))
        following = one.number + 1
    if held is not None:
        yield held


def _is_one(first: _Piece, second: _Piece, grammar: Grammar) -> bool:
    """Whether two pieces are a line together rather than one each."""
    alone = (_is_line(one.content, grammar) for one in (first, second))
    return not all(alone)


def _is_line(content: bytes, grammar: Grammar) -> bool:
    text = content.rstrip(b"\r\n").decode("utf-8", "backslashreplace")
    return grammar.line_of(text) is not None


def _pieces(file: BinaryIO, path: Path, damage: Damaged) -> Iterator[_Piece]:
    number = 0
    while content := file.readline(LONGEST):
        number += 1
        if len(content) == LONGEST and not content.endswith(b"\n"):
            text = f"line {number:,}: more than {LONGEST:,} bytes"
            damage.append(Damage(path, text))
            while content and not content.endswith(b"\n"):
                content = file.readline(LONGEST)
            continue
        yield _Piece(path, number, content)
