"""Names of files and folders with changing parts: ``msprof_{timestamp}.db``."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from string import Formatter


@dataclass(frozen=True, slots=True)
class Part:
    """A changing part of names.

    ``digits``: least and most of a number; ``pattern``: what it may be otherwise; ``values``: its
    closed set. ``before``: what stands in front of it. ``optional``: neither has to be there.
    ``most``: how often it may come, each time with its ``before``.
    """

    id: str
    summary: str
    digits: tuple[int, int] | None = None
    pattern: str | None = None
    values: tuple[str, ...] = ()
    before: str = ""
    optional: bool = False
    most: int | None = None

    @property
    def expression(self) -> str:
        """The regular expression; the group of the part's name holds it without ``before``."""
        group, before = self.id.replace("-", "_"), re.escape(self.before)
        if self.most is not None:
            return f"(?P<{group}>(?:{before}{self._value}){{0,{self.most}}})"
        whole = f"{before}(?P<{group}>{self._value})"
        return f"(?:{whole})?" if self.optional else whole

    @property
    def _value(self) -> str:
        if self.values:
            longest_first = sorted(self.values, key=len, reverse=True)
            return "|".join(map(re.escape, longest_first))
        if self.digits is not None:
            return f"[0-9]{{{self.digits[0]},{self.digits[1]}}}"
        return self.pattern or ""

    def text(self, value: object) -> str:
        """The part as it is written; ``ValueError`` for what it cannot be."""
        if value is None and (self.optional or self.most is not None):
            return ""
        least = self.digits[0] if self.digits else 0
        text = self.before + (f"{value:0{least}}" if isinstance(value, int) else str(value))
        if re.fullmatch(self.expression, text) is None:
            raise ValueError(f"{{{self.id}}} cannot be {value!r}")
        return text


@dataclass(frozen=True)
class Name:
    """A name with parts in braces; ``part`` gives them by their ids."""

    template: str
    part: Callable[[str], Part]

    @cached_property
    def suffix(self) -> str:
        """How every such name ends; empty where it ends with a part."""
        *_, (text, part, _, _) = Formatter().parse(self.template)
        return "" if part else text

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """What the whole name looks like; each part is a group."""
        return re.compile(
            "".join(
                re.escape(text) + (self.part(part).expression if part else "")
                for text, part, _, _ in Formatter().parse(self.template)
            )
        )

    def format(self, **values: object) -> str:
        """The name for values of its parts; one that need not be there may be left out.

        Raises ``ValueError`` for a value that a part cannot have.
        """
        return "".join(
            text + (self.part(part).text(values.get(part)) if part else "")
            for text, part, _, _ in Formatter().parse(self.template)
        )

    def parse(self, name: str) -> dict[str, str] | None:
        """The parts of a name, those that are there; ``None`` for another name."""
        if not name.endswith(self.suffix):
            return None
        found = self.pattern.fullmatch(name)
        return None if found is None else {k: v for k, v in found.groupdict().items() if v}
