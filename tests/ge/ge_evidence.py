"""Tables and lists of ``docs/evidence/ge-profiling.md``, read without the spec."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
SEED = ROOT / "../shared/seeds/003_e31998ad8281c695.txt"
SIZES = {"u8": 1, "u16": 2, "u32": 4, "u64": 8, "i32": 4, "i64": 8, "f64": 8}
_MEMBER = re.compile(
    r"(\w+)(?:\[\d+\])? (?:(?P<type>u8|u16|u32|u64|i32|i64|f64)(?:\[(?P<times>\d+)\])? )?"
    r"@?(?P<at>\d+)\b"
)


class Member(NamedTuple):
    """``size``: nothing where the row does not state it."""

    name: str
    at: int
    size: int | None


@cache
def section(number: str) -> str:
    """The text below a heading, up to the next one."""
    text = (ROOT / "docs/evidence/ge-profiling.md").read_text("utf-8")
    start = re.search(rf"^#+ {re.escape(number)}[ .].*$", text, re.MULTILINE)
    assert start is not None, number
    end = re.search(r"^#+ \d", text[start.end() :], re.MULTILINE)
    return text[start.end() :][: end.start() if end else None]


@cache
def seed() -> str:
    """Document 003; the test is skipped where it is absent."""
    if not SEED.is_file():
        pytest.skip("the seeds are not here")
    return SEED.read_text("utf-8")


def rows(number: str) -> Iterator[list[str]]:
    """The cells of the rows of the tables of a section, without headers."""
    for line in section(number).splitlines():
        if line.startswith("| ") and not line.startswith(("| Member", "| Level")):
            yield [cell.strip() for cell in line.strip("|\n").split("|")]


def members_of(number: str, name: str) -> list[Member]:
    """The fields of a member of a union, in the row of its table that begins with its name."""
    fields = next(cells[1] for cells in rows(number) if cells[0].startswith(name))
    fields = re.sub(r"\([^()]*\)", "", fields)
    return [
        Member(
            one[1],
            int(one["at"]),
            SIZES[one["type"]] * int(one["times"] or 1) if one["type"] else None,
        )
        for one in _MEMBER.finditer(fields)
    ]


def sizes_of(number: str) -> Mapping[str, int]:
    """Bytes of the members of a union, by their names."""
    found = {}
    for cells in rows(number):
        if one := re.match(r"(?:- )?(\w+)[^(]*\((?:[^;)]*; )?(\d+)\b", cells[0]):
            found.setdefault(one[1], int(one[2]))
    return found


def numbered(text: str) -> Iterator[tuple[int, str]]:
    """Numbers, decimal or hexadecimal, and the words behind them."""
    for number, name in re.findall(r"(?<![\w(`])(0x[0-9A-Fa-f]+|\d+) (\w+)", text):
        yield int(number, 0), name
