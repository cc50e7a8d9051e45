"""The folder of a job that is being written: its raw files under the names of a day."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ascend_ref.capture import Capture, Integers
from ascend_ref.raw.fields import fill
from ascend_ref.raw.lines import Entry, encode_lines
from ascend_ref.raw.slices import write_slices
from ascend_spec import mindspore_catalog
from ascend_spec.core import DAYS
from ascend_spec.core.names import NameForm
from ascend_spec.core.packed import dtype_of
from ascend_spec.mindspore import CaptureFile
from ascend_spec.mindspore.records import TICK
from ascend_spec.raw.records import MAGIC

from ..folder import DATA, HOST
from .graph import Graph

SLICE = 1 << 22
"""Bytes of a slice, at most: the log of a real capture has 4,022,208 in one (inferred)."""

TAG = "profiler_default_tag"

FIRST_TICK = 38_753_000_000
"""What the counter of a device shows as the collection starts, about as in a real capture."""

DONE = ".done"
"""Behind the name of a slice: the empty mark that it is complete."""

Rows = npt.NDArray[Any]


@dataclass(frozen=True)
class Job:
    """What is written of one device, and where.

    ``folder``: of the job. ``day`` (ISO): decides about names, records and lines. ``graph``: what
    the device ran. ``slice_size``: most bytes of a slice.
    """

    folder: Path
    day: str
    capture: Capture
    device: int
    graph: Graph
    slice_size: int = SLICE

    def writes(self, kind: str) -> bool:
        """Whether there is a kind of file on the day."""
        file = mindspore_catalog().files[kind]
        return DAYS.in_force(file, self.day) and file.name_on(self.day) is not None

    def way(self, method: str) -> str:
        """How the parsers of the day do something, which shows what they are given."""
        return mindspore_catalog().methods[method].way_on(self.day)

    def ticks(self, times: Integers) -> Integers:
        """What the counter of the device shows at Unix times (ns)."""
        return (times - self.capture.origin.start) // TICK + FIRST_TICK

    def tick(self, time: int) -> int:
        """The same of one."""
        return (time - self.capture.origin.start) // TICK + FIRST_TICK

    def text(self, number: int) -> str:
        """One of the capture's texts."""
        return self.texts[number]

    @property
    def texts(self) -> list[str]:
        """All of them."""
        return self.capture.texts.all

    def records(self, kind: str, record: str, columns: dict[str, npt.NDArray[Any]]) -> Rows:
        """Records of a kind: of 0, but for these fields and magic numbers."""
        declaration = mindspore_catalog().record(record)
        rows = np.zeros(len(next(iter(columns.values()))), dtype_of(declaration))
        if "magicNumber" in (rows.dtype.names or ()):
            rows["magicNumber"] = MAGIC
        fill(declaration, rows, columns)
        return rows

    def write_rows(self, kind: str, rows: Rows) -> None:
        """Write the slices of a file of records, none without a record."""
        if not len(rows):
            return
        place, form, parts = self._place(kind)
        write_slices(place, form, rows, self.slice_size, **parts)
        for number in range(math.ceil(rows.nbytes / self._whole(rows))):
            (place / f"{form.of(slice=number, **parts)}{DONE}").touch()

    def _whole(self, rows: Rows) -> int:
        """Bytes of a slice, which ends with a whole record."""
        size = rows.dtype.itemsize
        return max(self.slice_size // size, 1) * size

    def write_lines(self, kind: str, entries: Iterable[Entry]) -> None:
        """Write the slices of a file of text, none without a line; lines go on in the next one."""
        file = mindspore_catalog().files[kind]
        content = encode_lines(entries, mindspore_catalog().grammars[file.grammar or kind])
        if content:
            self.write_content(kind, content)

    def write_content(self, kind: str, content: bytes, below: str = ".", **more: object) -> None:
        """Write a file; one with slices as many of these as it needs.

        below: folder below the one of the kind. more: parts of its name.
        """
        place, form, parts = self._place(kind)
        place = place / below
        place.mkdir(parents=True, exist_ok=True)
        if "slice" not in form.fields:
            (place / form.of(**parts, **more)).write_bytes(content)
            return
        for number, start in enumerate(range(0, len(content), self.slice_size)):
            name = form.of(slice=number, **parts, **more)
            (place / name).write_bytes(content[start : start + self.slice_size])
            (place / f"{name}{DONE}").touch()

    def _place(self, kind: str) -> tuple[Path, NameForm, dict[str, object]]:
        """The folder of a kind of file, its name, and the parts of that but for the slice."""
        file = mindspore_catalog().files[kind]
        form = file.name_on(self.day)
        if form is None:
            raise KeyError(f"{kind} has no name on {self.day}")
        parts: dict[str, object] = {"device": self.device, "digit": self.device, "tag": TAG}
        place = self.folder / self._below(file, "device" not in form.fields)
        place.mkdir(parents=True, exist_ok=True)
        return place, form, {name: value for name, value in parts.items() if name in form.fields}

    def _below(self, file: CaptureFile, is_of_host: bool) -> str:
        """Where a file lies below the folder of the job.

        Jobs of text had their files in their own folder, later ones in those of host and device.
        """
        if not is_of_records(self.day):
            return "."
        if "device" in file.places:
            return f"device_{self.device}"
        if DATA not in file.places:
            return "."
        if is_of_host and "host-data" in file.places:
            return f"{HOST}/{DATA}"
        return f"device_{self.device}/{DATA}"


def is_of_records(day: str) -> bool:
    """Whether the framework writes records on a day, and the collector folders for its parts."""
    return DAYS.in_force(mindspore_catalog().files["task_desc_records"], day)
