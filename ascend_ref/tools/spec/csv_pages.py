"""CSV files and their columns as Markdown pages."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import get_args

from ascend_ref.markdown import PLAIN, Style, anchor, code, facts, page, table
from ascend_spec import Catalog, layout_catalog, text_catalog
from ascend_spec.documents import DOCUMENTS
from ascend_spec.text import (
    Condition,
    CsvColumn,
    CsvFile,
    NumberFormat,
    Output,
    SortKey,
    TextCatalog,
)

from .pages import evidence, in_force, place_link, resolutions, value_range
from .recording_pages import shown_text
from .subject import Scope, Subject, families, headed, with_section
from .writer_pages import (
    group_section,
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


def csv_page(catalog: Catalog, file: CsvFile, style: Style = PLAIN) -> str:
    """One CSV file: who writes it under which name, and its columns."""
    counters = file.columns[len(file.own_columns) :]
    return page(
        f"# {file.name}",
        style.prose(file.summary),
        facts(*_file_facts(catalog, file, style)),
        style.prose(file.note or ""),
        "## Columns",
        table(
            ("column", "unit", "printed as", "shows", "meaning"),
            (_column_row(column, style) for column in file.own_columns),
        ),
        *(_counters(counters, style) if counters else ()),
    )


def csv_column_page(catalog: Catalog, file: CsvFile, name: str, style: Style = PLAIN) -> str:
    """One column of a CSV file, under every condition that it stands there.

    Raises ``KeyError`` where the file has no such column.
    """
    variants = [column for column in file.columns if column.name == name]
    if not variants:
        raise KeyError(f"{file.name} has no column {name}")
    blocks: list[str] = []
    for column in variants:
        blocks.append(style.prose(column.summary))
        blocks.append(facts(*_column_facts(catalog, column, style)))
    cited = dict.fromkeys(one for column in variants for one in column.errata)
    errata = text_catalog().errata
    return page(f"# {file.name}/{name}", *blocks, resolutions(errata, cited, style))


def csv_index(texts: TextCatalog, style: Style = PLAIN) -> str:
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
            for file in texts.csv.values()
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


def csv_subjects(catalog: Catalog) -> Iterator[Subject]:
    """CSV files, writers, groups of counters and their metrics."""
    texts = text_catalog()
    for file in texts.csv.values():
        yield _file_subject(catalog, file)
    yield from headed(
        "counter-group",
        texts.pmu.groups,
        "csv/counters.md",
        partial(group_section, texts),
        also=lambda group: group.spelled,
        cells=lambda group: {
            "in options": ", ".join(group.spelled),
            "products": ", ".join(group.families),
        },
        products=lambda group: families(group.families),
    )
    taken: Counter[str] = Counter()
    for metric in texts.pmu.metrics.values():
        fragment = anchor(metric.id)
        again = f"_{taken[fragment]}" if taken[fragment] else ""  # as the site numbers them
        taken[fragment] += 1
        yield Subject(
            kind="metric",
            name=metric.id,
            summary=metric.summary,
            page=f"csv/metrics.md#{fragment}{again}",
            section=partial(metric_section, texts, metric),
            fact=metric,
            also=(metric.shown, *(f"{prefix}_{metric.shown}" for prefix in ("aic", "aiv"))),
            cells={"kind": metric.kind},
            products=tuple(
                dict.fromkeys(
                    family
                    for group in texts.pmu.groups.values()
                    if any(metric.id in order.metrics for order in group.orders)
                    for family in group.families
                )
            )
            or None,
        )
    yield from headed(
        "writer",
        texts.writers,
        "csv/writers.md",
        partial(writer_section, catalog),
        cells=lambda writer: {"output": writer.output, "as of": writer.date, "grade": writer.grade},
        products=lambda writer: families(writer.families),
    )


def _file_subject(catalog: Catalog, file: CsvFile) -> Subject:
    levels = {level for writer in file.writers for level in file.levels_by(writer)}
    found = Subject(
        kind="csv",
        name=file.name,
        summary=file.summary,
        page=f"csv/{file.name}.md",
        section=lambda style, _level: csv_page(catalog, file, style),
        fact=replace(file, groups=None),
        also=(f"{file.name}.csv", f"{file.name}_*.csv"),
        cells={
            "written by": ", ".join(file.outputs),
            "columns": str(len({column.name for column in file.own_columns})),
            "by default": "yes" if file.by_default else "",
        },
        levels=tuple(sorted(levels)),
        products=families(file.families),
        by_default=file.by_default,
    )

    def part(scope: Scope) -> Subject:
        columns = tuple(one for one in file.own_columns if _holds(one.when, scope))
        left = replace(file, own_columns=columns)
        section = lambda style, _level: csv_page(catalog, left, style)  # noqa: E731
        return with_section(found, section, replace(left, groups=None))

    return replace(found, part=part)


def _holds(when: Condition, scope: Scope) -> bool:
    """Whether a column can be there at the level and on the product of a scope."""
    return (scope.level is None or not when.levels or scope.level in when.levels) and (
        scope.product is None or not when.families or scope.product in when.families
    )


def header_subjects(catalog: Catalog) -> Iterator[Subject]:
    """The columns of CSV files."""
    for file in text_catalog().csv.values():
        by_name: dict[str, list[CsvColumn]] = defaultdict(list)
        for column in file.columns:
            by_name[column.name].append(column)
        for name, variants in by_name.items():
            yield _header_subject(catalog, file, name, variants)


def _header_subject(
    catalog: Catalog, file: CsvFile, name: str, variants: list[CsvColumn]
) -> Subject:
    alone = [column.when for column in variants]
    levels = {level for when in alone for level in when.levels or (0, 1, 2)}
    products = {one for when in alone for one in when.families or file.families}
    return Subject(
        kind="header",
        name=f"{file.name}/{name}",
        summary=variants[0].summary,
        page=f"csv/{file.name}.md#columns",
        section=lambda style, _level: csv_column_page(catalog, file, name, style),
        fact=variants,
        cells={"unit": variants[0].unit or ""},
        levels=tuple(sorted(levels)),
        products=tuple(one for one in file.families if one in products),
    )


def _file_facts(catalog: Catalog, file: CsvFile, style: Style) -> list[tuple[str, str]]:
    levels = {writer: file.levels_by(writer) for writer in file.writers}
    some = {writer: given for writer, given in levels.items() if len(given) < 3}
    return [
        ("File names", _file_names(file)),
        ("Written by", style.links("writer", file.writers)),
        ("Products", style.links("product", file.families)),
        ("Switches", style.links("switch", file.switches)),
        ("Collected by default", "yes" if file.by_default else ""),
        ("Needs", ", ".join(NEEDS[one] for one in file.needs)),
        ("Levels", "; ".join(f"{who} {', '.join(map(str, at))}" for who, at in some.items())),
        ("Slices", _slices(file)),
        ("Order of rows", "; ".join(_order(who, keys) for who, keys in file.order.items())),
        ("Shows the same", ", ".join(place_link(style, one) for one in file.tables)),
        ("In the timeline", style.links("layer", file.timeline)),
        *evidence(catalog, file, style),
    ]


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


def _column_row(column: CsvColumn, style: Style) -> tuple[str, str, str, str, str]:
    return (
        code(column.name),
        column.unit or "",
        _printed(column),
        shown_text(column.shows, style),
        _meaning(column, style),
    )


def _column_facts(catalog: Catalog, column: CsvColumn, style: Style) -> list[tuple[str, str]]:
    return [
        ("When", condition(column.when)),
        ("Value type", style.link("value-type", column.type)),
        ("Unit", column.unit or ""),
        ("Range", value_range(column.minimum, column.maximum)),
        ("Printed as", _printed(column)),
        ("No value", _quoted(column.sentinels)),
        ("Texts", _quoted(column.members)),
        ("Repeats", f"with the group {column.group}" if column.group else ""),
        ("Older names", ", ".join(_older(column))),
        ("Derived by", code(column.formula) if column.formula else ""),
        ("Shows", shown_text(column.shows, style)),
        ("Metric", code(column.metric) if column.metric else ""),
        ("Holds N/A on", ", ".join(not_available(column.metric)) if column.metric else ""),
        *evidence(catalog, column, style),
    ]


def _counters(columns: Iterable[CsvColumn], style: Style) -> tuple[str, str, str]:
    rows = (
        (
            code(column.name),
            column.unit or "",
            style.links("counter-group", column.when.metrics),
            ", ".join(column.when.families),
            _meaning(column, style, conditions=False),
        )
        for column in columns
    )
    return (
        "## Counters",
        "Those of the chosen group follow, from level 1 on; registers that the user chose stand "
        "under the names that he gave them.",
        table(("column", "unit", "groups", "products", "meaning"), rows),
    )


def _meaning(column: CsvColumn, style: Style, conditions: bool = True) -> str:
    remarks = [style.prose(column.summary).rstrip(".")]
    if column.members:
        remarks.append(f"One of {_quoted(column.members)}")
    if column.sentinels:
        remarks.append(f"No value: {_quoted(column.sentinels)}")
    remarks += [f"Older: {one}" for one in _older(column)]
    if column.group:
        remarks.append(f"Repeats with the group {column.group}")
    if conditions and (when := condition(column.when)):
        remarks.append(f"There: {when}")
    if column.errata:
        remarks.append(f"See {style.links('erratum', column.errata)}")
    return f"{'. '.join(remark for remark in remarks if remark)}."


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
