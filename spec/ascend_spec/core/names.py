"""Names with changing parts: ``HBM {hbmId}/Read``, ``msprof_{timestamp}.db``.

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
    """A changing part of a name.

    ``values`` closes the set of texts; ``digits`` is the number of places that a number is filled
    up to with zeros, ``longest`` the most that it has; ``pattern``: what it may be otherwise.
    ``before``: what stands in front of it. ``optional``: neither has to be there. ``most``: how
    often it may come, each time with its ``before``.
    """

    name: str
    kind: FieldKind = "text"
    values: tuple[str, ...] = ()
    digits: int | None = None
    summary: str = ""
    longest: int | None = field(default=None, repr=False)
    pattern: str | None = field(default=None, repr=False)
    before: str = field(default="", repr=False)
    optional: bool = field(default=False, repr=False)
    most: int | None = field(default=None, repr=False)

    @property
    def expression(self) -> str:
        """The regular expression of the part."""
        text = escaped(self.before) + self._value
        if self.most is not None:
            return f"(?:{text}){{0,{self.most}}}"
        return f"(?:{text})?" if self.optional else text

    @property
    def group(self) -> str:
        """The same with a group of the part's name, in which a single value lacks ``before``."""
        name = self.name.replace("-", "_")
        if self.most is not None:
            return f"(?P<{name}>{self.expression})"
        text = f"{escaped(self.before)}(?P<{name}>{self._value})"
        return f"(?:{text})?" if self.optional else text

    @property
    def _value(self) -> str:
        if self.values:
            return f"(?:{'|'.join(map(escaped, self.values))})"
        if self.digits:
            return f"[0-9]{{{self.digits},{self.longest or ''}}}"
        return f"(?:{self.pattern})" if self.pattern else _EXPRESSIONS[self.kind]

    def text(self, values: Mapping[str, object]) -> str:
        """The part of the name for its value among those of all parts.

        Raises ``KeyError`` for a value that is missing, ``ValueError`` for one that cannot be.
        """
        if (self.optional or self.most is not None) and values.get(self.name) is None:
            return ""
        value = values[self.name]
        written = f"{value:0{self.digits}d}" if isinstance(value, int) and self.digits else value
        text = f"{self.before}{written}"
        if re.fullmatch(self.expression, text) is None:
            raise ValueError(f"{{{self.name}}} cannot be {value!r}")
        return text


@dataclass(frozen=True)
class NameForm:
    """A name with its changing parts in braces; each of them is described by a field."""

    template: str
    fields: Mapping[str, Field] = field(default_factory=dict, hash=False)

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
        return "{" not in self.template

    def fits(self, name: str) -> bool:
        """Whether a name has this form."""
        return name.endswith(self._end) and self._compiled.fullmatch(name) is not None

    def named(self, name: str) -> Mapping[str, str] | None:
        """The changing parts of a name as texts, those that are there; ``None`` where the name has
        another form.
        """
        found = self._compiled.fullmatch(name) if name.endswith(self._end) else None
        if found is None:
            return None
        return {part: text for part, text in found.groupdict().items() if text is not None}

    def of(self, **values: object) -> str:
        """The name with these parts; one that need not be there may be left out.

        Raises ``KeyError`` for a part that is missing, ``ValueError`` for one that cannot be.
        """
        return self._joined(str, lambda part: part.text(values))

    @cached_property
    def _end(self) -> str:
        """How every such name ends; empty where it ends with a part."""
        return self.template.rpartition("}")[2]

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self._joined(escaped, lambda part: part.group))

    def _joined(self, fixed: Callable[[str], str], changing: Callable[[Field], str]) -> str:
        return "".join(
            fixed(text) + ("" if name is None else changing(self.fields[name]))
            for text, name, _, _ in Formatter().parse(self.template)
        )


def escaped(text: str) -> str:
    """Text as a regular expression that stands for itself."""
    return _SPECIAL.sub(lambda found: f"\\{found.group()}", text)
