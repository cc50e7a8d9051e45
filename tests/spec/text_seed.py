"""The sections of seed 001 on CSV files and timelines, read from their text.

Every line of a table is accounted for: one that fits no known table is an error, so that no table
can be lost to a change of layout.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from seed_tables import seed_text

# The parentheses of the document, as wide as its letters.
OPEN, CLOSE = "\uff08", "\uff09"
FIRST_SECTION = f"msprof{OPEN}timeline数据总表{CLOSE}"
FAMILIES = {
    "Atlas A3 训练系列产品/Atlas A3 推理系列产品": "A3",
    "Atlas A2 训练系列产品/Atlas A2 推理系列产品": "A2",
    "Atlas 200I/500 A2 推理产品": "200I-500-A2",
    "Atlas 推理系列产品": "310P",
    "Atlas 训练系列产品": "910A",
}
SUPPORT = (["产品", "是否支持"], ["AI处理器类型", "是否支持"])
FIELDS = ["字段名", "字段含义"]
FILES = ["文件名", "说明"]
CSV_HEADING = r"(\w+)_\*\.csv文件(?:数据)?说明"


@dataclass(frozen=True)
class FieldTable:
    """One table of fields: the heading and the caption above it, and its rows.

    ``csv`` is the CSV file that it describes, ``None`` where it is about the timeline; ``metrics``
    the group of counters that its caption names.
    """

    heading: str
    caption: str
    csv: str | None
    rows: tuple[tuple[str, str], ...]

    @property
    def metrics(self) -> str | None:
        found = re.search(rf"{OPEN}(\w+){CLOSE}", self.caption)
        return found[1] if found else None

    @property
    def fields(self) -> tuple[str, ...]:
        """The names, one each, rows that name several or head a part of the table resolved."""
        return tuple(
            name
            for cell, _ in self.rows
            if not cell.startswith("**") and not cell.startswith("仅支持产品")
            for name in cell.strip("`").split("、")
        )


@dataclass
class Section:
    """One section: whom it is for, its tables of fields, and whether it says that the timeline
    shows the data (``None``: no word on it).
    """

    title: str
    in_timeline: bool | None = None
    families: tuple[str, ...] = ()
    not_families: tuple[str, ...] = ()
    tables: list[FieldTable] = field(default_factory=list)
    csv: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        """What precedes the explanation in parentheses."""
        return self.title.partition(OPEN)[0]


def text_sections() -> list[Section]:
    """The sections from the first one on timelines on, to the end of the document."""
    text = seed_text("seed-001").replace("\\_", "_").replace("\\*", "*")
    start = text.index(f"## {FIRST_SECTION}")
    parts = re.split(r"^## (.*?)<a name=.*$", text[start:], flags=re.M)
    assert parts[0] == ""
    return [_section(title, body) for title, body in zip(parts[1::2], parts[2::2], strict=True)]


def _section(title: str, body: str) -> Section:
    shown = re.search("timeline信息在|timeline数据在|层级展示", body) is not None
    section = Section(title, False if "无timeline信息" in body else shown or None)
    for heading, caption, csv, rows in _tables(body):
        header, *cells = rows
        if header in SUPPORT:
            assert not section.families, f"two tables of products in {title}"
            marks = {FAMILIES[name]: mark for name, mark in cells}
            assert list(marks) == list(FAMILIES.values()), title
            assert set(marks.values()) <= {"√", "x"}, title
            section.families = tuple(family for family, mark in marks.items() if mark == "√")
            section.not_families = tuple(family for family, mark in marks.items() if mark == "x")
        elif header == FIELDS:
            pairs = tuple((row[0], row[1] if len(row) > 1 else "") for row in cells)
            section.tables.append(FieldTable(heading, caption, csv, pairs))
        else:
            assert header == FILES, (title, header)
    headings = re.findall(rf"^\*\*{CSV_HEADING}|文件为(\w+)_\*\.csv", body, re.M)
    section.csv = [heading or sentence for heading, sentence in headings]
    return section


def _tables(body: str) -> Iterator[tuple[str, str, str | None, list[list[str]]]]:
    """(heading, caption, CSV file, rows) of each table, header first, no separator row."""
    heading = caption = ""
    csv: str | None = None
    rows: list[list[str]] = []
    for line in [*body.splitlines(), ""]:
        if line.startswith("|"):
            rows.append([cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip("|"))])
            continue
        if rows:
            assert set("".join(rows[1])) <= set("-:"), rows[1]
            yield heading, caption, csv, [rows[0], *rows[2:]]
            rows = []
        if found := re.match(r"\*\*表 \d+\*\*\s+(.*?)(?:<|$)", line):
            caption = found[1]
        elif found := re.match(r"\*\*(?!图)(.+?)<a name=", line):
            heading, caption, csv = found[1], "", None
        if found := re.match(CSV_HEADING, heading) or re.search(r"文件为(\w+)_\*\.csv", line):
            csv = found[1]
    assert not rows, "a section ends inside a table"
