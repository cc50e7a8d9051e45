"""The lines of raw files of text: taken apart and written by one form each."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ascend_spec.core import Document, Grade, Loader
from ascend_spec.core.loader import reading, without
from ascend_spec.core.names import Field, NameForm
from ascend_spec.core.shows import Show, shown

PartType = Literal["whole", "decimal", "word", "words", "text"]
Times = Literal["optional", "one", "many", "first"]
Blanks = Literal["many", "colon"]

_FORMS: Mapping[PartType, Mapping[str, Any]] = {
    "whole": {"digits": 1, "longest": 20},
    "decimal": {"pattern": r"-?[0-9]{1,20}(?:\.[0-9]{1,20})?"},
    "word": {"pattern": r"[^\s]+"},
    "text": {"pattern": r"[^\n]*"},
}


@dataclass(frozen=True, slots=True)
class TextPart:
    """A changing part of lines; ``number``: how many words it is."""

    name: str
    type: PartType
    summary: str
    shows: Show
    unit: str | None = None
    number: int = 1
    before: str = ""
    optional: bool = False

    @property
    def field(self) -> Field:
        """How it is found in a line."""
        form = _FORMS["word" if self.type == "words" else self.type]
        if self.type == "words":
            word = form["pattern"]
            form = {"pattern": f"{word}(?: {word}){{{self.number - 1}}}"}
        return Field(self.name, before=self.before, optional=self.optional, **form)


@dataclass(frozen=True, slots=True)
class TextLine:
    """One kind of line.

    ``times``: how often it comes; ``first``: once, and whatever it is. ``blanks``: which blanks
    readers take for the one of the form: ``many``, any run of them, and those at both ends do not
    count; ``colon``, any number behind the first colon.
    """

    line: str
    form: NameForm
    summary: str
    times: Times = "one"
    blanks: Blanks | None = None

    def read(self, text: str) -> Mapping[str, str] | None:
        """The changing parts of a line without its end; ``None`` for a line of another form."""
        return self.form.named(self._plain(text))

    def write(self, **values: object) -> str:
        """The line with these parts, without its end.

        Raises ``KeyError`` for a part that is missing, ``ValueError`` for one that cannot be.
        """
        return self.form.of(**values)

    def _plain(self, text: str) -> str:
        if self.blanks == "many":
            return " ".join(text.split())
        if self.blanks == "colon":
            return re.sub(r"\s*:\s*", ": ", text.strip(), count=1)
        return text


@dataclass(frozen=True, slots=True)
class Grammar:
    """What a file of text is: its lines in order.

    ``repeats``: the lines come again and again, one block for each sample. ``unordered``: readers
    take the lines in any order.
    """

    grammar: str
    summary: str
    source: tuple[str, ...]
    grade: Grade
    lines: Mapping[str, TextLine]
    parts: Mapping[str, TextPart]
    repeats: bool = False
    unordered: bool = False

    def line_of(self, text: str) -> tuple[TextLine, Mapping[str, str]] | None:
        """The first kind of line that a text is, and its parts; ``None`` for none of them.

        A kind that is known by its place alone is not among them.
        """
        for line in self.lines.values():
            found = None if line.times == "first" else line.read(text)
            if found is not None:
                return line, found
        return None


def load_grammars(documents: Loader, name: str) -> Mapping[str, Grammar]:
    """The grammars of a document by name."""
    return {
        grammar: _grammar(documents, row, place)
        for grammar, row, place in documents.rows(name, "grammar")
    }


def _grammar(documents: Loader, row: Document, place: str) -> Grammar:
    with reading(place):
        parts = {
            name: documents.fact(TextPart, one, place, name=name, shows=shown(one, place))
            for name, one in row["parts"].items()
        }
        fields = {name: one.field for name, one in parts.items()}
        lines = {
            one["line"]: documents.fact(
                TextLine,
                one,
                place,
                form=NameForm.made(one["form"], fields),
                blanks=row.get("blanks"),
            )
            for one in row["lines"]
        }
        return documents.fact(Grammar, without(row, "blanks"), place, lines=lines, parts=parts)
