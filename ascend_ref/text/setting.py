"""For whom a file is written, and under which circumstances."""

from __future__ import annotations

from dataclasses import dataclass

from ascend_ref.derive.decimals import Engine
from ascend_spec import text_catalog, timeline_catalog
from ascend_spec.text.csv_file import CsvFile
from ascend_spec.text.model import CsvColumn, Level, Scene, SortKey, Writer

COPIES = {"kernel_details": "op_summary"}
"""Files of the adapter that copy one of msprof under another name."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What decides the columns of one file, the form of its numbers and the order of its rows."""

    file: CsvFile
    writer: Writer
    family: str
    level: Level = 1
    metrics: str | None = None
    scene: frozenset[Scene] = frozenset()
    registers: tuple[str, ...] = ()

    @property
    def engine(self) -> Engine:
        """The engine of msprof that makes the figures, also those that the adapter copies."""
        return self.engine_of(COPIES.get(self.file.name, self.file.name))

    def engine_of(self, file: str) -> Engine:
        """The engine that writes a file of msprof on the family, which the adapter then reads."""
        original = self.writer.copied(self.family)
        in_cpp = original == "cpp" and original in text_catalog().csv[file].writers
        return "cpp" if in_cpp else "python"

    @property
    def timeline_writer(self) -> str:
        """The writer whose timeline the adapter reads: the newest that is not after its own day."""
        forms = timeline_catalog().files["trace_view"].writers
        known = text_catalog().writers
        before = [
            one
            for one in forms
            if known[one].output == self.writer.output and known[one].date <= self.writer.date
        ]
        return max(before, key=lambda one: known[one].date)

    @property
    def notation(self) -> Writer:
        """The writer whose line ends and quotes the file has: of a plain copy, that of the file
        copied.
        """
        if self.file.name not in self.writer.verbatim:
            return self.writer
        return text_catalog().writers[self.writer.copied(self.family)]

    def column(self, name: str) -> CsvColumn:
        """A column of the file by name. Raises ``KeyError`` for one that it never has."""
        column = self.file.column(name, self.writer.id)
        if column is None:
            raise KeyError(f"{self.file.name} has no column {name!r}")
        return column

    @property
    def order(self) -> tuple[SortKey, ...]:
        """The order of the rows."""
        return self.file.order_by(self.writer.id, self.family)

    def columns(self, repeat: int = 0) -> tuple[CsvColumn, ...]:
        """The columns of the file; ``repeat``: how often the repeated ones stand there."""
        return self.file.columns_at(
            writer=self.writer.id,
            family=self.family,
            level=self.level,
            metrics=self.metrics,
            scene=self.scene,
            repeat=repeat,
            registers=self.registers,
        )
