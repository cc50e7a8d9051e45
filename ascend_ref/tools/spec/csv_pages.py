"""CSV files and their columns as Markdown pages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial

from ascend_spec import Catalog
from ascend_spec.documents import DOCUMENTS
from ascend_spec.text import (
    Condition,
    CsvColumn,
    CsvFile,
    NumberFormat,
    SortKey,
    TextCatalog,
    text_catalog,
)

from .pages import citations, in_force, place_link, value_range
from .recording_pages import shown_text
from .style import PLAIN, Kind, Style, code, facts, page, table
from .writer_pages import FOLDERS, counters_page, metrics_section, writer_section, writers_page

Render = Callable[[Style], str]

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
        facts(_file_facts(catalog, file, style)),
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
        blocks.append(facts(_column_facts(catalog, column, style)))
    return page(f"# {file.name}/{name}", *blocks)


def csv_index(texts: TextCatalog, style: Style = PLAIN) -> str:
    """Every CSV file by its folder."""
    sections = []
    for output, folder in FOLDERS.items():
        rows = (
            (
                style.link("file", file.name),
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
    kind: Kind = "document" if name in DOCUMENTS else "layer"
    return style.link("file" if name in text_catalog().csv else kind, name, place)


def csv_subjects(catalog: Catalog) -> Iterator[tuple[str, Render]]:
    """Every name that a page or section of this module explains."""
    texts = text_catalog()
    for file in texts.csv.values():
        for name in (file.name, f"{file.name}.csv"):
            yield name, partial(csv_page, catalog, file)
        for column in dict.fromkeys(one.name for one in file.columns):
            yield f"{file.name}/{column}", partial(csv_column_page, catalog, file, column)
    for group in texts.pmu.groups.values():
        for name in (group.name, *group.spelled):
            yield name, partial(metrics_section, texts, group)
    for writer in texts.writers.values():
        yield writer.id, partial(writer_section, catalog, writer)


def csv_targets() -> dict[tuple[Kind, str], str]:
    """Where on the site the subjects of this module are explained."""
    texts = text_catalog()
    return {
        **{("file", name): f"csv/{name}.md" for name in texts.csv},
        **{("writer", name): f"csv/writers.md#{name}" for name in texts.writers},
        **{("metrics", name): f"csv/counters.md#{name.lower()}" for name in texts.pmu.groups},
    }


def csv_site(catalog: Catalog, below: Style) -> dict[str, str]:
    """The pages of the site by path; ``below`` links from one folder below the root."""
    texts = text_catalog()
    return {
        "csv/index.md": csv_index(texts, below),
        "csv/writers.md": writers_page(catalog, texts.writers.values(), below),
        "csv/counters.md": counters_page(texts, below),
        **{f"csv/{file.name}.md": csv_page(catalog, file, below) for file in texts.csv.values()},
    }


def _file_facts(catalog: Catalog, file: CsvFile, style: Style) -> list[tuple[str, str]]:
    levels = {writer: file.levels_by(writer) for writer in file.writers}
    some = {writer: given for writer, given in levels.items() if len(given) < 3}
    return [
        ("File names", _file_names(file)),
        ("Written by", ", ".join(style.link("writer", one) for one in file.writers)),
        ("Products", ", ".join(style.link("product", one) for one in file.families)),
        ("Switches", ", ".join(style.link("switch", one) for one in file.switches)),
        ("Collected by default", "yes" if file.by_default else ""),
        ("Needs", ", ".join(NEEDS[one] for one in file.needs)),
        ("Levels", "; ".join(f"{who} {', '.join(map(str, at))}" for who, at in some.items())),
        ("Slices", _slices(file)),
        ("Order of rows", "; ".join(_order(who, keys) for who, keys in file.order.items())),
        ("Tells the same", ", ".join(place_link(style, one) for one in file.tables)),
        ("In the timeline", ", ".join(style.link("layer", one) for one in file.timeline)),
        ("Grade", file.grade),
        ("Source", citations(catalog, file.source, style)),
        ("Errata", _errata(file.errata, style)),
    ]


def _patterns(file: CsvFile, output: str) -> Iterator[str]:
    for writer in file.writers.values():
        if writer.output == output:
            yield writer.name.replace("{module}", file.modules[writer.output])


def _file_names(file: CsvFile) -> str:
    named = {output: dict.fromkeys(_patterns(file, output)) for output in file.modules}
    return "; ".join(
        f"{' or '.join(map(code, patterns))} in {FOLDERS[output]}"
        for output, patterns in named.items()
    )


def _slices(file: CsvFile) -> str:
    if file.slicing is None:
        return ""
    return f"none; more than {file.slicing.rows:,} rows are an error" if file.slicing.fails else ""


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
        ("Value type", style.link("type", column.type)),
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
        ("Grade", column.grade),
        ("Source", citations(catalog, column.source, style)),
        ("Errata", _errata(column.errata, style)),
    ]


def _counters(columns: Iterable[CsvColumn], style: Style) -> tuple[str, str, str]:
    rows = (
        (
            code(column.name),
            column.unit or "",
            ", ".join(style.link("metrics", one) for one in column.when.metrics),
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
        remarks.append(f"See {_errata(column.errata, style)}")
    return f"{'. '.join(remark for remark in remarks if remark)}."


def condition(when: Condition) -> str:
    """A condition in words; nothing where the column is always there."""
    folders = " or ".join(FOLDERS[one] for one in when.outputs)
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


def _errata(identifiers: Iterable[str], style: Style) -> str:
    return ", ".join(style.link("erratum", one) for one in identifiers)
