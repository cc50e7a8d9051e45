"""Readers of profiles, and the ways in which they go wrong, as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ascend_ref.markdown import Style, code, table
from ascend_spec import catalog, consumer_catalog
from ascend_spec.consumers import Behaviour, Part, Read, Reader

from .pages import citations, in_force
from .subject import Subject, things

EFFECTS = {
    "fails": "error, no result",
    "complains": "error, and a result without it",
    "nothing": "no result",
    "without": "a result without it",
}
KINDS = {
    "fails": "Nothing is shown.",
    "drops": "Something is not shown.",
    "misreads": "Something is shown that is not there.",
    "changes": "It is shown elsewhere; nothing is lost.",
}


def reader_section(subject: Reader, style: Style) -> str:
    """One reader: its versions, and what each part reads and does."""
    versions = (
        (code(one.words), one.since or "", style.prose(one.summary)) for one in subject.versions
    )
    inner = style.below()
    return style.page(
        subject.name,
        subject.summary,
        ("Program", subject.program),
        ("Grade", subject.grade),
        ("Source", citations(subject.source, style)),
        style.prose(subject.note),
        table(("version", "from", "what is new"), versions),
        *(_part(one, inner) for one in subject.parts.values()),
    )


def _part(part: Part, style: Style) -> str:
    rows = (
        (named, columns, EFFECTS[read.absent], EFFECTS[read.lacking], _shown(read, style))
        for read in part.reads
        for named, columns in _read(read, style)
    )
    does = (
        (style.link("behaviour", one.behaviour), in_force(one.since, one.until))
        for one in part.does
    )
    return style.page(
        part.name,
        part.summary,
        ("Made of", map(code, part.made_of)),
        ("Writes", map(code, part.writes)),
        ("Without a row", EFFECTS[part.empty] if part.reads and not part.does else None),
        style.prose(part.always),
        table(("reads", "of it", "absent", "lacking", "shows"), rows) if part.reads else "",
        table(("does", "when"), does) if part.does else "",
    )


def _read(read: Read, style: Style) -> Iterator[tuple[str, str]]:
    for name, columns in read.tables.items():
        kind = "table" if name in catalog().tables else "cluster-table"
        yield style.link(kind, name), _listed(columns)
    for name, sets in read.either.items():
        yield style.link("table", name), " or ".join(_listed(one) for one in sets)
    for name, headers in read.csv.items():
        yield style.link("csv", name), _listed(headers)
    for name, keys in read.documents.items():
        yield style.link("document", name), _listed(keys)
    if read.timelines:
        yield "timelines", _listed(read.timelines)


def _shown(read: Read, style: Style) -> str:
    """Which rows are shown."""
    if read.rows is None:
        return ""
    rows = read.rows
    words = [f"rows of {code(rows.of)}"]
    if rows.where:
        words.append(f"with {code(rows.where)}")
    words += [
        f"{'dropped' if one.otherwise == 'dropped' else 'blank'} where {code(one.column)} is not "
        f"in {code(one.to)}"
        for one in rows.joins
    ]
    return ", ".join(words)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(code, names))


def behaviour_section(subject: Behaviour, style: Style) -> str:
    """One behaviour, and the readers that have it."""
    rows = (
        (style.link("reader", reader.name), one.words)
        for reader in consumer_catalog().readers.values()
        for state, one in ((state, state.version) for state in reader.states())
        if any(
            trait.behaviour == subject.id
            for part in reader.parts.values()
            for trait in state.traits(part)
        )
    )
    return style.page(
        subject.id,
        subject.summary,
        ("Kind", KINDS[subject.kind]),
        ("Counted", f"{subject.unit} {subject.outcome}"),
        ("What to do", style.prose(subject.remedy)),
        table(("reader", "versions"), rows),
    )


def consumer_subjects() -> Iterator[Subject]:
    """Every reader, then every behaviour."""
    readers = consumer_catalog()
    yield from things("reader", readers.readers, "readers.md#{anchor}", reader_section)
    yield from things("behaviour", readers.behaviours, "behaviours.md#{anchor}", behaviour_section)
