"""From the YAML documents of this folder to its objects.

The documents are validated against ``vocabulary/text_*.schema.yaml`` by the test suite, not here:
loading merges each column with its value type and each copy with its original.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import Any

from ascend_spec.core import Document, Loader, Products, SpecError, ValueType
from ascend_spec.core.loader import Row, part, reading, without
from ascend_spec.core.shows import RowTest, row_tests, shown
from ascend_spec.db.loader import type_facts, typed

from .csv_file import CsvFile
from .model import CsvColumn, Level, NumberFormat, Writer
from .pmu import (
    Derived,
    PmuGroup,
    PmuGroups,
    PmuKind,
    PmuMetric,
    time_of,
)

FOLDER = "text"


def load_value_types(loader: Loader) -> dict[str, ValueType]:
    """The value types of the databases and those that only text has, by name."""
    return {**loader.value_types, **loader.named(ValueType, f"{FOLDER}/value_types.yaml", "id")}


def load_writers(loader: Loader) -> dict[str, Writer]:
    """Writers by id, current ones first."""
    name = f"{FOLDER}/writers.yaml"
    products = loader.products
    with reading(name):
        return {
            writer: loader.fact(
                Writer,
                products.in_full(row),
                place,
                copies=_copies(row.get("copies", {}), products),
            )
            for writer, row, place in loader.rows(name, "id")
        }


def _copies(row: Mapping[str, str], products: Products) -> dict[str, str]:
    """The original by product, and by ``*`` for the others."""
    return {
        product: original
        for name, original in row.items()
        for product in (("*",) if name == "*" else products.having(name))
    }


def load_csv_files(
    merge: ColumnMerger, writers: Mapping[str, Writer], groups: PmuGroups
) -> dict[str, CsvFile]:
    """CSV files by name."""
    documents = dict(merge.loader.folder.documents(f"{FOLDER}/csv"))
    in_full = merge.loader.products.in_full
    rows = {}
    for name, row in documents.items():
        with reading(name):
            rows[part(row, "file", str, name)] = in_full(row), name
    return {name: _csv_file(name, rows, merge, writers, groups) for name in rows}


class ColumnMerger:
    """Lays the facts of a column over those of its value type and of the format that it names."""

    def __init__(self, loader: Loader, types: Mapping[str, ValueType]) -> None:
        self.loader = loader
        self.types = types
        self.formats: Mapping[str, Mapping[str, str]] = loader.folder.read(f"{FOLDER}/formats.yaml")

    def column(self, row: Row, source: list[str], place: str) -> CsvColumn:
        """One column; ``source`` holds where the row names none."""
        kind = type_facts(typed(self.types, row, place))
        facts = {"source": source, **without(kind, "declared", "references"), **row}
        if "format" in facts:
            facts["formats"] = self._formats(facts.pop("format"), place)
        return self.loader.fact(CsvColumn, facts, place, shows=shown(row, place))

    def _formats(self, given: str | Mapping[str, str], place: str) -> dict[str, NumberFormat]:
        """From the name of formats, a format, or formats by writer or engine."""
        if isinstance(given, str):
            given = self.formats.get(given, {"*": given})
        return {writer: self._format(text, place) for writer, text in given.items()}

    def _format(self, text: str, place: str) -> NumberFormat:
        style, _, decimals = text.partition("-")
        if decimals and not decimals.isdecimal():
            raise SpecError(f"{place}: format: unknown format {text!r}")
        row = {"style": style, "decimals": int(decimals) if decimals else None}
        return self.loader.fact(NumberFormat, row, f"{place}: format")


def _csv_file(
    name: str,
    rows: Mapping[str, tuple[Document, str]],
    merge: ColumnMerger,
    writers: Mapping[str, Writer],
    groups: PmuGroups,
) -> CsvFile:
    row, document = rows[name]
    with reading(document):
        source = part(row, "source", list, document)
        columns = [
            merge.column(one, source, f"{document}: {one.get('name', f'columns.{number}')}")
            for number, one in enumerate(part(row, "columns", list, document))
        ]
        if "copy" in row:
            columns += _copied(row["copy"], source, rows, merge)
        for one in part(row, "writers", list, document):
            if one not in writers:
                raise SpecError(f"{document}: writers: expected ids of writers.yaml, got {one!r}")
        written = {one: writers[one] for one in row["writers"]}
        return merge.loader.fact(
            CsvFile,
            without(row, "file", "columns", "copy"),
            document,
            name=name,
            own_columns=columns,
            writers=written,
            families=_families(row["families"], written),
            groups=groups if "pmu" in row else None,
            levels=_levels(row.get("levels", {})),
            rows=_row_tests(row, rows),
        )


def _row_tests(row: Document, rows: Mapping[str, tuple[Document, str]]) -> dict[str, RowTest]:
    """Those of the file, or of its original under the names that the copy has."""
    copy = row.get("copy")
    if copy is None:
        return row_tests(row.get("rows", {}))
    original, _ = rows[copy["of"]]
    return {
        entity: replace(test, cell=copy["renames"].get(test.cell, test.cell))
        for entity, test in row_tests(original.get("rows", {})).items()
    }


def _families(row: list[str], writers: Mapping[str, Writer]) -> tuple[str, ...]:
    """Of the named families those of the writers."""
    known = set(chain.from_iterable(one.families for one in writers.values()))
    return tuple(one for one in row if one in known)


def _levels(row: list[Level] | Mapping[str, list[Level]]) -> Mapping[str, list[Level]]:
    return row if isinstance(row, Mapping) else {"*": row}


def _copied(
    copy: Document,
    source: list[str],
    rows: Mapping[str, tuple[Document, str]],
    merge: ColumnMerger,
) -> Iterator[CsvColumn]:
    """The columns of another file under the names that they have in the copy.

    Those of ``level0`` stand there at every level, others from level 1 on only; one with a
    ``since`` joined at level 0 on that day. What only some writers of the original have is not
    copied.
    """
    original, document = rows[copy["of"]]
    at_level_0: Mapping[str, Mapping[str, str]] = copy["level0"]
    for row in original["columns"]:
        name = row["name"]
        renamed = {**row, "name": copy["renames"].get(name, name), "source": source}
        column = merge.column(renamed, source, f"{document}: {name}")
        if column.when.writers:
            continue
        column = replace(
            column,
            renamed=tuple(one for one in column.renamed if not one.writers),
            when=replace(column.when, **_tuples(copy.get("when", {}).get(name, {}))),
        )
        joined = at_level_0.get(name, {}).get("since")
        if name in at_level_0 and joined is None:
            yield column
        else:
            yield replace(column, when=replace(column.when, levels=(1, 2)))
        if joined is not None:
            yield replace(column, when=replace(column.when, levels=(0,), since=joined))


def _tuples(row: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in row.items()}


def load_pmu(merge: ColumnMerger) -> PmuGroups:
    """The metric groups."""
    name = f"{FOLDER}/pmu.yaml"
    loader = merge.loader
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
                    merge.column(
                        {**shared, "name": "", **without(row, "suffix")}, source, f"{name}: {kind}"
                    ),
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
                    merge.column({**shared, **without(row, "needs")}, source, f"{name}: derived"),
                    tuple(map(tuple, row["needs"])),
                )
                for row in document["derived"]
            ],
            not_available={
                product.id: frozenset(lacking.counters) | frozenset(map(time_of, lacking.counters))
                for product in loader.products.values()
                if (lacking := product.without_value)
            },
        )


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
