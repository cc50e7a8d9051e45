"""What the graph engine reports, as Markdown pages: events, types of calls, records and texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ascend_ref.markdown import Fact, Style, code, commas, table
from ascend_spec import ge_catalog, raw_catalog
from ascend_spec.ge import Dump, Event, EventSpace, Reported, ReportGroup
from ascend_spec.raw.records import ADDITIONAL_SIZE, API_EVENT_SIZE, COMPACT_SIZE

from .pages import citations, resolutions
from .subject import Subject, grouped, things

ENUMERATIONS: Mapping[str, str] = {
    "GeProfInfoType": "What the graph engine reports calls as, in groups by level.",
    "AclProfType": "Calls of ACL that are reported, in groups with starts of their own.",
}
RECORDS: Mapping[str, tuple[int, str]] = {
    "MsprofApi": (API_EVENT_SIZE, "A call with its begin and end."),
    "MsprofEvent": (API_EVENT_SIZE, "A moment; two of them are a call."),
    "MsprofCompactInfo": (COMPACT_SIZE, "A head of 24 bytes and a union of 40."),
    "MsprofAdditionalInfo": (ADDITIONAL_SIZE, "A head of 24 bytes and a union of 232."),
}
"""Structures of the headers: bytes, and what they are."""


class SpacedEvent(NamedTuple):
    """An event with the namespace that it is of."""

    space: EventSpace
    event: Event


class Structure(NamedTuple):
    """A structure of the headers, with the kinds of raw files that have records of it."""

    name: str
    size: int
    summary: str
    files: tuple[str, ...]


def event_section(found: Sequence[SpacedEvent], style: Style) -> str:
    """One event: its number and text in each namespace that has it."""
    rows = (
        (code(one.space.space), str(one.event.value), code(one.event.text), one.event.group)
        for one in found
    )
    errata = tuple(dict.fromkeys(erratum for one in found for erratum in one.event.errata))
    return style.page(
        found[0].event.name,
        table(("namespace", "number", "text", "group"), rows),
        ("Source", citations(found[0].space.source, style)),
        resolutions(ge_catalog().errata, errata, style),
    )


def space_section(space: EventSpace, style: Style) -> str:
    """One namespace: all its events."""
    rows = ((str(one.value), code(one.name), code(one.text), one.group) for one in space.events)
    return style.page(
        space.space,
        space.summary,
        ("Events", f"{space.end}, from 0"),
        ("Source", citations(space.source, style)),
        table(("number", "name", "text", "group"), rows),
        resolutions(ge_catalog().errata, space.errata, style),
    )


def enumeration_section(name: str, style: Style) -> str:
    """One enumeration of types of calls: its groups."""
    groups = enumerations()[name]
    return style.page(name, ENUMERATIONS[name], *_groups(groups, style))


def _groups(groups: Mapping[str, ReportGroup], style: Style) -> Iterator[str | Fact]:
    for one in groups.values():
        yield style.below().heading(one.group)
        yield one.summary
        yield "Level", str(one.level)
        yield "Number before the first", None if one.start is None else f"{one.start:#x}"
        yield "Number behind the last", None if one.end is None else f"{one.end:#x}"
        yield "Source", citations(one.source, style)
        rows = (
            (f"{member.value:#x}", code(member.text), code(member.name) if member.name else "")
            for member in one.members
        )
        yield table(("number", "registered as", "name"), rows)
        yield resolutions(ge_catalog().errata, one.errata, style)


def call_section(call: tuple[str, ReportGroup, Reported], style: Style) -> str:
    """One type of calls."""
    enumeration, group, one = call
    return style.page(
        one.name or one.text,
        group.summary,
        ("Enumeration", code(enumeration)),
        ("Group", group.group),
        ("Level", str(one.level)),
        ("Number", f"{one.value:#x} ({one.value})"),
        ("Registered as", code(one.text)),
        ("Source", citations(group.source, style)),
    )


def record_section(structure: Structure, style: Style) -> str:
    """One structure: the records that it stands for."""
    return style.page(
        structure.name,
        structure.summary,
        ("Bytes", str(structure.size)),
        ("Records", style.links("raw", structure.files)),
    )


def dump_section(dump: Dump, style: Style) -> str:
    """The text of one writer, line by line."""
    kinds = {**dump.states, **dump.models}
    states = (f"{code(word)} ({number})" for number, word in kinds.items())
    return style.page(
        dump.dump,
        dump.summary,
        ("File", code(dump.file) if dump.file else "the standard output"),
        ("First line", code(dump.head)),
        ("Version", dump.version),
        ("Where records were dropped", code(dump.overflow)),
        ("Record", code(dump.record)),
        ("Kinds of records", commas(states)),
        ("Any other kind", code(dump.other) if dump.other else None),
        ("Last line", code(dump.end)),
        ("Records that are kept", f"the first {dump.capacity:,}"),
        ("Events", code(dump.space)),
        ("Source", citations(dump.source, style)),
        resolutions(ge_catalog().errata, dump.errata, style),
    )


def enumerations() -> Mapping[str, Mapping[str, ReportGroup]]:
    """The groups of each enumeration of types of calls."""
    return {"GeProfInfoType": ge_catalog().report_types, "AclProfType": ge_catalog().calls}


def structures() -> Iterator[Structure]:
    """The structures of the headers."""
    raw = raw_catalog()
    for name, (size, summary) in RECORDS.items():
        files = [
            one.file
            for one in raw.files.values()
            if one.form == "records"
            and one.side == "host"
            and {raw.record_size(member.record) for member in one.members} == {size}
        ]
        yield Structure(name, size, summary, tuple(files))


def ge_report_subjects() -> Iterator[Subject]:
    """Events and their namespaces, types of calls and their enumerations, records, texts."""
    catalog = ge_catalog()
    spaced = [SpacedEvent(space, one) for space in catalog.events.values() for one in space.events]
    yield from things(
        "ge-event",
        grouped(spaced, lambda one: one.event.name),
        "ge/events.md#{anchor}",
        event_section,
        summary=lambda ones: f"Event of {' and '.join(one.space.space for one in ones)}.",
        cells=lambda ones: {"numbers": commas(str(one.event.value) for one in ones)},
    )
    yield from things(
        "ge-event-space", catalog.events, "ge/event_spaces.md#{anchor}", space_section
    )
    yield from things(
        "ge-enumeration",
        {name: name for name in ENUMERATIONS},
        "ge/enumerations.md#{anchor}",
        enumeration_section,
        summary=lambda name: ENUMERATIONS[name],
    )
    calls = {
        one.name or one.text: (enumeration, group, one)
        for enumeration, groups in enumerations().items()
        for group in groups.values()
        for one in group.members
    }
    yield from things(
        "acl-call",
        {name: call for name, call in calls.items() if call[0] == "AclProfType"},
        "ge/calls.md#{anchor}",
        call_section,
        summary=lambda call: f"Call of ACL: {call[1].summary}",
        also=lambda call: (call[2].text,),
        cells=lambda call: {"number": f"{call[2].value:#x}"},
    )
    yield from things(
        "ge-report",
        {name: call for name, call in calls.items() if call[0] == "GeProfInfoType"},
        "ge/reports.md#{anchor}",
        call_section,
        summary=lambda call: f"Type of calls: {call[1].summary}",
        cells=lambda call: {"level": str(call[2].level), "number": f"{call[2].value:#x}"},
    )
    yield from things(
        "ge-structure",
        {one.name: one for one in structures()},
        "ge/records.md#{anchor}",
        record_section,
        cells=lambda one: {"Byte": str(one.size)},
    )
    yield from things("ge-dump", catalog.dumps, "ge/dumps.md#{anchor}", dump_section)
