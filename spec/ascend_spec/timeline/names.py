"""Names with changing parts: ``HBM {hbmId}/Read``.

A regular expression made here is understood alike by Python, RE2 (DuckDB), Rust and ECMA-262.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from string import Formatter
from typing import Literal

FieldKind = Literal["text", "integer"]

_EXPRESSIONS: Mapping[FieldKind, str] = {"text": r"[\s\S]*", "integer": "-?[0-9]+"}
_SPECIAL = re.compile(r"[\\.+*?()|\[\]{}^$]")


@dataclass(frozen=True, slots=True)
class Field:
    """A changing part of a name. ``values`` closes the set of texts; ``digits`` is the number of
    places that a number is filled up to with zeros.
    """

    name: str
    kind: FieldKind = "text"
    values: tuple[str, ...] = ()
    digits: int | None = None
    summary: str = ""

    @property
    def expression(self) -> str:
        """The regular expression of the part."""
        if self.values:
            return f"(?:{'|'.join(map(escaped, self.values))})"
        return f"[0-9]{{{self.digits},}}" if self.digits else _EXPRESSIONS[self.kind]

    def text(self, value: object) -> str:
        """The part of the name for a value; raises ``ValueError`` for one that cannot be."""
        text = f"{value:0{self.digits}d}" if isinstance(value, int) and self.digits else str(value)
        if re.fullmatch(self.expression, text) is None:
            raise ValueError(f"{{{self.name}}} cannot be {text!r}")
        return text


@dataclass(frozen=True)
class NameForm:
    """A name with its changing parts in braces; each of them is described by a field."""

    template: str
    fields: Mapping[str, Field] = field(default_factory=dict)

    @classmethod
    def made(cls, template: str, known: Mapping[str, Field]) -> NameForm:
        """The form of a template; a part of which nothing is known is any text."""
        names = [name for _, name, _, _ in Formatter().parse(template) if name is not None]
        return cls(template, {name: known.get(name, Field(name)) for name in names})

    @cached_property
    def expression(self) -> str:
        """The regular expression of the whole name, without anchors."""
        return self._joined(escaped, lambda part: part.expression)

    @cached_property
    def pattern(self) -> str:
        """The regular expression with anchors, for those who search."""
        return f"^{self.expression}$"

    @property
    def is_fixed(self) -> bool:
        """Whether the name has no changing part."""
        return not self.fields

    def fits(self, name: str) -> bool:
        """Whether a name has this form."""
        return self._compiled.fullmatch(name) is not None

    def named(self, name: str) -> Mapping[str, str] | None:
        """The changing parts of a name as texts, ``None`` where the name has another form."""
        found = self._compiled.fullmatch(name)
        return None if found is None else found.groupdict()

    def of(self, **values: object) -> str:
        """The name with these parts.

        Raises ``KeyError`` for a part that is missing, ``ValueError`` for one that cannot be.
        """
        return self._joined(str, lambda part: part.text(values[part.name]))

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self._joined(escaped, lambda part: f"(?P<{part.name}>{part.expression})"))

    def _joined(self, fixed: Callable[[str], str], changing: Callable[[Field], str]) -> str:
        return "".join(
            fixed(text) + ("" if name is None else changing(self.fields[name]))
            for text, name, _, _ in Formatter().parse(self.template)
        )


def escaped(text: str) -> str:
    """Text as a regular expression that stands for itself."""
    return _SPECIAL.sub(lambda found: f"\\{found.group()}", text)
