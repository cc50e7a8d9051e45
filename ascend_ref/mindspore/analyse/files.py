"""Intermediate files as columns of texts by the names in their headers, and their damage."""

from __future__ import annotations

import csv
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ascend_ref.raw.damage import Damage, Unreadable, few
from ascend_spec import mindspore_catalog

from ..sheet import Cells, Indexes, read_cells

INNER = "profiler"
"""The folder of intermediate files in that of a summary; of several their names begin with it."""
DEVICE = "device"
PART = re.compile(r"\{[^}]*\}")
"""A changing part in a name."""


@dataclass(eq=False)
class Folder:
    """The intermediate files of one device. ``damage``: what of those that were read is damaged.

    ``root``: files that links lead out of it to are not there; ``None`` where all are trusted.
    """

    path: Path
    device: str
    root: Path | None = None
    damage: list[Damage] = field(default_factory=list)

    def find(self, table: str) -> Path | None:
        """An intermediate file under the newest of its names; ``None`` where there is none."""
        for name in reversed(mindspore_catalog().tables[table].names):
            if name.form.fields.keys() > {DEVICE}:
                found = self.named(table)
                return next((path for path, parts in found if parts[DEVICE] == self.device), None)
            path = self.file(name.form.of(device=self.device))
            if path is not None:
                return path
        return None

    def file(self, name: str) -> Path | None:
        """A file by its name; ``None`` where there is none."""
        path = self.path / name
        return path if path.is_file() and self.may_read(path) else None

    def may_read(self, path: Path) -> bool:
        """Whether a path, links followed, is within what is trusted."""
        return self.root is None or Path(os.path.realpath(path)).is_relative_to(self.root)

    def named(self, table: str) -> list[tuple[Path, Mapping[str, str]]]:
        """The files of a table of all ranks, each with the changing parts of its name, by rank."""
        found = []
        for name in mindspore_catalog().tables[table].names:
            for path in self.path.glob(PART.sub("*", name.form.template)):
                parts = name.form.named(path.relative_to(self.path).as_posix())
                if parts is not None and path.is_file() and self.may_read(path):
                    found.append((path, parts))
        return sorted(found, key=lambda one: (int(one[1][DEVICE]), one[0].name))

    def of_ranks(self, table: str) -> list[Folder]:
        """The same folder for each rank that has a file of a table, by rank."""
        devices = dict.fromkeys(parts[DEVICE] for _, parts in self.named(table))
        return [self.of_rank(one) for one in devices]

    def of_rank(self, device: str) -> Folder:
        """The same folder for another rank, with damage in the same list."""
        return Folder(self.path, device, self.root, self.damage)

    def first(self, tables: Sequence[str]) -> tuple[str, Path] | None:
        """The first of several files that is there."""
        for table in tables:
            path = self.find(table)
            if path is not None:
                return table, path
        return None

    def cells(self, table: str) -> Cells | None:
        """A file of values between commas; ``None`` where there is none, or nothing in it."""
        path = self.find(table)
        if path is None:
            return None
        return read_cells(path, table, self.damage)

    def rows(self, table: str) -> list[list[str]]:
        """A small file of CSV, row by row, the header first; rows may differ in length."""
        path = self.find(table)
        return [] if path is None else self.csv(path, table)

    def csv(self, path: Path, kind: str) -> list[list[str]]:
        """The rows of a small file of CSV; none where it cannot be read."""
        with path.open(encoding="utf-8", errors="backslashreplace", newline="") as file:
            try:
                return [row for row in csv.reader(file) if row]
            except csv.Error as error:
                self.damage.append(Damage(path, str(error), kind=kind))
                return []

    def lines(self, table: str) -> list[list[str]]:
        """The values between blanks of each line of a file."""
        path = self.find(table)
        if path is None:
            return []
        return [line.split() for line in path.read_text("utf-8", "backslashreplace").split("\n")]

    def document(self, table: str) -> Any:
        """A file of JSON; ``None`` where there is none, or it cannot be read."""
        path = self.find(table)
        return None if path is None else self.json(path, table)

    def object(self, table: str) -> dict[str, Any]:
        """The same of a file that is an object; an empty one where there is none."""
        path = self.find(table)
        return {} if path is None else self.object_in(path, table) or {}

    def object_in(self, path: Path, kind: str) -> dict[str, Any] | None:
        """The object of JSON that a file holds; ``None`` where it cannot be read, or is none."""
        before = len(self.damage)
        document = self.json(path, kind)
        if isinstance(document, dict):
            return document
        if len(self.damage) == before:
            self.damage.append(Damage(path, "is no object of JSON", kind=kind))
        return None

    def json(self, path: Path, kind: str) -> Any:
        """What a file of JSON holds; ``None`` where it cannot be read."""
        try:
            return json.loads(path.read_bytes())
        except (ValueError, RecursionError) as error:
            self.damage.append(Damage(path, f"no JSON: {error}", kind=kind))
            return None

    def state(self, cells: Cells, rows: Indexes, column: str, what: str) -> None:
        """Note cells of rows that are damaged."""
        texts = cells.columns[column]
        with few(self.damage) as damage:
            for row in rows.tolist():
                text = f"line {cells.lines[row]}: {column} is {what}: {texts[row].as_py()!r:.60}"
                damage.append(Damage(cells.path, text))


def open_folder(path: Path, device: str | None = None, *, of_all_ranks: bool = False) -> Folder:
    """The folder of intermediate files, or ``profiler`` below it.

    device: by default the only one that files in it are of. of_all_ranks: whether it does not
    matter, so that it is the first one by default. Raises :class:`Unreadable`.
    """
    inner = path / INNER
    found = {place: devices_in(place) for place in (path, inner) if place.is_dir()}
    if not found:
        raise Unreadable(f"{path}: no such folder")
    place = inner if inner in found and not found.get(path) else path
    devices = found[place]
    if device is None and len(devices) > 1 and not of_all_ranks:
        raise Unreadable(f"{place}: files of devices {', '.join(devices)}; name one by --device")
    if not devices:
        raise Unreadable(f"{path}: no intermediate file of MindSpore's profiler in it")
    if device is not None and device not in devices:
        raise Unreadable(f"{place}: no file of device {device}; there are {', '.join(devices)}")
    return Folder(place, device or devices[0])


def folders_of(path: Path) -> list[Folder]:
    """The intermediate files of each device in a folder, or in ``profiler`` below it."""
    for place in (path, path / INNER):
        devices = devices_in(place) if place.is_dir() else []
        if devices:
            return [Folder(place, one) for one in devices]
    return []


def devices_in(path: Path) -> list[str]:
    """The devices that intermediate files in a folder are of."""
    forms = [name.form for table in mindspore_catalog().tables.values() for name in table.names]
    named = (form.named(file.name) for file in path.iterdir() if file.is_file() for form in forms)
    devices = {parts[DEVICE] for parts in named if parts and parts.get(DEVICE)}
    return sorted(devices, key=lambda one: (len(one), one))
