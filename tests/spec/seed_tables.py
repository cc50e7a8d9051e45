"""The database tables of the two seed documents, read from their text.

Both parsers account for every line of the part they read: a line that fits nothing is an error,
so a table cannot be lost to a change of layout.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest

from ascend_spec import catalog

SHARED = Path(__file__).parents[2] / ".." / "shared"

Key = Literal["primary key", "index", None]


@dataclass(frozen=True)
class SeedField:
    """One row of a format table."""

    name: str
    type: str
    description: str
    key_cell: str = ""

    @property
    def key(self) -> Key:
        text = f"{self.key_cell} {self.description}".lower()
        if "主键" in text or "primary key" in text:
            return "primary key"
        return "index" if "索引" in text else None

    @property
    def index_name(self) -> str | None:
        """The name of the index that the field is said to be part of."""
        found = re.search(r"索引名称(\w+)", self.description)
        return found[1] if found else None

    @property
    def unit(self) -> str | None:
        """The unit that the description names, in the words of the spec."""
        text = self.description
        found = (
            re.search(r"单位\s*([A-Za-z]+(?:\s*/\s*s)?)", text)
            or re.search(r"\bin ((?:ns|bytes?|packet)(?:/s)?)\b", text)
            or re.search(r"\((ns)\)", text)
        )
        if found:
            return UNITS[found[1].replace(" ", "").lower()]
        return "%" if "100%" in text or "(%)" in text else None

    @property
    def references(self) -> tuple[str, ...]:
        """Tables whose key the description says the value is."""
        return tuple(
            dict.fromkeys(
                re.findall(r"\b(STRING_IDS|ENUM_[A-Z_]+|TASK)\(", self.description)
                + re.findall(r"(?<!field) in the ([A-Z_]+) table", self.description)
                + re.findall(r"enumeration table ([A-Z_]+)", self.description)
            )
        )

    @property
    def links(self) -> tuple[str, ...]:
        """Tables that the description says can be joined, with no word on the direction."""
        chinese = re.search(r"用于关联([A-Z_]+)(?:表和([A-Z_]+))?", self.description)
        english = re.search(r"Corresponds to the \w+ field in the (\w+) table", self.description)
        named = [*(chinese.groups() if chinese else ()), *(english.groups() if english else ())]
        return tuple(table for table in named if table)

    @property
    def may_be_null(self) -> bool:
        return "left empty" in self.description

    @property
    def may_be_minus_one(self) -> bool:
        return re.search(r"-1(?!\d)", self.description) is not None


UNITS = {
    "ns": "ns",
    "byte": "Byte",
    "bytes": "Byte",
    "byte/s": "Byte/s",
    "bytes/s": "Byte/s",
    "b/s": "Byte/s",
    "packet": "packet",
    "packet/s": "packet/s",
    "mhz": "MHz",
}


@dataclass(frozen=True)
class SeedTable:
    """One table: its format and, for enum tables and META_DATA, its documented contents.

    ``prose`` is what stands between the heading and the format.
    """

    name: str
    fields: tuple[SeedField, ...]
    contents: tuple[tuple[str, str], ...] = ()
    prose: str = ""

    @property
    def switches(self) -> tuple[str, ...]:
        """The options and API parameters that the prose says control the table."""
        patterns = (
            r"--[a-z]+(?:-[a-z]+)*(?:=[a-z-]+)?",
            r"torch_npu\.profiler\.[\w.]*\w",
            r"\w+(?= parameter of the Ascend PyTorch Profiler)",
            r"\w+(?= of Ascend PyTorch Profiler)",
            r"(?<=Ascend PyTorch Profiler的)\w+",
        )
        return tuple(found for pattern in patterns for found in re.findall(pattern, self.prose))


def seed_text(source: str) -> str:
    """The text of a seed document; skips the calling test where the seeds are not at hand."""
    assert source in catalog().documents.sources
    paths = list((SHARED / "seeds").glob(f"{source.removeprefix('seed-')}_*.txt"))
    if not paths:
        pytest.skip(f"no {source} in ../shared/seeds")
    (path,) = paths
    return path.read_text(encoding="utf-8")


def msprof_tables() -> dict[str, SeedTable]:
    """The tables of seed 001, chapter "msprof db": Markdown, numbered captions."""
    formats: dict[str, tuple[SeedField, ...]] = {}
    contents: dict[str, tuple[tuple[str, str], ...]] = {}
    prose: dict[str, str] = {}
    for number, table in enumerate(_captioned_tables(seed_text("seed-001")), 1):
        section, caption, before, rows = table
        header, *body = rows
        if caption == "格式":
            assert header == ["字段名", "类型", "含义"], (number, header)
            assert section not in formats, f"two formats of {section}"
            formats[section] = tuple(SeedField(*row) for row in body)
            prose[section] = before
        else:
            assert caption == "内容", (number, caption)
            assert header in (["id", "name"], ["name", "含义"]), (number, header)
            contents[section] = tuple((key, value) for key, value in body)
    assert contents.keys() <= formats.keys()
    return {
        name: SeedTable(name, fields, contents.get(name, ()), prose[name])
        for name, fields in formats.items()
    }


def _captioned_tables(text: str) -> Iterator[tuple[str, str, str, list[list[str]]]]:
    """(section, caption, prose before, rows) of each table, header first, no separator row."""
    chapter = re.search(r"^## msprof导出db格式数据说明.*?(?=^## )", text, re.M | re.S)
    assert chapter, "the chapter on the database is not where it was"
    section = caption = prose = ""
    rows: list[list[str]] = []
    expected = 1
    for line in chapter[0].splitlines():
        if line.startswith("|"):
            assert caption, f"a table row without a caption: {line}"
            rows.append([cell.strip() for cell in line.strip("|").split("|")])
            continue
        if rows:
            widths = {len(row) for row in rows}
            assert len(widths) == 1, f"rows of unequal width below {section} {caption}"
            assert all(set(cell) <= set("-:") for cell in rows[1]), rows[1]
            yield section, caption, prose, [rows[0], *rows[2:]]
            rows, caption = [], ""
        if found := re.match(r"\*\*表 (\d+)\*\*\s+(\S+?)(?:<|$)", line):
            assert int(found[1]) == expected, f"table {found[1]} follows table {expected - 1}"
            expected += 1
            caption = found[2]
        elif found := re.match(r"\*\*(.+?)<a name=", line):
            section, prose = found[1].replace("\\_", "_"), ""
        else:
            prose += line.replace("\\_", "_") + "\n"
    assert not rows, "the chapter ends inside a table"


def pytorch_tables() -> dict[str, SeedTable]:
    """The tables of seed 000: one table cell a line, blank lines between."""
    cells = [line.strip() for line in seed_text("seed-000").splitlines() if line.strip()]
    tables: dict[str, SeedTable] = {}
    position = next(at for at, cell in enumerate(cells) if _is_heading(cell))
    while position < len(cells):
        name = cells[position]
        assert _is_heading(name), f"neither a field nor a heading: {name}"
        assert name not in tables, f"two sections {name}"
        caption = cells.index(f"Table {len(tables) + 1} Format", position)
        prose = "\n".join(cells[position + 1 : caption])
        position = caption + 1
        header = cells[position : cells.index("Description", position) + 1]
        assert header in (
            ["Field", "Type", "Description"],
            ["Field", "Type", "Index", "Description"],
        ), (name, header)
        position += len(header)
        fields: list[SeedField] = []
        while position + 1 < len(cells) and cells[position + 1] in DECLARED_TYPES:
            row = cells[position : position + len(header)]
            fields.append(SeedField(row[0], row[1], row[-1], "".join(row[2:-1])))
            position += len(header)
        assert fields, f"no field read for {name}"
        tables[name] = SeedTable(name, tuple(fields), prose=prose)
    return tables


DECLARED_TYPES = {"INTEGER", "TEXT", "NUMERIC", "REAL"}


def _is_heading(cell: str) -> bool:
    return re.fullmatch(r"[A-Z]+(_[A-Z]+)*", cell) is not None and cell not in DECLARED_TYPES
