"""What MindSpore's profiler writes, its generations and values, as Markdown pages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ascend_ref.markdown import Fact, Style, code, commas, page, sentences, table
from ascend_spec import mindspore_catalog
from ascend_spec.mindspore import (
    TAGGED_RECORDS,
    Analyser,
    AnswerColumn,
    CaptureFile,
    DatedName,
    Generation,
    IntermediateFile,
    TableColumn,
)
from ascend_spec.mindspore.messages import MEMORY, Member, Message

from .blocks import values_section
from .pages import citations, evidence, in_force, resolutions
from .raw_pages import FORMS, lines_section, spelled, texts_section
from .raw_records import record_table, shows
from .subject import Subject, things

PLACES = {
    "job": "the folder of the job",
    "data": "data below it",
    "device": "device_<n> below it, where there is one",
    "host-data": "host/data next to that of the device",
    "summary": "profiler of the summary",
    "hccl": "hccl_info below it",
    "framework": "FRAMEWORK",
    "export": "that of an export of msprof",
}
"""Where files lie, in words."""

_FORMS = {**FORMS, "messages": "a message of Protocol Buffers"}

ANSWERS = {
    "rows": "rows under columns, which can be filtered, sorted and paged",
    "document": "a document of its own form",
    "undescribed": "what is not described",
}

TABLE_FORMS = {
    "csv": "CSV",
    "lines": "lines of values",
    "table": "a drawn table",
    "number": "one number",
    "json": "JSON",
}


def capture_page(file: CaptureFile, style: Style) -> str:
    """One kind of raw file: its names by day, and what is in it."""
    return style.page(
        file.file,
        file.summary,
        *_names(file.names),
        ("Folder", (PLACES[one] for one in file.places)),
        ("Written on", file.target),
        ("Content", _FORMS[file.form]),
        ("In force", in_force(file.since, file.until)),
        ("Made of it", style.links("intermediate", _made_of(file))),
        *evidence(file, style),
        style.prose(file.note),
        *_content(file, style),
        resolutions(mindspore_catalog().errata, file.errata, style),
    )


def _names(names: Sequence[DatedName]) -> Iterator[Fact]:
    listed = (" ".join(filter(None, (_name(one), in_force(one.since, one.until)))) for one in names)
    yield "Names", listed


def _name(dated: DatedName) -> str:
    name = code(spelled(dated.form))
    return name if dated.folder is None else f"{name} in {code(dated.folder)}"


def _made_of(file: CaptureFile) -> list[str]:
    every = mindspore_catalog().tables.values()
    return [one.table for one in every if file.file in one.made_of]


def _content(file: CaptureFile, style: Style) -> Iterator[str]:
    catalog = mindspore_catalog()
    if file.columns:
        yield "## Columns that are read"
        rows = (
            (code(one.name), one.takes.replace("_", " "), in_force(one.since, one.until))
            for one in file.columns
        )
        yield table(("column", "as", "in force"), rows)
    if file.grammar is not None:
        yield from lines_section(catalog.grammars[file.grammar], style)
    if len(file.members) > 1:
        yield "## Kinds of records"
        if file.select is not None:
            yield f"The field {code(file.select)} says which one a record is."
        rows = (
            (code(one.record), commas(map(str, one.values)), in_force(one.since, one.until))
            for one in file.members
        )
        yield table(("record", "values", "in force"), rows)
    if file.form == "messages":
        yield from _messages(MEMORY, style)
    for name in dict.fromkeys(one.record for one in file.members):
        declaration = catalog.record(name)
        size = declaration.sizeof()
        head = style.below().heading(name)
        yield page(head, f"{size} bytes, little-endian.", record_table(declaration, style))
        if name in TAGGED_RECORDS:
            yield from texts_section(TAGGED_RECORDS[name], style)


def _messages(message: Message, style: Style) -> Iterator[str]:
    """The members of a message, then those of the messages in it."""
    rows = ((str(one.number), code(one.name), _shape(one), one.summary) for one in message.members)
    head = style.below().heading(message.name)
    yield page(head, table(("number", "name", "content", "meaning"), rows))
    for one in message.members:
        if one.message is not None:
            yield from _messages(one.message, style)


def _shape(member: Member) -> str:
    kind = {"whole": "number", "text": "text"}.get(member.form, "")
    found = code(member.message.name) if member.message is not None else kind
    return f"{found}, any number of times" if member.is_list else found


def intermediate_page(file: IntermediateFile, style: Style) -> str:
    """One kind of intermediate file: what it is made of, and its columns by day."""
    raw = [one for one in file.made_of if one in mindspore_catalog().files]
    other = [one for one in file.made_of if one not in raw]
    return style.page(
        file.table,
        file.summary,
        *_names(file.names),
        ("Content", TABLE_FORMS[file.form]),
        ("Lines end with", file.line_end),
        ("Order of the rows", style.prose(file.sorted_by)),
        ("Made of raw files", style.links("mindspore", raw)),
        ("Made of", style.links("intermediate", other)),
        ("In force", in_force(file.since, file.until)),
        *evidence(file, style),
        style.prose(file.note),
        *_columns("Columns", file.columns, style),
        *_columns("Columns where it is made of what msprof exports", file.exported, style),
        resolutions(mindspore_catalog().errata, file.errata, style),
    )


def _columns(title: str, columns: Sequence[TableColumn], style: Style) -> Iterator[str]:
    if not columns:
        return
    yield f"## {title}"
    rows = (
        (
            code(one.name),
            one.style,
            one.unit or "",
            sentences(
                style.prose(one.summary), in_force(one.since, one.until), style.see(one.errata)
            ),
            shows(one.shows, style),
        )
        for one in columns
    )
    yield table(("column", "form", "unit", "meaning", "shows"), rows)


def analyser_page(analyser: Analyser, style: Style) -> str:
    """One analyser: the files it reads, the columns of its answer by day, its switches."""
    return style.page(
        analyser.analyser,
        analyser.summary,
        ("Class", code(analyser.upstream) if analyser.upstream else "none of its own"),
        ("Answers with", ANSWERS[analyser.answer]),
        ("Reads", style.links("intermediate", analyser.reads)),
        ("In force", in_force(analyser.since, analyser.until)),
        *evidence(analyser, style),
        style.prose(analyser.note),
        style.prose(analyser.reason),
        *_answer_columns(analyser.columns, style),
        *_switches(analyser),
        resolutions(mindspore_catalog().errata, analyser.errata, style),
    )


def _answer_columns(columns: Sequence[AnswerColumn], style: Style) -> Iterator[str]:
    if not columns:
        return
    yield "## Columns of the answer"
    rows = (
        (
            code(one.name),
            one.form,
            one.unit or "",
            sentences(
                style.prose(one.summary),
                in_force(one.since, one.until),
                "" if one.can_sort else "Rows cannot be sorted by it.",
                f"Shown where {code(one.shown_by)} is true." if one.shown_by else "",
            ),
            commas(map(code, one.takes)),
        )
        for one in columns
    )
    yield table(("column", "form", "unit", "meaning", "column of the file"), rows)


def _switches(analyser: Analyser) -> Iterator[str]:
    if not analyser.switches:
        return
    yield "## Switches"
    rows = (
        (
            code(one.name),
            " or ".join(map(code, one.words)) or one.form,
            "" if one.otherwise is None else code(str(one.otherwise)),
            one.summary,
        )
        for one in analyser.switches
    )
    yield table(("key of the filter", "value", "default", "meaning"), rows)


def generation_section(generation: Generation, style: Style) -> str:
    """One generation: when it began, and what its name stands for."""
    return style.page(
        generation.id,
        generation.summary,
        ("Begins", generation.since),
        ("Its name stands for", generation.day),
        ("Reads", "raw files" if generation.reads == "raw" else "what msprof exports"),
        ("Grade", generation.grade),
        ("Source", citations(generation.source, style)),
    )


def mindspore_place(style: Style, place: str) -> str:
    """A place of an erratum, linked to the page of its file where it has one."""
    catalog = mindspore_catalog()
    if place in catalog.files:
        return style.link("mindspore", place)
    if place in catalog.tables:
        return style.link("intermediate", place)
    if place in catalog.requests:
        return style.link("request", place)
    return style.link("analyser", place) if place in catalog.analysers else code(place)


def mindspore_subjects() -> Iterator[Subject]:
    """Kinds of raw and of intermediate files, generations, and the values of both."""
    catalog = mindspore_catalog()
    yield from things(
        "mindspore",
        catalog.files,
        "mindspore/{name}.md",
        capture_page,
        also=lambda file: tuple(one.form.template.partition("{")[0] for one in file.names),
        cells=lambda file: {"written on": file.target, "content": _FORMS[file.form]},
    )
    yield from things(
        "intermediate",
        catalog.tables,
        "intermediate/{name}.md",
        intermediate_page,
        cells=lambda file: {"content": TABLE_FORMS[file.form], "parser": file.parser},
    )
    yield from things(
        "analyser",
        catalog.analysers,
        "analyser/{name}.md",
        analyser_page,
        also=lambda one: (one.upstream,) if one.upstream else (),
        cells=lambda one: {"answers with": one.answer, "reads": commas(one.reads)},
    )
    yield from things(
        "mindspore-generation",
        catalog.generations,
        "mindspore/generations.md#{anchor}",
        generation_section,
        cells=lambda one: {"begins": one.since, "reads": one.reads},
    )
    yield from things(
        "mindspore-values",
        catalog.vocabularies,
        "mindspore/values.md#{anchor}",
        values_section,
        cells=lambda values: {"members": str(len(values.members))},
    )
