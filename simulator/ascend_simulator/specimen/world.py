"""What happens in a specimen, row by row. Times are Unix ns."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ascend_ref.capture.model import NONE

SESSION_START_NS = 1_767_258_000_000_000_000
PROCESS = 3_217_657
MAIN_THREAD = PROCESS
BACKWARD_THREAD = PROCESS + 9_507
LAUNCH_THREAD = PROCESS + 3_538
RELEASE_THREAD = PROCESS + 3_539
FIRST_CONNECTION = 936
FIRST_STEP = 50
FREQUENCY_MHZ = 1_800


class Row(dict[str, Any]):
    """A row of a table of a capture: values by column; what it lacks does not apply.

    Texts and members of enums stand as words. Another row as a value stands for its ``number``.
    """

    number: int = NONE


Rows = list[Mapping[str, object]]
"""Rows of a sampled table by the names of its columns, with texts as they are."""


@dataclass(slots=True)
class World:
    """All that happened during one capture.

    rows: by the attribute of ``Capture`` that holds them. frames: of each call stack,
    innermost first.
    """

    devices: tuple[int, ...]
    busy_devices: tuple[int, ...]
    group: str
    session: tuple[int, int] = (SESSION_START_NS, SESSION_START_NS)
    rows: defaultdict[str, list[Row]] = field(default_factory=lambda: defaultdict(list))
    frames: list[tuple[str, ...]] = field(default_factory=list)

    def add(self, table: str, **columns: object) -> Row:
        """One more row of a table; its number is its place."""
        row = Row(columns)
        row.number = len(self.rows[table])
        self.rows[table].append(row)
        return row
