"""The spec of the text deliverables in memory: load once, then ask for a file or a header.

Documents are read when they are asked for. The packaged ones are validated against
``vocabulary/text_*.schema.yaml`` by the test suite, not here: loading merges each column with its
value type and each copy with its original.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from itertools import chain

from ascend_spec.core import Bounds, Document, Erratum, Loader, SpecError, ValueType
from ascend_spec.core.bounds import allows, bounds_of
from ascend_spec.core.loader import Row, part, reading, tuples, type_facts, typed, without
from ascend_spec.core.shows import RowTest, row_tests, shown

from .csv_file import CsvFile
from .model import CsvColumn, NumberFormat, Output, Writer
from .pmu import Derived, PmuGroup, PmuGroups, PmuKind, PmuMetric, time_of

FOLDER = "text"


class TextCatalog:
    """Every fact about text deliverables, all writers together; ``Spec.text`` is the loaded one."""

    def __init__(self, documents: Loader) -> None:
        self.documents = documents

    @cached_property
    def value_types(self) -> Mapping[str, ValueType]:
        """Value types by name, those of the databases among them."""
        own = self.documents.named(ValueType, f"{FOLDER}/value_types.yaml", "id")
        return {**self.documents.value_types, **own}

    @cached_property
    def writers(self) -> Mapping[str, Writer]:
        """Generations of writers by id, current ones first."""
        name, products = f"{FOLDER}/writers.yaml", self.documents.products
        with reading(name):
            given = {writer: row for writer, row, _ in self.documents.rows(name, "id")}
            rows = {
                writer: {**(given[row["like"]] if "like" in row else {}), **row}
                for writer, row in given.items()
            }
            return {
                writer: self.documents.fact(
                    Writer,
                    products.in_full(row),
                    f"{name}: {writer}",
                    copies={
                        product: original
                        for meant, original in row.get("copies", {}).items()
                        for product in (("*",) if meant == "*" else products.having(meant))
                    },
                )
                for writer, row in rows.items()
            }

    def writer_on(self, output: Output, day: str) -> str:
        """The writer of an output on a day: the oldest whose own day is not before it, else the
        current one.
        """
        known = [one for one in self.writers.values() if one.output == output]
        due = [one for one in known if one.date >= day and not one.current]
        return min(due, key=lambda one: one.date, default=next(filter(_is_current, known))).id

    @cached_property
    def csv(self) -> Mapping[str, CsvFile]:
        """CSV files by name."""
        rows = {}
        for name, row in self.documents.folder.documents(f"{FOLDER}/csv"):
            with reading(name):
                file = part(row, "file", str, name)
                full = self.documents.generations.in_full(row)
                rows[file] = self.documents.products.in_full(full), name
        return {name: self._csv_file(name, rows) for name in rows}

    @cached_property
    def errata(self) -> Mapping[str, Erratum]:
        """Errata of CSV files, timelines and documents, by id."""
        return self.documents.errata(f"{FOLDER}/errata.yaml")

    @cached_property
    def pmu(self) -> PmuGroups:
        """The metric groups of the performance counters."""
        name = f"{FOLDER}/pmu.yaml"
        loader = self.documents
        with reading(name):
            document = loader.products.in_full(loader.folder.read(name))
            shared = {"sentinels": document["sentinels"]}
            source = document["source"]
            return loader.fact(
                PmuGroups,
                without(document, "sentinels", "source"),
                name,
                kinds={
                    kind: PmuKind(
                        kind,
                        row["suffix"],
                        self._column(
                            {**shared, "name": "", **without(row, "suffix", "table", "samples")},
                            source,
                            f"{name}: {kind}",
                        ),
                        row.get("table", {}),
                        row.get("samples", 1),
                    )
                    for kind, row in document["kinds"].items()
                },
                metrics=dict(_metrics(loader, document["metrics"], source, name)),
                groups={
                    group: loader.fact(PmuGroup, row, f"{name}: {group}", name=group)
                    for group, row in document["groups"].items()
                },
                derived=[
                    Derived(
                        self._column(
                            {**shared, **without(row, "needs")}, source, f"{name}: derived"
                        ),
                        tuple(map(tuple, row["needs"])),
                    )
                    for row in document["derived"]
                ],
                not_available={
                    product.id: frozenset(lacking.counters)
                    | frozenset(map(time_of, lacking.counters))
                    for product in loader.products.values()
                    if (lacking := product.without_value)
                },
            )

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

    @cached_property
    def _named_formats(self) -> Mapping[str, Mapping[str, str]]:
        formats: Mapping[str, Mapping[str, str]]
        formats = self.documents.folder.read(f"{FOLDER}/formats.yaml")
        return formats

    def _column(self, row: Row, source: list[str], place: str) -> CsvColumn:
        """One column; ``source`` holds where the row names none."""
        kind = type_facts(typed(self.value_types, row, place))
        facts = {"source": source, **without(kind, "declared", "references"), **row}
        if "format" in facts:
            facts["formats"] = self._formats(facts.pop("format"), place)
        return self.documents.fact(CsvColumn, facts, place, shows=shown(row, place))

    def _formats(self, given: str | Mapping[str, str], place: str) -> dict[str, NumberFormat]:
        """From the name of formats, a format, or formats by writer or engine."""
        if isinstance(given, str):
            given = self._named_formats.get(given, {"*": given})
        return {writer: self._format(text, place) for writer, text in given.items()}

    def _format(self, text: str, place: str) -> NumberFormat:
        style, _, decimals = text.partition("-")
        if decimals and not decimals.isdecimal():
            raise SpecError(f"{place}: format: unknown format {text!r}")
        row = {"style": style, "decimals": int(decimals) if decimals else None}
        return self.documents.fact(NumberFormat, row, f"{place}: format")

    def _csv_file(self, name: str, rows: Mapping[str, tuple[Document, str]]) -> CsvFile:
        row, document = rows[name]
        with reading(document):
            source = part(row, "source", list, document)
            columns = [
                self._column(one, source, f"{document}: {one.get('name', f'columns.{number}')}")
                for number, one in enumerate(part(row, "columns", list, document))
            ]
            for output, copy in row.get("copies", {}).items():
                columns += self._copied(output, copy, source, rows)
            for one in part(row, "writers", list, document):
                if one not in self.writers:
                    raise SpecError(
                        f"{document}: writers: expected ids of writers.yaml, got {one!r}"
                    )
            levels = row.get("levels", {})
            written = {
                one: self.writers[one]
                for one in row["writers"]
                if row.get("since", {}).get(one, "") <= self.writers[one].date
            }
            families = set(chain.from_iterable(one.families for one in written.values()))
            return self.documents.fact(
                CsvFile,
                without(row, "file", "columns", "copies", "since"),
                document,
                name=name,
                own_columns=columns,
                writers=written,
                families=[one for one in row["families"] if one in families],
                groups=self.pmu if "pmu" in row else None,
                levels=levels if isinstance(levels, dict) else {"*": levels},
                rows=_row_tests(row, rows),
            )

    def _copied(
        self,
        output: str,
        copy: Document,
        source: list[str],
        rows: Mapping[str, tuple[Document, str]],
    ) -> Iterator[CsvColumn]:
        """The columns of another file under the names that they have in the copy.

        What only some writers of the original have is not copied.
        """
        original, document = rows[copy["of"]]
        for row in original["columns"]:
            name = row["name"]
            renamed = {
                **row,
                "name": copy["renames"].get(name, name),
                "source": source,
                **copy.get("changes", {}).get(name, {}),
            }
            column = self._column(renamed, source, f"{document}: {name}")
            if column.when.writers or name in copy.get("without", ()):
                continue
            further = {"outputs": [output], **copy.get("when", {}).get(name, {})}
            column = replace(
                column,
                renamed=tuple(one for one in column.renamed if not one.writers),
                when=replace(column.when, **tuples(further)),
            )
            spans = _at_level_0(copy, name)
            if Bounds() in spans:
                yield column
                continue
            yield replace(column, when=replace(column.when, levels=(1, 2)))
            for one in spans:
                if allows(column.when.levels, 0):
                    own = replace(column.when, levels=(0,), since=one.since, until=one.until)
                    yield replace(column, when=own)


def _is_current(writer: Writer) -> bool:
    return writer.current


def _at_level_0(copy: Document, name: str) -> tuple[Bounds, ...]:
    """The times in which a copy has a column at level 0 as well.

    Those of ``level0`` do from a day on or always, those that ``above0`` names outside of its
    bounds, and all others of the original always.
    """
    if "level0" in copy:
        chosen: Mapping[str, Mapping[str, str]] = copy["level0"]
        return (bounds_of(chosen[name]),) if name in chosen else ()
    left_out: Mapping[str, Mapping[str, str]] = copy["above0"]
    if name not in left_out:
        return (Bounds(),)
    without = bounds_of(left_out[name])
    before = (Bounds(until=without.since),) if without.since else ()
    behind = (Bounds(since=without.until),) if without.until else ()
    return (*before, *behind)


def _row_tests(row: Document, rows: Mapping[str, tuple[Document, str]]) -> dict[str, RowTest]:
    """Those of the file, or of its original under the names that the copies have."""
    if "copies" not in row:
        return row_tests(row.get("rows", {}))
    copy = next(iter(row["copies"].values()))
    original, _ = rows[copy["of"]]
    return {
        entity: replace(test, cell=copy["renames"].get(test.cell, test.cell))
        for entity, test in row_tests(original.get("rows", {})).items()
    }


def _metrics(
    loader: Loader, rows: Mapping[str, Document], source: list[str], document: str
) -> Iterator[tuple[str, PmuMetric]]:
    """Every metric, each ratio with the time that may precede it."""
    for name, row in rows.items():
        facts = {"shown": name, "source": source, **row}
        metric = loader.fact(PmuMetric, facts, f"{document}: {name}", id=name)
        yield name, metric
        if metric.kind == "ratio":
            time = replace(
                metric,
                id=time_of(name),
                kind="time",
                shown=time_of(metric.shown),
                summary=metric.summary.replace("Share of the cycles", "Time", 1),
            )
            yield time.id, time
