"""CSV files and their columns as Markdown pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import get_args

from ascend_ref.markdown import Fact, Style, anchor, code, commas, page, sentences, table
from ascend_spec import layout_catalog, text_catalog
from ascend_spec.core.bounds import DAYS
from ascend_spec.documents import DOCUMENTS
from ascend_spec.raw.shown import raw_sources
from ascend_spec.text import Condition, CsvColumn, CsvFile, NumberFormat, Output, SortKey, Writer

from .pages import (
    evidence,
    in_force,
    levels_of,
    place_link,
    some_levels,
    value_range,
    variants_page,
)
from .recording_pages import derivation, shown_text
from .subject import EVERYTHING, Fields, Scope, Subject, grouped, things
from .writer_pages import (
    group_section,
    groups_of,
    metric_section,
    not_available,
    slices,
    writer_section,
)

OUTPUTS: tuple[Output, ...] = get_args(Output)
NEEDS = {
    "communication": "several devices that talk",
    "graph": "models that run as graphs",
    "data-preprocessing": "data prepared on the device",
    "tensorflow": "training with TensorFlow",
}
SCENES = {
    "steps": "the steps are known",
    "per-graph": "one iteration of a model is exported",
    "communication-only": "only communication was collected",
    "no-operators": "operators have no names",
}
STYLES = {
    "fixed": "{} decimals",
    "rounded": "at most {} decimals",
    "stripped": "at most {} decimals, no zeros at the end",
    "integer": "an integer",
    "shortest": "the shortest text of the double",
    "text": "as it came",
}
COMPARED = {"number": "", "text": " as text", "member": " by its number", "block": " in blocks"}


def csv_page(file: CsvFile, style: Style, scope: Scope = EVERYTHING) -> str:
    """One CSV file: who writes it under which name, and its columns."""
    counters = _kept(file, file.columns[len(file.own_columns) :], scope)
    levels = {writer: commas(some_levels(file.levels_by(writer))) for writer in file.writers}
    formulas = dict.fromkeys(one.formula for one in (*file.own_columns, *counters) if one.formula)
    computed = [f"- {derivation(formula, style)}" for formula in formulas]
    return style.page(
        file.name,
        file.summary,
        ("File names", _file_names(file)),
        ("Written by", style.links("writer", file.writers)),
        ("Products", style.links("product", file.families)),
        ("Switches", style.links("switch", file.switches)),
        ("Made of raw files", style.links("raw", raw_sources(f"csv/{file.name}"))),
        ("Collected by default", "yes" if file.by_default else None),
        ("Needs", (NEEDS[one] for one in file.needs)),
        ("Levels", "; ".join(f"{writer} {given}" for writer, given in levels.items() if given)),
        ("Slices", _slices(file)),
        ("Order of rows", "; ".join(_order(who, keys) for who, keys in file.order.items())),
        ("Shows the same", (place_link(style, one) for one in file.tables)),
        ("In the timeline", style.links("layer", file.timeline)),
        *evidence(file, style),
        style.prose(file.note),
        "## Columns",
        table(
            ("column", "unit", "printed as", "shows", "meaning"),
            (
                (
                    code(column.name),
                    column.unit or "",
                    _printed(column),
                    shown_text(column.shows, style),
                    _meaning(column, style, condition(column.when)),
                )
                for column in file.own_columns
            ),
        ),
        *(_counters(counters, style) if counters else ()),
        *(("## How columns are computed", "\n".join(computed)) if computed else ()),
    )


def csv_index(style: Style) -> str:
    """Every CSV file by its folder."""
    sections = []
    for output in OUTPUTS:
        folder = layout_catalog().folder(output, "output")
        rows = (
            (
                style.link("csv", file.name),
                code(", ".join(dict.fromkeys(_patterns(file, output)))),
                style.prose(file.summary),
            )
            for file in text_catalog().csv.values()
            if output in file.modules
        )
        sections += [f"## {folder}", table(("file", "name", "what it holds"), rows)]
    return page(
        "# CSV files",
        "A file has the columns that its writer, the product, the profiler level and the metrics "
        "of the counters call for; each page names the conditions.",
        *sections,
    )


def text_place(style: Style, place: str) -> str:
    """A place of an erratum, linked to the page of its file, document or layer if it has one."""
    name = place.partition("/")[0]
    if name in DOCUMENTS:
        return style.link("document", name, place)
    return style.link("csv" if name in text_catalog().csv else "layer", name, place)


def csv_subjects() -> Iterator[Subject]:
    """CSV files, writers, groups of counters and their metrics."""
    texts = text_catalog()
    groups = texts.pmu.groups
    yield from things(
        "csv",
        texts.csv,
        "csv/{name}.md",
        csv_page,
        fact=lambda file: replace(file, groups=None),
        also=lambda file: (f"{file.name}.csv", f"{file.name}_*.csv"),
        cells=lambda file: {
            "written by": commas(file.modules),
            "columns": str(len({column.name for column in file.own_columns})),
            "by default": "yes" if file.by_default else "",
        },
        levels=levels_of,
        products=lambda file: file.families or None,
        writers=lambda file: tuple(file.writers),
        by_default=lambda file: file.by_default,
        part=lambda file: partial(_part_of_file, file),
    )
    yield from things(
        "counter-group",
        groups,
        "csv/counters.md#{anchor}",
        group_section,
        also=lambda group: group.spelled,
        cells=lambda group: {
            "in options": commas(group.spelled),
            "products": commas(group.families),
        },
        products=lambda group: group.families or None,
    )
    taken: Counter[str] = Counter()
    for metric in texts.pmu.metrics.values():
        fragment = anchor(metric.id)
        again = f"_{taken[fragment]}" if taken[fragment] else ""  # as the site numbers them
        taken[fragment] += 1
        families = (family for group in groups_of(metric) for family in group.families)
        yield Subject(
            "metric",
            metric.id,
            metric.summary,
            page=f"csv/metrics.md#{fragment}{again}",
            section=partial(metric_section, metric),
            fact=metric,
            also=(metric.shown, *(f"{prefix}_{metric.shown}" for prefix in ("aic", "aiv"))),
            cells={"kind": metric.kind},
            products=tuple(dict.fromkeys(families)) or None,
        )
    yield from things(
        "writer",
        texts.writers,
        "csv/writers.md#{anchor}",
        writer_section,
        cells=lambda writer: {"output": writer.output, "as of": writer.date, "grade": writer.grade},
        products=lambda writer: writer.families or None,
    )


def _part_of_file(file: CsvFile, scope: Scope) -> Fields:
    """What a level, a product and a writer leave of the columns; of a writer also how it writes."""
    left = replace(file, own_columns=tuple(_kept(file, file.own_columns, scope)))
    writer = scope.writer
    if writer is not None:
        by, order = file.writers[writer], file.order_by(writer, scope.product)
        left = replace(
            left,
            writers={writer: by},
            modules={by.output: file.modules[by.output]},
            order={writer: order} if order else {},
        )
    section = partial(csv_page, left, scope=scope)
    return {"section": section, "fact": replace(left, groups=None)}


def _kept(file: CsvFile, columns: Iterable[CsvColumn], scope: Scope) -> list[CsvColumn]:
    """The columns that a scope leaves, as its writer prints them; counters only from level 1 on."""
    kept = [
        _of_product(one, scope.product)
        for one in columns
        if scope.keeps(one.when.levels, one.when.families) and not (one.metric and scope.level == 0)
    ]
    if scope.writer is None:
        return kept
    by = file.writers[scope.writer]
    return [
        replace(
            one,
            name=one.name_by(by),
            renamed=(),
            formats=_formats(one, by, scope.product),
            when=replace(one.when, outputs=(), writers=(), not_writers=(), since=None, until=None),
        )
        for one in kept
        if one.when.admits(by) and DAYS.in_force(one.when, by.date)
    ]


def _formats(column: CsvColumn, by: Writer, product: str | None) -> Mapping[str, NumberFormat]:
    """How a writer prints a column; by products where it copies files that differ."""
    if product is not None:
        alone = column.format_by(by, product)
        return {"*": alone} if alone else {}
    printed: dict[NumberFormat, list[str]] = {}
    for family in by.families:
        form = column.format_by(by, family)
        if form:
            printed.setdefault(form, []).append(family)
    *others, last = printed or (None,)
    named = {f"on {commas(printed[form])}:": form for form in others if form}
    return {**named, "*": last} if last else {}


def _of_product(column: CsvColumn, product: str | None) -> CsvColumn:
    """A column with what it says of one product alone, and of the groups that this has."""
    if product is None:
        return column
    known = text_catalog().pmu.groups
    families = (product,) if column.when.families else ()
    groups = tuple(
        one for one in column.when.metrics if one not in known or product in known[one].families
    )
    return replace(column, when=replace(column.when, families=families, metrics=groups))


def _part_of_header(file: CsvFile, name: str, columns: Sequence[CsvColumn], scope: Scope) -> Fields:
    """What a level, a product and a writer leave of the columns with one name."""
    left = _kept(file, columns, scope)
    return {"section": partial(variants_page, f"{file.name}/{name}", left, _facts), "fact": left}


def _writers_of(file: CsvFile, columns: Sequence[CsvColumn]) -> tuple[str, ...]:
    return tuple(
        name
        for name, by in file.writers.items()
        if any(one.when.admits(by) and DAYS.in_force(one.when, by.date) for one in columns)
    )


def header_subjects() -> Iterator[Subject]:
    """The columns of CSV files."""
    for file in text_catalog().csv.values():
        for name, columns in grouped(file.columns, lambda column: column.name).items():
            alone = [column.when for column in columns]
            products = {one for when in alone for one in when.families or file.families}
            yield Subject(
                "header",
                f"{file.name}/{name}",
                columns[0].summary,
                page=f"csv/{file.name}.md#columns",
                section=partial(variants_page, f"{file.name}/{name}", columns, _facts),
                fact=columns,
                cells={"unit": columns[0].unit or ""},
                levels=tuple(sorted({one for when in alone for one in when.levels or (0, 1, 2)})),
                products=tuple(one for one in file.families if one in products),
                writers=_writers_of(file, columns),
                part=partial(_part_of_header, file, name, columns),
            )


def _patterns(file: CsvFile, output: str) -> Iterator[str]:
    for writer in file.writers.values():
        if writer.output == output:
            yield writer.name.replace("{module}", file.modules[writer.output])


def _file_names(file: CsvFile) -> str:
    named = {output: dict.fromkeys(_patterns(file, output)) for output in file.modules}
    return "; ".join(
        f"{' or '.join(map(code, patterns))} in {layout_catalog().folder(output, 'output')}"
        for output, patterns in named.items()
    )


def _slices(file: CsvFile) -> str:
    """From how many rows on each writer cuts the file, and what the slices are called."""
    if file.slicing is not None and file.slicing.fails:
        return f"none; more than {file.slicing.rows:,} rows are an error"
    texts = (
        f"{who}: {slices(file.slicing or writer.slicing, writer.sliced)}"
        for who, writer in file.writers.items()
        if writer.slicing and writer.sliced
    )
    return "; ".join(texts)


def _order(who: str, keys: Iterable[SortKey]) -> str:
    named = ", ".join(
        f"{code(key.column)}{COMPARED[key.compare]}{' descending' if key.descending else ''}"
        for key in keys
    )
    return f"{'every other' if who == '*' else who}: {named}"


def _facts(column: CsvColumn, style: Style) -> tuple[Fact, ...]:
    return (
        ("When", condition(column.when)),
        ("Value type", style.link("value-type", column.type)),
        ("Unit", column.unit),
        ("Range", value_range(column.minimum, column.maximum)),
        ("Printed as", _printed(column)),
        ("No value", _quoted(column.sentinels)),
        ("Texts", _quoted(column.members)),
        ("Repeats", f"with the group {column.group}" if column.group else None),
        ("Older names", _older(column)),
        ("Derived by", derivation(column.formula, style)),
        ("Shows", shown_text(column.shows, style)),
        ("Metric", code(column.metric) if column.metric else None),
        ("Holds N/A on", not_available(column.metric) if column.metric else None),
        *evidence(column, style),
    )


def _counters(columns: Iterable[CsvColumn], style: Style) -> tuple[str, str, str]:
    rows = (
        (
            code(column.name),
            code(column.metric) if column.metric else "",
            column.unit or "",
            _printed(column),
            style.links("counter-group", column.when.metrics),
            ", ".join(column.when.families),
            _meaning(column, style),
        )
        for column in columns
    )
    return (
        "## Counters",
        "Those of the chosen group follow, from level 1 on; registers that the user chose stand "
        "under the names that he gave them. The metric is what TASK_PMU_INFO calls it.",
        table(("column", "metric", "unit", "printed as", "groups", "products", "meaning"), rows),
    )


def _meaning(column: CsvColumn, style: Style, when: str = "") -> str:
    return sentences(
        style.prose(column.summary),
        f"One of {_quoted(column.members)}" if column.members else "",
        f"No value: {_quoted(column.sentinels)}" if column.sentinels else "",
        *(f"Older: {one}" for one in _older(column)),
        f"Repeats with the group {column.group}" if column.group else "",
        f"There: {when}" if when else "",
        style.see(column.errata),
    )


def condition(when: Condition) -> str:
    """A condition in words; nothing where the column is always there."""
    folders = " or ".join(layout_catalog().folder(one, "output") for one in when.outputs)
    parts = (
        f"in {folders}" if folders else "",
        f"by {' or '.join(when.writers)}" if when.writers else "",
        f"not by {' or '.join(when.not_writers)}" if when.not_writers else "",
        f"on {', '.join(when.families)}" if when.families else "",
        f"at level {' or '.join(map(str, when.levels))}" if when.levels else "",
        f"with {', '.join(when.metrics)}" if when.metrics else "",
        *(f"where {SCENES[one]}" for one in when.scenes),
        *(f"unless {SCENES[one]}" for one in when.without),
        in_force(when.since, when.until),
    )
    return ", ".join(part for part in parts if part)


def _printed(column: CsvColumn) -> str:
    texts = {who: _number(given) for who, given in column.formats.items()}
    alone = len(set(texts.values())) == 1
    listed = (
        text if alone else f"{'else' if who == '*' else who} {text}" for who, text in texts.items()
    )
    tab = " and a tab" if column.tab else ""
    return f"{', '.join(dict.fromkeys(listed))}{tab}"


def _number(given: NumberFormat) -> str:
    return STYLES[given.style].format(given.decimals)


def _older(column: CsvColumn) -> Iterator[str]:
    for one in column.renamed:
        bound = f"until {one.until}" if one.until else f"by {' or '.join(one.writers)}"
        yield f"{code(one.name)} {bound}"


def _quoted(texts: Iterable[str]) -> str:
    return ", ".join(code(text) if text else "an empty cell" for text in texts)
