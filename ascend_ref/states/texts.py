"""CSV files as a writer writes them: headers in order, formats, row orders, counters."""

from __future__ import annotations

from collections.abc import Iterator

from ascend_spec import Spec
from ascend_spec.core import DAYS
from ascend_spec.text.csv_file import CsvFile
from ascend_spec.text.model import CsvColumn, NumberFormat, SortKey, Writer
from ascend_spec.text.pmu import PmuGroups

from .element import Element, Fact, Limits
from .facts import closed, counted, on_day, own_facts, show_text, text

ALWAYS = frozenset(("0", "1", "2"))


def csv_files(spec: Spec, at: str) -> Element:
    """The CSV files of a writer, or of one on a day, and how it writes any."""
    writer, _ = on_day(spec, at)
    by = spec.text.writers[writer]
    files = (_file(one, by) for one in spec.text.csv.values() if writer in one.writers)
    counters = _counters(spec.text.pmu) if by.output == "msprof" else ()
    facts = own_facts(by, without=("id", "output", "engine", "date", "current", "like", "summary"))
    return Element("writer", writer, "writer", facts, (*files, *counters), shown=by.summary)


def _file(file: CsvFile, by: Writer) -> Element:
    columns = tuple(_columns(file, by))
    slicing = file.slicing_by(by.id)
    return Element(
        "csv",
        file.name,
        file.name,
        facts={
            "summary": file.summary,
            "module": file.modules.get(by.output),
            "products": frozenset(file.families),
            "switches": frozenset(file.switches),
            "levels": frozenset(map(str, file.levels_by(by.id))),
            "needs": frozenset(file.needs),
            "by default": file.by_default,
            "row order": _order(file.order_by(by.id)),
            "slicing": text(slicing) if slicing else None,
            "trailing comma": by.id in file.trailing_comma,
        },
        children=columns,
        shown=counted(len(columns), "column"),
    )


def _columns(file: CsvFile, by: Writer) -> Iterator[Element]:
    for column in file.own_columns:
        if column.when.admits(by) and DAYS.in_force(column.when, by.date):
            yield Element(
                "header",
                f"{file.name}/{column.name}",
                column.name,
                facts=_facts(column, by),
                former=tuple(one.name for one in column.renamed),
                ordered=True,
                shown=", ".join(filter(None, (column.type, column.unit))),
            )


def _facts(column: CsvColumn, by: Writer) -> dict[str, Fact]:
    when = column.when
    return {
        "summary": column.summary,
        "called": column.name_by(by),
        "storage": frozenset(column.storage),
        "unit": column.unit,
        "range": Limits(column.minimum, column.maximum),
        "number format": _format(column.format_by(by)),
        "tab": column.tab and by.tabbed,
        "no value": frozenset(one or "an empty cell" for one in column.sentinels),
        "members": closed(column.members),
        "shows": show_text(column.shows),
        "formula": column.formula,
        "inner": column.inner,
        "repeats": column.group,
        "levels": frozenset(map(str, when.levels)) or ALWAYS,
        "products": closed(when.families),
        "metrics": closed(when.metrics),
        "scenes": closed((*when.scenes, *(f"not {one}" for one in when.without))),
    }


def _counters(groups: PmuGroups) -> Iterator[Element]:
    for name, group in groups.groups.items():
        facts = own_facts(group, without=("name",))
        yield Element("counter-group", name, name, facts, shown="counters")
    for name, metric in groups.metrics.items():
        yield Element("metric", name, name, own_facts(metric, without=("id",)), shown=metric.shown)


def _format(form: NumberFormat | None) -> str | None:
    if form is None:
        return None
    return form.style if form.decimals is None else f"{form.style}, {form.decimals} decimals"


def _order(keys: tuple[SortKey, ...]) -> tuple[str, ...]:
    return tuple(
        f"{one.column} as {one.compare}" + (", descending" if one.descending else "")
        for one in keys
    )
