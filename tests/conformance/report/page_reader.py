"""A page of a report as its readers have it: elements, texts, addresses, tables."""

from __future__ import annotations

from collections.abc import Mapping
from html.parser import HTMLParser

EMPTY = {"meta", "link", "br", "img", "input"}


class Page(HTMLParser):
    """What a page holds. Raises ``AssertionError`` where an element is not closed, or not open.

    ``elements`` are names with their attributes, ``tables`` the cells of each table by its caption,
    row by row, ``texts`` what stands in elements of a name, apart from scripts and styles.
    """

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, Mapping[str, str | None]]] = []
        self.tables: dict[str, list[list[str]]] = {}
        self.headings: list[tuple[str, str]] = []
        self.text = ""
        self._open: list[str] = []
        self._rows: list[list[str]] = []
        self._caption = ""
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in EMPTY:
            self._open.append(tag)
        if tag == "table":
            self._rows, self._caption = [], ""
        elif tag == "tr":
            self._rows.append([])
        elif tag in ("td", "th"):
            self._rows[-1].append("")
        elif tag in ("h1", "h2", "h3"):
            self.headings.append((tag, ""))
        elif tag == "br" and self._rows and self._rows[-1]:
            self._rows[-1][-1] += "\n"

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag
        if tag == "table":
            self.tables[self._caption.strip()] = self._rows

    def handle_data(self, data: str) -> None:
        if not self._open or self._open[-1] in ("script", "style"):
            return
        self.text += data
        if "caption" in self._open:
            self._caption += data
        elif {"td", "th"} & set(self._open):
            self._rows[-1][-1] += data
        elif {"h1", "h2", "h3"} & set(self._open):
            self.headings[-1] = (self.headings[-1][0], self.headings[-1][1] + data)

    def values(self, attribute: str) -> list[str]:
        """What stands in an attribute, wherever it is."""
        return [value for _, of in self.elements if (value := of.get(attribute)) is not None]
