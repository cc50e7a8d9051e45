"""Files of texts that end with a NUL, through all their slices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ascend_ref.raw.damage import Damage, Damaged, few
from ascend_ref.raw.lines import LONGEST
from ascend_ref.raw.series import Slice
from ascend_ref.raw.slices import state_missing
from ascend_spec import mindspore_catalog

_AT_ONCE = 1 << 20
_END = b"\0"


class String(NamedTuple):
    """A text and where it begins. ``line``: the name of its kind; ``None`` for one of no kind."""

    path: Path
    offset: int
    line: str | None
    parts: Mapping[str, str]

    def damaged(self, message: str) -> Damage:
        """Damage of this text."""
        return Damage(self.path, message, self.offset)


def read_strings(slices: Sequence[Slice], kind: str, damage: list[Damage]) -> Iterator[String]:
    """The texts of a kind of file; one that a slice ends within goes on in the next one.

    A text of no kind is stated in ``damage`` by its byte. It is given as well, as are empty ones,
    since two others may belong together only where nothing is between them.
    """
    catalog = mindspore_catalog()
    grammar = catalog.grammars[catalog.files[kind].grammar or kind]
    with few(damage) as stated:
        state_missing(slices, stated)
        for path, offset, content in _contents(slices, stated):
            # A line feed in front of the NUL belongs to the end.
            text = content.decode("utf-8", "backslashreplace").removesuffix("\n")
            found = grammar.line_of(text)
            if found is not None:
                yield String(path, offset, found[0].line, found[1])
                continue
            if text:
                shown = text if len(text) <= 60 else f"{text[:57]}..."
                stated.append(Damage(path, f"no line of {grammar.grammar}: {shown!r}", offset))
            yield String(path, offset, None, {})


def _contents(slices: Sequence[Slice], damage: Damaged) -> Iterator[tuple[Path, int, bytes]]:
    """What stands in front of each end, and where it begins."""
    rest, start = b"", (Path(), 0)
    following = 0
    for one in slices:
        if rest and one.number > following:
            yield *start, rest
            rest = b""
        following = one.number + 1
        try:
            with one.path.open("rb") as file:
                offset = -len(rest)
                while chunk := file.read(_AT_ONCE):
                    *whole, rest = (rest + chunk).split(_END)
                    for content in whole:
                        yield *(start if offset < 0 else (one.path, offset)), content
                        offset += len(content) + 1
                    if offset >= 0:
                        start = one.path, offset
                    if len(rest) > LONGEST:
                        text = f"a text of more than {LONGEST:,} bytes"
                        damage.append(Damage(start[0], text, start[1]))
                        rest = b""
                        break
        except OSError as error:
            damage.append(Damage(one.path, error.strerror or str(error)))
    if rest:
        yield *start, rest
