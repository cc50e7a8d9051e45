"""Raw files, chips and their values as Markdown pages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from operator import attrgetter

from ascend_ref.markdown import Fact, Style, code, commas, page, table
from ascend_spec import catalog, raw_catalog
from ascend_spec.core.names import NameForm
from ascend_spec.raw import Chip, Grammar, Member, RawFile, TextPart
from ascend_spec.raw.records import ENCODINGS, FRAMEWORK_RECORDS, FrameworkRecord

from .blocks import values_section
from .pages import citations, evidence, resolutions
from .raw_records import record_table, shows
from .schema_keys import keys_table
from .subject import Subject, things

SIDES: Mapping[str, str] = {
    "host": "host",
    "device": "device_{device}",
    "framework": "FRAMEWORK",
}
"""The folder of each side."""

FORMS: Mapping[str, str] = {
    "records": "records",
    "text": "text",
    "json": "JSON in one line",
    "csv": "CSV",
    "unknown": "not described",
}
TIMES: Mapping[str, str] = {
    "one": "",
    "first": "once, whatever it is",
    "optional": "may be missing",
    "many": "any number of times",
}
BLANKS: Mapping[str, str] = {
    "many": "Readers take any run of blanks for one.",
    "colon": "Readers take any number of blanks behind the colon.",
}


def raw_page(file: RawFile, style: Style) -> str:
    """One kind of file: where it lies, who writes it, and what is in it byte by byte."""
    return style.page(
        file.file,
        file.summary,
        *_where(file, style),
        ("Content", FORMS[file.form]),
        ("Heads", _heads(file, style)),
        ("Chips", _chips(file, style)),
        ("Written by", style.prose(file.writer)),
        ("Switches", style.links("switch", file.switches)),
        ("Read", None if file.read else "by no exporter"),
        ("Made of it", (_address(one, style) for one in file.feeds)),
        *evidence(file, style),
        style.prose(file.note),
        *_content(file, style),
        resolutions(raw_catalog().errata, file.errata, style),
    )


def _where(file: RawFile, style: Style) -> Iterator[Fact]:
    own, *older = (code(spelled(one)) for one in file.forms)
    yield "Name", own
    yield "Older names", older
    inside = "/data" if file.folder == "data" and file.side != "framework" else ""
    yield "Folder", code(f"{SIDES[file.side]}{inside}")
    yield "Must be there", "yes" if file.required else None


def spelled(name: NameForm) -> str:
    """A name with what stands before the number of a slice."""
    return name.template.replace("{slice}", ".slice_{slice}")


def _heads(file: RawFile, style: Style) -> str:
    levels = " or ".join(map(str, file.levels))
    kind = "" if file.type is None else f", type {file.type}"
    return f"level {levels}{kind}" if levels else ""


def _chips(file: RawFile, style: Style) -> str:
    if len(file.chips) == len(raw_catalog().chips):
        return "all"
    return style.links("chip", map(str, file.chips))


def _address(address: str, style: Style) -> str:
    kind, _, name = address.partition("/")
    return style.link(kind, name, name if kind == "table" else address)


def _content(file: RawFile, style: Style) -> Iterator[str]:
    if file.grammar is not None:
        yield from lines_section(raw_catalog().grammars[file.grammar], style)
    if file.document is not None:
        yield "## Keys"
        yield keys_table({"": raw_catalog().document_schema(file.document)}, style)
    if len(file.members) > 1:
        yield "## Kinds of records"
        if file.select is not None:
            yield f"The field {code(file.select)} says which one a record is."
        yield table(("record", "Byte", "values", "where", "made of it"), _members(file, style))
    for name in dict.fromkeys(one.record for one in file.members):
        yield _record(name, style.below())
        if name in FRAMEWORK_RECORDS:
            yield from texts_section(FRAMEWORK_RECORDS[name], style)


def _members(file: RawFile, style: Style) -> Iterator[tuple[str, ...]]:
    for one in file.members:
        yield (
            code(one.record),
            str(raw_catalog().record_size(one.record) or "any"),
            commas(map(str, one.values)) or ("any other" if file.select else ""),
            _written(file, one),
            ", ".join(_address(fed, style) for fed in one.feeds),
        )


def _written(file: RawFile, member: Member) -> str:
    """The chips and settings under which a record is written, where they are not those of all."""
    chips = "" if member.chips == file.chips else f"chips {commas(map(str, member.chips))}"
    when = (f"{code(key)} is {code(value)}" for key, value in member.when.items())
    return "; ".join(filter(None, (chips, *when)))


def _record(name: str, style: Style) -> str:
    """A record with its fields and their offsets."""
    declaration = raw_catalog().record(name)
    size = raw_catalog().record_size(name)
    length = f"{size} bytes" if size else "Its length follows from its fields"
    return page(style.heading(name), f"{length}, little-endian.", record_table(declaration, style))


def texts_section(record: FrameworkRecord, style: Style) -> Iterator[str]:
    """What stands around and behind a record of a framework."""
    if record.tag is None:
        return
    yield "## Texts"
    yield (
        f"Each record is the value of a tagged value: the tag {record.tag} in two bytes, the size "
        "of the value in four, the value. Behind the fields above stand the texts of the record, "
        "each a tagged value of its own, where there are any."
    )
    rows = (
        (
            str(one.tag),
            code(one.field.name),
            style.prose(one.field.facts.summary),
            style.prose(ENCODINGS[one.encoding]),
            shows(one.field.facts.shows, style),
        )
        for one in record.texts.values()
    )
    if record.texts:
        yield table(("tag", "name", "meaning", "form", "shows"), rows)


def lines_section(grammar: Grammar, style: Style) -> Iterator[str]:
    """The lines of a file of text and their changing parts."""
    yield "## Lines"
    yield style.prose(grammar.summary)
    yield "One block of these lines for each sample." if grammar.repeats else ""
    yield "In any order." if grammar.unordered else ""
    lines = grammar.lines.values()
    yield " ".join(dict.fromkeys(BLANKS[one.blanks] for one in lines if one.blanks))
    yield table(
        ("line", "how often", "meaning"),
        (
            (
                code(one.form.template) if one.form.template else "empty",
                TIMES[one.times],
                style.prose(one.summary),
            )
            for one in lines
        ),
    )
    yield table(
        ("part", "form", "unit", "meaning", "shows"),
        (
            (
                code(f"{{{one.name}}}"),
                f"{one.type}{', may be missing' if one.optional else ''}",
                one.unit or "",
                f"{style.prose(one.summary)} {_passed_over(one)}".rstrip(),
                shows(one.shows, style),
            )
            for one in grammar.parts.values()
        ),
    )


def _passed_over(part: TextPart) -> str:
    """Which lines exporters show, and which not."""
    wanted, hidden = (
        f"{words} {', '.join(map(code, names))}." if names else ""
        for words, names in (("Shown with", part.shown), ("Not shown:", part.hidden))
    )
    return f"{wanted} {hidden}".strip()


def chip_section(chip: Chip, style: Style) -> str:
    """One generation of chips: what it is called, what is exported of it, which files it has."""
    products = (one.id for one in catalog().products.values() if chip.id in one.platforms)
    files = [one for one in raw_catalog().files_of(chip.id) if one.side == "device"]
    return style.page(
        chip.id,
        f"{code(chip.constant)} in the exporter.",
        ("In NPU_INFO.name", chip.name),
        ("Products", style.links("product", products)),
        ("Logs its tasks with", chip.tasks),
        ("Exported by the exporter in Python", chip.exports),
        ("Exported by its library in C++", chip.native_exports),
        ("Files of the device parsed by the library", "yes" if chip.native_parser else "no"),
        ("First vector core of ffts_profile", str(chip.first_vector or "")),
        *(
            (f"{column} of {record}", " ".join(map(code, events)))
            for record, columns in chip.events.items()
            for column, events in columns.items()
        ),
        ("Grade", chip.grade),
        ("Source", citations(chip.source, style)),
        ("Files of the device", style.links("raw", (one.file for one in files))),
        style.prose(chip.note),
    )


def raw_place(style: Style, place: str) -> str:
    """A place of an erratum, linked to the page of its file where it has one."""
    return style.link("raw", place) if place in raw_catalog().files else code(place)


def _also(file: RawFile) -> tuple[str, ...]:
    """Names of its records, by which people look for it as well."""
    return tuple(dict.fromkeys(one.record for one in file.members))


def raw_subjects() -> Iterator[Subject]:
    """Kinds of raw files, chips and the sets of values of their records."""
    raw = raw_catalog()
    yield from things(
        "raw",
        raw.files,
        "raw/{name}.md",
        raw_page,
        also=_also,
        cells=lambda file: {
            "side": file.side,
            "name": file.name.template.partition("{slice}")[0],
            "content": FORMS[file.form],
            "Byte": commas(dict.fromkeys(_sizes(file))),
        },
    )
    yield from things(
        "chip",
        raw.chips,
        "raw/chips.md#{anchor}",
        chip_section,
        summary=attrgetter("constant"),
        also=lambda chip: (chip.constant,),
        cells=lambda chip: {"name": chip.name or "", "tasks": chip.tasks},
    )
    yield from things(
        "raw-values",
        raw.vocabularies,
        "raw/values.md#{anchor}",
        values_section,
        cells=lambda values: {"members": str(len(values.members))},
    )


def _sizes(file: RawFile) -> Iterator[str]:
    for one in file.members:
        yield str(raw_catalog().record_size(one.record) or "any")
