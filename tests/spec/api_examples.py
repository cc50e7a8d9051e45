"""The requests and answers that seed document 004 prints, read from its text."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

DOCUMENT = Path(__file__).parents[2] / ".." / "shared" / "seeds" / "004_ac24de716738f284.txt"

COMMA_BEFORE_END = re.compile(r",(\s*[}\]])")
LOST_BACKSLASH = '159...",\\"detail'
"""The one quote within a text that the document leaves bare, where it shortens a path."""


@dataclass(frozen=True)
class Example:
    """One message; ``mended`` tells what it took to make JSON of it."""

    line: int
    message: dict[str, Any]
    mended: tuple[str, ...]

    @property
    def place(self) -> str:
        return f"{self.message['type']} {self.message['command']}"

    @property
    def content(self) -> Any:
        return self.message["params" if self.message["type"] == "request" else "body"]


def document() -> str:
    if not DOCUMENT.exists():
        pytest.skip("needs the seed documents in ../shared/seeds")
    return DOCUMENT.read_text(encoding="utf-8")


def examples() -> list[Example]:
    """Every object of the document that names a module, which only messages do."""
    text = document()
    found = []
    for match in re.finditer(r"^\{\n(?:.*\n)*?^\}$", text, re.MULTILINE):
        if '"moduleName"' not in match[0]:
            continue
        mended = []
        source = match[0]
        if LOST_BACKSLASH in source:
            source = source.replace(LOST_BACKSLASH, LOST_BACKSLASH.replace('"', '\\"', 1))
            mended.append("quote")
        if COMMA_BEFORE_END.search(source):
            source = COMMA_BEFORE_END.sub(r"\1", source)
            mended.append("comma")
        line = text.count("\n", 0, match.start()) + 1
        found.append(Example(line, json.loads(source), tuple(mended)))
    return found
