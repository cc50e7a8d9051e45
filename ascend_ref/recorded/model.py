"""Tables of a recording, named and shaped like those of the databases at the newest revision."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

import pyarrow as pa

from ascend_ref.spill import Spill

from .shape import shape_of

Output = Literal["msprof", "pytorch"]
"""Which exporter's deliverables: mindstudio_profiler_output or ASCEND_PROFILER_OUTPUT."""


@dataclass(frozen=True, slots=True)
class Machine:
    """Where the recording was taken; ``None`` where that is not known.

    family: id of a product family (spec: products.yaml). chip: as in NPU_INFO. rank: -1 where
    CANN's profiler, which does not know it, wrote the recording. cube_cores, vector_cores: of one
    device. frequency: nominal clock of the cores in MHz.
    """

    family: str | None
    chip: str | None
    pid: int | None
    host_name: str | None
    host_uid: str | None
    rank: int
    devices: tuple[int, ...]
    cube_cores: int | None
    vector_cores: int | None
    frequency: int | None


@dataclass(frozen=True)
class Recorded:
    """What one process recorded.

    level: of the profiler. metrics: group of PMU metrics, ``None`` without or where it is not
    known. start, end: bounds of the session in Unix ns; end ``None`` after an abnormal end.
    tables: by the name of their database table, those with rows. Columns are those of the newest
    revision, in its order: int64 and double as stored, ``dictionary<int32, string>`` with the text
    itself where the database holds an id of STRING_IDS or of an enum, NULL where it holds NULL.
    extras: what has no database table, by the name of its file, columns by their names in the
    capture; times int64 ns, sizes int64 Byte, texts as above. spill: where long columns of tables
    are, and place for what is made of them.
    """

    output: Output
    machine: Machine
    level: Literal[0, 1, 2]
    metrics: str | None
    aic_mode: str | None
    start: int
    end: int | None
    tables: Mapping[str, pa.Table]
    extras: Mapping[str, pa.Table]
    spill: Spill = field(default_factory=Spill, compare=False, repr=False)

    def table(self, name: str) -> pa.Table:
        """The table; without rows where nothing was recorded. ``KeyError`` for an unknown name."""
        found = self.tables.get(name)
        return shape_of(self.output, name).empty() if found is None else found

    def names(self) -> Iterator[str]:
        """Names of the tables and extras that have rows."""
        yield from self.tables
        yield from self.extras
