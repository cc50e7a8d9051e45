"""The source text of a kernel, and its code: instructions at addresses, each from a line of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from string import Template

INSTRUCTION_BYTES = 4
CODE_ALIGNMENT = 256
FIRST_ADDRESS = 0x10CFA000
"""Where the code of a kernel lies, as in the document's example of a call stack (seed 004)."""

SET, WAIT, BARRIER, END = "SET_FLAG", "WAIT_FLAG", "BAR", "END"
CROSS_SET, CROSS_WAIT = "SET_INTRA_BLOCK", "WAIT_INTRA_BLOCK"

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


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction.

    index: place in the kernel's list of all. address: of its first byte. pipe: where it runs.
    name: mnemonic. operands: the rest of its text. line: of the source, from 1. registers: general
    purpose registers in use.
    """

    index: int
    address: int
    pipe: str
    name: str
    operands: str
    line: int
    registers: int

    @property
    def text(self) -> str:
        """Mnemonic and operands."""
        return f"{self.name} {self.operands}".rstrip()


@dataclass(slots=True)
class Code:
    """All instructions of a kernel in the order of their addresses, function after function."""

    source: SourceText
    instructions: list[Instruction] = field(default_factory=list)
    _next: int = FIRST_ADDRESS
    _events: dict[tuple[str, str], int] = field(default_factory=dict)

    def events(self, source: str, target: str, count: int) -> int:
        """The first of so many numbers for flags from one pipe to another, used by nobody else."""
        first = self._events.get((source, target), 0)
        self._events[source, target] = first + count
        return first

    def function(self) -> None:
        """Begin the next function, at an aligned address."""
        self._next = -(-self._next // CODE_ALIGNMENT) * CODE_ALIGNMENT

    def add(self, pipe: str, name: str, operands: str, mark: str) -> Instruction:
        """The next instruction; ``mark`` names its line in the source."""
        number = len(self.instructions)
        one = Instruction(
            index=number,
            address=self._next,
            pipe=pipe,
            name=name,
            operands=operands,
            line=self.source.line(mark),
            registers=2 + operands.count("X") * 2 + number % 5,
        )
        self.instructions.append(one)
        self._next += INSTRUCTION_BYTES
        return one
