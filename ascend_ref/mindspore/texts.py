"""Raw files of text through all their slices, whose texts go on from one to the next."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ascend_ref.raw.damage import Damage, Damaged, few
from ascend_ref.raw.lines import LONGEST
from ascend_ref.raw.series import Slice
from ascend_ref.raw.slices import state_missing
from ascend_spec.raw.text import Ends, Grammar

_AT_ONCE = 1 << 20
_END: Mapping[Ends, bytes] = {"lf": b"\n", "nul": b"\0"}
_MARKS: Mapping[Ends, str] = {"lf": "\r\n", "nul": "\n"}


class Text(NamedTuple):
    """A text where it begins. ``line``: the name of its kind; ``None`` for one of no kind."""

    path: Path
    offset: int
    line: str | None
    parts: Mapping[str, str]
    content: str


def read_texts(
    slices: Sequence[Slice], grammars: Sequence[Grammar], damage: Damaged
) -> Iterator[Text]:
    """Each text with its parts, by the first of the grammars that has a line like it.

    All of them end their lines alike. A text of no kind is stated in ``damage`` by its byte, and
    given as well, since two others may belong together only where nothing is between them.
    """
    mark = _MARKS[grammars[0].ends]
    with few(damage) as stated:
        state_missing(slices, stated)
        for path, offset, content in _contents(slices, _END[grammars[0].ends], stated):
            text = content.decode("utf-8", "backslashreplace").rstrip(mark)
            found = next(filter(None, (one.line_of(text) for one in grammars)), None)
            if found is not None:
                yield Text(path, offset, found[0].line, found[1], text)
                continue
            if text:
                shown = text if len(text) <= 60 else f"{text[:57]}..."
                stated.append(
                    Damage(path, f"no line of {grammars[-1].grammar}: {shown!r}", offset)
                )
            yield Text(path, offset, None, {}, text)


def _contents(
    slices: Sequence[Slice], end: bytes, damage: Damaged
) -> Iterator[tuple[Path, int, bytes]]:
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
                    *whole, rest = (rest + chunk).split(end)
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
