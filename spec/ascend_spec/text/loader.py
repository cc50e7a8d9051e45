"""From the YAML documents of this folder to its objects.

The documents are validated against ``vocabulary/text_*.schema.yaml`` by the test suite, not here:
loading trusts them; it merges each column with its value type and each copy with its original.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import Any

from ascend_spec import loader as database
from ascend_spec.loader import Document, best_grade, read_document, read_documents
from ascend_spec.model import Source, ValueType
from ascend_spec.products import product_catalog

from .csv_file import CsvFile
from .model import (
    ALWAYS,
    Condition,
    CsvColumn,
    Level,
    NumberFormat,
    PmuPlace,
    Rename,
    Slicing,
    SortKey,
    Writer,
)
from .pmu import (
    Derived,
    PmuBlock,
    PmuGroup,
    PmuGroups,
    PmuKind,
    PmuLayout,
    PmuMetric,
    PmuOrder,
    time_of,
)

FOLDER = "text"


def load_value_types(base: Mapping[str, ValueType]) -> dict[str, ValueType]:
    """The value types of the databases and those that only text has, by name."""
    return {**base, **database.load_value_types(f"{FOLDER}/value_types.yaml")}


def load_writers(sources: Mapping[str, Source]) -> dict[str, Writer]:
    """Writers by id, current ones first."""
    rows = map(product_catalog().in_full, read_document(f"{FOLDER}/writers.yaml"))
    return {row["id"]: _writer(row, sources) for row in rows}


def load_csv_files(
    types: Mapping[str, ValueType],
    sources: Mapping[str, Source],
    writers: Mapping[str, Writer],
    groups: PmuGroups,
) -> dict[str, CsvFile]:
    """CSV files by name."""
    merge = ColumnMerger(types, sources)
    documents = (product_catalog().in_full(row) for _, row in read_documents(f"{FOLDER}/csv"))
    rows = {row["file"]: row for row in documents}
    return {
        name: _csv_file(row, rows, merge, writers, groups, sources) for name, row in rows.items()
    }


class ColumnMerger:
    """Lays the facts of a column over those of its value type and of the format that it names."""

    def __init__(self, types: Mapping[str, ValueType], sources: Mapping[str, Source]) -> None:
        self.types = types
        self.sources = sources
        self.formats: Mapping[str, Mapping[str, str]] = read_document(f"{FOLDER}/formats.yaml")

    def column(self, row: Document, source: tuple[str, ...]) -> CsvColumn:
        """One column; ``source`` holds where the row names none."""
        kind = self.types[row["type"]]
        cited = tuple(row.get("source", source))
        return CsvColumn(
            name=row["name"],
            type=kind.id,
            storage=tuple(row.get("storage", kind.storage)),
            summary=row.get("summary", kind.summary),
            grade=best_grade(cited, self.sources),
            source=cited,
            unit=row.get("unit", kind.unit),
            minimum=row.get("minimum", kind.minimum),
            maximum=row.get("maximum", kind.maximum),
            formats=self._formats(row.get("format")),
            tab=row.get("tab", False),
            sentinels=tuple(row.get("sentinels", ())),
            members=tuple(row.get("members", ())),
            when=_condition(row.get("when", {})),
            renamed=tuple(map(_rename, row.get("renamed", ()))),
            group=row.get("group"),
            formula=row.get("formula"),
            tells=tuple(row.get("tells", ())),
            errata=tuple(row.get("errata", ())),
        )

    def _formats(self, given: str | Mapping[str, str] | None) -> dict[str, NumberFormat]:
        """From the name of formats, a format, or formats by writer or engine."""
        if given is None:
            return {}
        if isinstance(given, str):
            given = self.formats.get(given, {"*": given})
        return {writer: _number_format(text) for writer, text in given.items()}


def _number_format(text: str) -> NumberFormat:
    style, _, decimals = text.partition("-")
    # The meta-schema holds the style to the closed set.
    return NumberFormat(style, int(decimals) if decimals else None)  # type: ignore[arg-type]


def _condition(row: Mapping[str, Any]) -> Condition:
    if not row:
        return ALWAYS
    return Condition(**_tuples(row))


def _rename(row: Mapping[str, Any]) -> Rename:
    return Rename(row["name"], row.get("until"), tuple(row.get("writers", ())))


def _slicing(row: Mapping[str, Any] | None) -> Slicing | None:
    return Slicing(**row) if row else None


def _writer(row: Document, sources: Mapping[str, Source]) -> Writer:
    source = tuple(row["source"])
    return Writer(
        id=row["id"],
        output=row["output"],
        engine=row["engine"],
        date=row["date"],
        current=row["current"],
        summary=row["summary"],
        grade=best_grade(source, sources),
        source=source,
        families=tuple(row["families"]),
        line_end=row["line_end"],
        quoting=row["quoting"],
        name=row["name"],
        sliced=row.get("sliced"),
        slicing=_slicing(row.get("slicing")),
        copies=_copies(row.get("copies", {})),
        tabbed=row.get("tabbed", True),
        errata=tuple(row.get("errata", ())),
    )


def _csv_file(
    row: Document,
    rows: Mapping[str, Document],
    merge: ColumnMerger,
    writers: Mapping[str, Writer],
    groups: PmuGroups,
    sources: Mapping[str, Source],
) -> CsvFile:
    source = tuple(row["source"])
    columns = [merge.column(one, source) for one in row["columns"]]
    if "copy" in row:
        columns += _copied(row["copy"], rows, merge)
    written = {one: writers[one] for one in row["writers"]}
    pmu = row.get("pmu")
    return CsvFile(
        name=row["file"],
        summary=row["summary"],
        modules=row["modules"],
        writers=written,
        families=_families(row["families"], written),
        own_columns=tuple(columns),
        grade=best_grade(source, sources),
        source=source,
        pmu=PmuPlace(pmu["mode"], pmu.get("core")) if pmu else None,
        groups=groups if pmu else None,
        data=tuple(row["data"]),
        switches=tuple(row.get("switches", ())),
        tables=tuple(row.get("tables", ())),
        timeline=tuple(row.get("timeline", ())),
        levels=_levels(row.get("levels", {})),
        needs=tuple(row.get("needs", ())),
        by_default=row.get("by_default", False),
        order={
            writer: tuple(map(_sort_key, keys)) for writer, keys in row.get("order", {}).items()
        },
        slicing=_slicing(row.get("slicing")),
        note=row.get("note"),
        errata=tuple(row.get("errata", ())),
    )


def _copies(row: Mapping[str, str]) -> dict[str, str]:
    """The original by product, and by ``*`` for the others."""
    named = {name: original for name, original in row.items() if name != "*"}
    having = product_catalog().having
    by_product = {one: original for name, original in named.items() for one in having(name)}
    return {**by_product, **({"*": row["*"]} if "*" in row else {})}


def _families(row: list[str], writers: Mapping[str, Writer]) -> tuple[str, ...]:
    """Of the named families those of the writers."""
    known = set(chain.from_iterable(one.families for one in writers.values()))
    return tuple(one for one in row if one in known)


def _levels(row: list[Level] | Mapping[str, list[Level]]) -> dict[str, tuple[Level, ...]]:
    by_writer = row if isinstance(row, Mapping) else {"*": row}
    return {writer: tuple(levels) for writer, levels in by_writer.items()}


def _sort_key(row: Mapping[str, Any]) -> SortKey:
    return SortKey(row["column"], row.get("compare", "number"), row.get("descending", False))


def _copied(
    copy: Document, rows: Mapping[str, Document], merge: ColumnMerger
) -> Iterator[CsvColumn]:
    """The columns of another file under the names that they have in the copy.

    Those of ``level0`` stand there at every level, others from level 1 on only; one with a
    ``since`` joined at level 0 on that day. What only some writers of the original have is not
    copied.
    """
    original = rows[copy["of"]]
    source = tuple(original["source"])
    at_level_0: Mapping[str, Mapping[str, str]] = copy["level0"]
    for row in original["columns"]:
        name = row["name"]
        column = merge.column({**row, "name": copy["renames"].get(name, name)}, source)
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


def load_pmu(types: Mapping[str, ValueType], sources: Mapping[str, Source]) -> PmuGroups:
    """The metric groups."""
    document = product_catalog().in_full(read_document(f"{FOLDER}/pmu.yaml"))
    merge = ColumnMerger(types, sources)
    shared = {"sentinels": document["sentinels"]}
    source = tuple(document["source"])
    return PmuGroups(
        kinds={
            name: PmuKind(name, row["suffix"], merge.column({**shared, "name": "", **row}, source))
            for name, row in document["kinds"].items()
        },
        metrics=dict(_metrics(document["metrics"])),
        groups={name: _group(name, row) for name, row in document["groups"].items()},
        layouts=tuple(map(_layout, document["layouts"])),
        derived=tuple(
            Derived(merge.column({**shared, **row}, source), tuple(map(tuple, row["needs"])))
            for row in document["derived"]
        ),
        coefficients=document["coefficients"],
        never={core: frozenset(names) for core, names in document["never"].items()},
        not_available={
            product.id: frozenset(lacking.counters) | frozenset(map(time_of, lacking.counters))
            for product in product_catalog().products.values()
            if (lacking := product.without_value)
        },
    )


def _metrics(rows: Mapping[str, Document]) -> Iterator[tuple[str, PmuMetric]]:
    """Every metric, each ratio with the time that may precede it."""
    for name, row in rows.items():
        metric = PmuMetric(
            id=name,
            kind=row["kind"],
            shown=row.get("shown", name),
            summary=row["summary"],
            events=tuple(row.get("events", ())),
            minus=tuple(row.get("minus", ())),
            over=tuple(row.get("over", ())),
            weights={family: tuple(given) for family, given in row.get("weights", {}).items()},
            factor=row.get("factor"),
            coefficients={
                chosen: (pipe, scalar)
                for chosen, (pipe, scalar) in row.get("coefficients", {}).items()
            },
            errata=tuple(row.get("errata", ())),
        )
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


def _group(name: str, row: Document) -> PmuGroup:
    return PmuGroup(
        name=name,
        summary=row["summary"],
        spelled=tuple(row["spelled"]),
        families=tuple(row["families"]),
        timed=row.get("timed", False),
        orders=tuple(PmuOrder(**_tuples(order)) for order in row["orders"]),
        errata=tuple(row.get("errata", ())),
    )


def _layout(row: Document) -> PmuLayout:
    blocks = tuple(
        PmuBlock(one.get("core"), one["prefix"], tuple(one.get("totals", {}).items()))
        for one in row["blocks"]
    )
    return PmuLayout(row["mode"], tuple(row["families"]), blocks)
