"""One capture being parsed: what is read, what is written, and what cannot be read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

from ascend_ref.raw.damage import Damage
from ascend_ref.raw.series import Slices
from ascend_spec import mindspore_catalog
from ascend_spec.core import DAYS, Bounds
from ascend_spec.mindspore import LineEnd, LineKind, Reads, TableColumn

from ..folder import RawCapture
from .shares import OfRank

LINE_ENDS: Mapping[LineEnd, str] = {"crlf": "\r\n", "lf": "\n"}


@dataclass(eq=False)
class Run:
    """The parsing of one capture by the facts of a day into a folder.

    ``line_end``: of files of CSV. ``damage``: what of the raw files cannot be read. ``written``:
    names of files, in order. ``of_rank``: which rank it is of how many, where that is known; its
    number stands in names, else that of the device.
    """

    capture: RawCapture
    day: str
    folder: Path
    line_end: LineEnd = "crlf"
    damage: list[Damage] = field(default_factory=list)
    written: list[str] = field(default_factory=list)
    of_rank: OfRank | None = None

    @property
    def number(self) -> str:
        """What stands for the device in names of intermediate files."""
        return self.capture.device if self.of_rank is None else str(self.of_rank.rank)

    @cached_property
    def takes(self) -> Reads:
        """What the parsers of the day take of the capture."""
        return "msprof" if self.capture.exports(self.day) else "raw"

    def slices(self, kind: str) -> Slices | None:
        """The slices of a kind of raw files, ``None`` where there are none."""
        found = self.capture.files.get(kind)
        return None if found is None else found.slices

    def holds(self, bounds: Bounds) -> bool:
        """Whether a fact holds on the day."""
        return DAYS.in_force(bounds, self.day)

    def way(self, method: str) -> str:
        """How the parsers of the day do something, one of the ways of a method."""
        return mindspore_catalog().methods[method].way_on(self.day)

    def reads(self, kind: str) -> bool:
        """Whether there is a kind of raw files, and the parsers of the day read it."""
        return kind in self.capture.files and self.holds(mindspore_catalog().files[kind])

    def holds_records(self, kind: str) -> bool:
        """Whether a kind of raw files has records on the day."""
        return bool(mindspore_catalog().files[kind].members_on(self.day))

    def form(self, table: str, line: LineKind) -> str:
        """The form of a line of an intermediate file on the day; ``KeyError`` without one."""
        form = mindspore_catalog().tables[table].line_on(line, self.day, self.takes)
        if form is None:
            raise KeyError(f"{table} has no {line} on {self.day}")
        return form

    def lines(self, table: str, lines: Sequence[LineKind]) -> bytes:
        """Lines of an intermediate file that are the same whatever it holds."""
        return "".join(f"{self.form(table, line)}\n" for line in lines).encode()

    def columns(self, table: str) -> tuple[TableColumn, ...]:
        """The columns of an intermediate file on the day."""
        return mindspore_catalog().tables[table].columns_on(self.day, self.takes)

    def path(self, table: str, **parts: object) -> Path | None:
        """Where an intermediate file is written, which is noted; ``None`` on days without it.

        parts: of its name, but for the device.
        """
        file = mindspore_catalog().tables[table]
        name = file.name_on(self.day)
        if name is None or not self.holds(file):
            return None
        text = name.of(device=self.number, **parts)
        self.written.append(text)
        return self.folder / text

    def made(self, table: str) -> Path | None:
        """An intermediate file that a parser has written; ``None`` for one that none has."""
        name = mindspore_catalog().tables[table].name_on(self.day)
        text = None if name is None else name.of(device=self.number)
        return None if text is None or text not in self.written else self.folder / text


Parser: TypeAlias = Callable[[Run], None]
"""Reads its raw files, if there are any, and writes what follows. Raises ``OSError``."""
