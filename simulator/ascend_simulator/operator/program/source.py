"""The source text of a kernel, and which of its lines an instruction comes from."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from string import Template

FOLDER = "/home/developer/operators"
_MARK = re.compile(r"\s*//@ ?([a-z0-9 -]+)$")


@dataclass(frozen=True, slots=True)
class SourceText:
    """A source file. path: where it was compiled; marks: the lines (from 1) by name."""

    path: str
    text: str
    marks: Mapping[str, int]

    def line(self, mark: str) -> int:
        """The line of a mark. Raises ``KeyError``."""
        return self.marks[mark]


def source(kind: str, values: Mapping[str, object]) -> SourceText:
    """The source of a kind of operator, with its constants filled in.

    A line of the file in ``sources`` ends with ``//@ name, name`` where instructions come from it.
    """
    name, template = _template(kind)
    lines: list[str] = []
    marks: dict[str, int] = {}
    for number, line in enumerate(template.substitute(values).splitlines(), start=1):
        found = _MARK.search(line)
        lines.append(line[: found.start()] if found else line)
        if found:
            marks |= dict.fromkeys(found[1].split(), number)
    return SourceText(f"{FOLDER}/{kind}/op_kernel/{name}", "\n".join(lines) + "\n", marks)


@cache
def _template(kind: str) -> tuple[str, Template]:
    name = f"{kind.replace('-', '_')}_custom.cpp"
    return name, Template((files(__package__) / "sources" / name).read_text(encoding="utf-8"))
