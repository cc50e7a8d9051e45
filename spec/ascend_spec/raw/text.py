"""The lines of raw files of text: taken apart and written by one form each."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ascend_spec.core import Bounds, Document, Grade, Loader
from ascend_spec.core.loader import reading, without
from ascend_spec.core.names import Field, NameForm
from ascend_spec.core.packed import ClockName
from ascend_spec.core.shows import Show, shown

PartType = Literal["whole", "decimal", "word", "words", "text"]
Times = Literal["optional", "one", "many", "first"]
Blanks = Literal["many", "colon"]
Ends = Literal["lf", "nul"]
"""What a line ends with; a line feed in front of a NUL belongs to the end as well."""

_WORD = re.compile(r"\S+")
_FORMS: Mapping[PartType, Mapping[str, Any]] = {
    "whole": {"digits": 1, "longest": 20},
    "decimal": {"pattern": r"-?[0-9]{1,20}(?:\.[0-9]{1,20})?"},
    "word": {"pattern": r"[^\s]+"},
    "text": {"pattern": r"[^\n]*"},
}


@dataclass(frozen=True, slots=True)
class TextPart:
    """A changing part of lines; ``clock``: of a time; ``number``: how many words it is.

    ``shown``, ``hidden``: exporters show only lines that have one of the former in this part, and
    none in which it is one of the latter.
    """

    name: str
    type: PartType
    summary: str
    shows: Show
    unit: str | None = None
    clock: ClockName | None = None
    number: int = 1
    before: str = ""
    optional: bool = False
    shown: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()

    def is_shown(self, text: str) -> bool:
        """Whether exporters show a line with this text in the part."""
        wanted = not self.shown or any(one in text for one in self.shown)
        return wanted and text not in self.hidden

    @property
    def field(self) -> Field:
        """How it is found in a line."""
        form = _FORMS["word" if self.type == "words" else self.type]
        if self.type == "words":
            word = form["pattern"]
            form = {"pattern": f"{word}(?: {word}){{{self.number - 1}}}"}
        return Field(self.name, before=self.before, optional=self.optional, **form)


@dataclass(frozen=True, slots=True)
class TextLine(Bounds):
    """One kind of line, and where the family has days those on which it is written.

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

    def blanks_of(self, text: str) -> tuple[str, ...]:
        """What stands in front of, between and behind the words of a line, which readers pass over.

        Of ``colon`` the words are what is in front of the first colon and what is behind it.
        """
        if self.blanks == "many":
            return tuple(_WORD.split(text))
        if self.blanks is None:
            return "", ""
        head, colon, tail = text.partition(":")
        if not colon:
            return _around(text)
        start, before = _around(head)
        behind, end = _around(tail)
        return start, f"{before}:{behind}", end

    def spaced(self, text: str, blanks: Sequence[str]) -> str:
        """A line as :meth:`write` gives it with the blanks of :meth:`blanks_of`.

        Raises ``ValueError`` for blanks of a line of more or fewer words.
        """
        words = self._words(text)
        if len(blanks) != len(words) + 1:
            raise ValueError(f"blanks of {len(blanks) - 1} words for a line of {len(words)}")
        return blanks[0] + "".join(map("".join, zip(words, blanks[1:], strict=True)))

    def _plain(self, text: str) -> str:
        return (": " if self.blanks == "colon" else " ").join(self._words(text))

    def _words(self, text: str) -> list[str]:
        if self.blanks == "many":
            return text.split()
        if self.blanks is None:
            return [text]
        # No expression looks for blanks in front of the colon: it would try each of a long run.
        head, colon, tail = text.partition(":")
        return [head.strip(), tail.strip()] if colon else [text.strip()]


def _around(text: str) -> tuple[str, str]:
    """The blanks in front of a text and behind it; of blanks alone all are in front."""
    start = len(text) - len(text.lstrip())
    return text[:start], text[max(start, len(text.rstrip())) :]


@dataclass(frozen=True, slots=True)
class Grammar:
    """What a file of text is: its lines in order.

    ``repeats``: the lines come again and again, one block for each sample. ``unordered``: readers
    take the lines in any order. ``ends``: with what each line ends.
    """

    grammar: str
    summary: str
    source: tuple[str, ...]
    grade: Grade
    lines: Mapping[str, TextLine]
    parts: Mapping[str, TextPart]
    repeats: bool = False
    unordered: bool = False
    ends: Ends = "lf"

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
