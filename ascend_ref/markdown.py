"""How names and prose are written into Markdown: for a pipe, a terminal, or the site."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

Kind = Literal[
    "addition",
    "argument",
    "block",
    "capability",
    "carrier",
    "column",
    "command",
    "counter-group",
    "csv",
    "data",
    "document",
    "entity",
    "enum",
    "envelope",
    "epoch",
    "erratum",
    "error",
    "event",
    "flow",
    "generation",
    "header",
    "key",
    "layer",
    "layout",
    "level",
    "member",
    "metric",
    "pid-rule",
    "product",
    "record",
    "revision",
    "rule",
    "schema-version",
    "source",
    "switch",
    "table",
    "timeline",
    "trace-event",
    "trace-form",
    "trace-key",
    "value-type",
    "values",
    "vocabulary",
    "writer",
]

_CODE_SPAN = re.compile(r"(`[^`]*`)")
_SPECIAL = re.compile(r"\*|(?<![0-9A-Za-z])_|_(?![0-9A-Za-z])")


@dataclass(frozen=True)
class Style:
    """Markdown as it is written by hand: no links, and prose just as the spec has it."""

    escapes: bool = False

    def link(self, kind: Kind, name: str, text: str | None = None) -> str:
        """The name of another object of the spec, linked where there are pages to link."""
        return f"`{text or name}`"

    def links(self, kind: Kind, names: Iterable[str]) -> str:
        """Several of one kind, with commas between them."""
        return ", ".join(self.link(kind, name) for name in names)

    def prose(self, text: str) -> str:
        """Text of the spec, with what Markdown would take for markup disarmed; code spans stay."""
        if not self.escapes:
            return text
        parts = _CODE_SPAN.split(text)
        return "".join(part if part.startswith("`") else _escaped(part) for part in parts)


PLAIN = Style()
RENDERED = Style(escapes=True)


def _escaped(text: str) -> str:
    return _SPECIAL.sub(lambda found: f"\\{found.group()}", text.replace("<", "&lt;"))


def table(headers: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; bars and line breaks in cells are made harmless."""
    lines = [headers, ["---"] * len(headers), *rows]
    return "\n".join(f"| {' | '.join(_cell(cell) for cell in line)} |" for line in lines)


def facts(*pairs: tuple[str, str]) -> str:
    """A list of named facts; those without a value are left out."""
    return "\n".join(f"- **{name}:** {value}" for name, value in pairs if value)


def bullets(items: Iterable[str]) -> str:
    """A plain list."""
    return "\n".join(f"- {item}" for item in items)


def page(*blocks: str) -> str:
    """Blocks, of which empty ones are left out, separated by blank lines."""
    return "\n\n".join(block for block in blocks if block) + "\n"


def code(value: object) -> str:
    """A value in a code span."""
    return f"`{value}`"


def fenced(language: str, text: str) -> str:
    """A block of code."""
    return f"```{language}\n{text.strip()}\n```"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def anchor(heading: str) -> str:
    """The fragment that the site gives to a heading: its letters, digits and ``-_``, hyphens for
    spaces.
    """
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", heading.lower()).strip())
