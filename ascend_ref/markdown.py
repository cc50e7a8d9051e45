"""How names and prose are written into Markdown: for a pipe, a terminal, or the site."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Self

Fact = tuple[str, Iterable[str] | None]
"""The name of a fact, and a text or several."""

_CODE_SPAN = re.compile(r"(`[^`]*`)")
_SPECIAL = re.compile(r"\*|(?<![0-9A-Za-z])_|_(?![0-9A-Za-z])")


@dataclass(frozen=True)
class Style:
    """Markdown as it is written by hand: no links, and prose just as the spec has it.

    ``level`` is that of the next heading.
    """

    escapes: bool = False
    level: int = 1

    def heading(self, title: object) -> str:
        """The heading of what is written."""
        return f"{'#' * self.level} {title}"

    def part(self, title: object) -> str:
        """What stands above a part of what is written: a heading below its own, or bold words where
        several things share a page, so that its contents and the search list things, not parts.
        """
        return f"## {title}" if self.level == 1 else f"**{title}**"

    def below(self, levels: int = 1) -> Self:
        """The style of a section within."""
        return replace(self, level=self.level + levels)

    def page(self, title: object, summary: str | None, *parts: str | Fact) -> str:
        """A heading and what stands below it: a text of the spec, then blocks and facts."""
        return page(self.heading(title), self.prose(summary), *parts)

    def link(self, kind: str, name: str, text: str | None = None) -> str:
        """The name of another object of the spec, linked where there are pages to link."""
        return f"`{text or name}`"

    def links(self, kind: str, names: Iterable[str]) -> str:
        """Several of one kind, with commas between them."""
        return ", ".join(self.link(kind, name) for name in names)

    def prose(self, text: str | None) -> str:
        """Text of the spec, with what Markdown would take for markup disarmed; code spans stay."""
        if not self.escapes or not text:
            return text or ""
        parts = _CODE_SPAN.split(text)
        return "".join(part if part.startswith("`") else _escaped(part) for part in parts)

    def see(self, errata: Iterable[str]) -> str:
        """A remark that refers to errata; nothing where there are none."""
        links = self.links("erratum", errata)
        return f"See {links}" if links else ""


PLAIN = Style()
RENDERED = Style(escapes=True)


def _escaped(text: str) -> str:
    return _SPECIAL.sub(lambda found: f"\\{found.group()}", text.replace("<", "&lt;"))


def table(headers: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; bars and line breaks in cells are made harmless."""
    lines = [headers, ["---"] * len(headers), *rows]
    return "\n".join(f"| {' | '.join(_cell(cell) for cell in line)} |" for line in lines)


def facts(*pairs: Fact) -> str:
    """A list of named facts; those without a value are left out."""
    texts = ((name, value if isinstance(value, str) else commas(value)) for name, value in pairs)
    return "\n".join(f"- **{name}:** {text}" for name, text in texts if text)


def commas(texts: Iterable[str] | None) -> str:
    """Texts with commas between them."""
    return ", ".join(texts or ())


def sentences(*remarks: str) -> str:
    """Remarks, of which empty ones are left out, as sentences."""
    first, *others = [one.rstrip(".") for one in remarks if one] or [""]
    texts = (first, *(one[0].upper() + one[1:] for one in others))
    return f"{'. '.join(texts)}." if first else ""


def bullets(items: Iterable[str]) -> str:
    """A plain list."""
    return "\n".join(f"- {item}" for item in items)


def page(*parts: str | Fact) -> str:
    """Blocks or pages, separated by blank lines; facts that follow each other are one list.

    Empty blocks are left out.
    """
    blocks: list[str] = []
    pairs: list[Fact] = []
    for part in (*parts, ""):
        if not isinstance(part, str):
            pairs.append(part)
            continue
        blocks += facts(*pairs), part
        pairs = []
    return "\n\n".join(block.rstrip("\n") for block in blocks if block) + "\n"


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
