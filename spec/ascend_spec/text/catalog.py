"""The spec of the text deliverables in memory: load once, then ask for a file or a header.

Documents are read when they are asked for; the packaged ones are validated by the test suite.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from ascend_spec.core import Erratum, Loader, Source, ValueType

from . import loader
from .csv_file import CsvFile
from .model import Output, Writer
from .pmu import PmuGroups


class TextCatalog:
    """Every fact about text deliverables, all writers together; ``Spec.text`` is the loaded one."""

    def __init__(self, documents: Loader) -> None:
        self.documents = documents

    @property
    def sources(self) -> Mapping[str, Source]:
        """Sources by id."""
        return self.documents.sources

    @cached_property
    def value_types(self) -> Mapping[str, ValueType]:
        """Value types by name, those of the databases among them."""
        return loader.load_value_types(self.documents)

    @cached_property
    def writers(self) -> Mapping[str, Writer]:
        """Generations of writers by id, current ones first."""
        return loader.load_writers(self.documents)

    @cached_property
    def pmu(self) -> PmuGroups:
        """The metric groups of the performance counters."""
        return loader.load_pmu(self._columns)

    @cached_property
    def csv(self) -> Mapping[str, CsvFile]:
        """CSV files by name."""
        return loader.load_csv_files(self._columns, self.writers, self.pmu)

    @cached_property
    def errata(self) -> Mapping[str, Erratum]:
        """Errata of CSV files, timelines and documents, by id."""
        return self.documents.errata(f"{loader.FOLDER}/errata.yaml")

    @cached_property
    def _columns(self) -> loader.ColumnMerger:
        return loader.ColumnMerger(self.documents, self.value_types)

    def written_by(self, writer: str) -> tuple[CsvFile, ...]:
        """The CSV files of one writer.

        Raises ``KeyError`` naming the known ids when there is no such writer.
        """
        if writer not in self.writers:
            raise KeyError(f"unknown writer {writer!r}; known: {', '.join(self.writers)}")
        return tuple(file for file in self.csv.values() if writer in file.writers)

    def in_folder(self, output: Output) -> tuple[CsvFile, ...]:
        """The CSV files of one output folder."""
        return tuple(file for file in self.csv.values() if output in file.modules)
