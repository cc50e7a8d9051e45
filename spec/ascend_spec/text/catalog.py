"""The spec of the text deliverables in memory: load once, then ask for a file or a header.

Documents are read when they are asked for; the packaged ones are validated by the test suite.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, cached_property

from ascend_spec import loader as database
from ascend_spec.model import Erratum, Source, ValueType

from . import loader
from .csv_file import CsvFile
from .model import Output, Writer
from .pmu import PmuGroups


class TextCatalog:
    """Every fact about text deliverables, all writers together; :func:`text_catalog` gives it."""

    @cached_property
    def sources(self) -> Mapping[str, Source]:
        """Sources by id."""
        return database.load_sources()

    @cached_property
    def value_types(self) -> Mapping[str, ValueType]:
        """Value types by name, those of the databases among them."""
        return loader.load_value_types(database.load_value_types())

    @cached_property
    def writers(self) -> Mapping[str, Writer]:
        """Generations of writers by id, current ones first."""
        return loader.load_writers(self.sources)

    @cached_property
    def pmu(self) -> PmuGroups:
        """The metric groups of the performance counters."""
        return loader.load_pmu(self.value_types, self.sources)

    @cached_property
    def csv(self) -> Mapping[str, CsvFile]:
        """CSV files by name."""
        return loader.load_csv_files(self.value_types, self.sources, self.writers, self.pmu)

    @cached_property
    def errata(self) -> Mapping[str, Erratum]:
        """Errata of CSV files, timelines and documents, by id."""
        return database.load_errata(f"{loader.FOLDER}/errata.yaml")

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


@cache
def text_catalog() -> TextCatalog:
    """The packaged spec, loaded once per process."""
    return TextCatalog()
