"""Reading the texts: one file may have several, since they are appended to it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from ascend_spec import ge_catalog
from ascend_spec.ge.reports import DumpName

from .forms import LONGEST, heads, overflows, records, state_of
from .records import DumpRecord, TextDump


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line of no form; ``line``: its number from 1. ``wanted``: what should stand there."""

    line: int
    text: str
    wanted: str


Part: TypeAlias = "TextDump | DumpRecord | BadLine"


def is_dump(path: Path) -> bool:
    """Whether a file begins as these texts do. Raises ``OSError``."""
    with path.open("rb") as file:
        text = file.readline(LONGEST).decode("utf-8", "replace").rstrip("\r\n")
    return any(form.fullmatch(text) for form in heads().values())


def read_dumps(path: Path) -> tuple[list[TextDump], list[BadLine]]:
    """The texts of a file, and lines that are of no form. Raises ``OSError``."""
    found: list[TextDump] = []
    bad: list[BadLine] = []
    for _, part in read_dump_lines(path):
        if isinstance(part, TextDump):
            found.append(part)
        elif isinstance(part, BadLine):
            bad.append(part)
        else:
            found[-1].records.append(part)
    return found, bad


def read_dump_lines(path: Path) -> Iterator[tuple[int, Part]]:
    """Texts as they begin, without their records; each record; lines of no form.

    Each with the number of its line. A text states whether it ended when the next one is given, or
    at the end. Raises ``OSError``.
    """
    catalog = ge_catalog().dumps
    open_: TextDump | None = None
    for line, text in _lines(path):
        begun = None if text is None else _begun(text)
        if begun is not None:
            if open_ is not None:
                open_.is_ended = False
            open_ = begun
            yield line, begun
        elif text is None or open_ is None:
            wanted = " or ".join(one.head for one in catalog.values())
            yield line, BadLine(line, (text or "")[:200], wanted)
        else:
            dump = catalog[open_.dump]
            found = _record(open_.dump, text)
            if found is not None:
                yield line, found
            elif text == dump.end:
                open_ = None
            elif (lost := overflows()[open_.dump].fullmatch(text)) is not None:
                open_.dropped_of, open_.dropped_after = int(lost["count"]), int(lost["capacity"])
            else:
                yield line, BadLine(line, text[:200], dump.record)
    if open_ is not None:
        open_.is_ended = False


def _begun(text: str) -> TextDump | None:
    for name, form in heads().items():
        if found := form.fullmatch(text):
            return TextDump(name, found["version"], int(found["count"]))
    return None


def _record(name: DumpName, text: str) -> DumpRecord | None:
    found = records()[name].fullmatch(text)
    if found is None:
        return None
    dump = ge_catalog().dumps[name]
    state = state_of(dump, found["element"], found["event"], found["state"])
    if state is None:
        return None
    own = found["element"], found["event"]
    return DumpRecord(int(found["time"]), int(found["thread"]), *own, state)


def _lines(path: Path) -> Iterator[tuple[int, str | None]]:
    """Lines by their numbers; nothing for one that is too long or no UTF-8."""
    line = 0
    with path.open("rb") as file:
        while content := file.readline(LONGEST):
            line += 1
            if len(content) == LONGEST and not content.endswith(b"\n"):
                yield line, None
                while content and not content.endswith(b"\n"):
                    content = file.readline(LONGEST)
                continue
            try:
                yield line, content.decode().rstrip("\r\n")
            except UnicodeDecodeError:
                yield line, None
