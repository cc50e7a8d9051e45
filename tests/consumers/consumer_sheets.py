"""The cells of a workbook that msprof-analyze wrote."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree
from zipfile import ZipFile

Cell = str | float
Sheet = list[dict[str, Cell]]

NAMESPACE = {"m": "http://schemas.openxmlformats.org/spreadsheetml/2006/main"}


def sheets(path: Path) -> dict[str, Sheet]:
    """The sheets in their order: per row, the cells that hold something by their column."""
    with ZipFile(path) as archive:
        texts = [
            "".join(part.text or "" for part in item.iterfind(".//m:t", NAMESPACE))
            for item in _children(archive, "sharedStrings", "m:si")
        ]
        names = [sheet.attrib["name"] for sheet in _children(archive, "workbook", "*/m:sheet")]
        return {
            name: [_cells(row, texts) for row in _children(archive, f"worksheets/sheet{n}", "*/*")]
            for n, name in enumerate(names, 1)
        }


def _children(archive: ZipFile, part: str, path: str) -> Iterator[ElementTree.Element]:
    root = ElementTree.fromstring(archive.read(f"xl/{part}.xml"))  # noqa: S314 - just written
    return root.iterfind(path, NAMESPACE)


def _cells(row: ElementTree.Element, texts: list[str]) -> dict[str, Cell]:
    found: dict[str, Cell] = {}
    for cell in row.iterfind("m:c", NAMESPACE):
        value = cell.findtext("m:v", namespaces=NAMESPACE)
        if value is not None:
            column = re.sub(r"\d", "", cell.attrib["r"])
            kind = cell.get("t")
            found[column] = (
                texts[int(value)] if kind == "s" else value if kind == "e" else float(value)
            )
    return found
