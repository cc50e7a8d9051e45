"""Which entities of the recording the judged files show, and in which media."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple

from ascend_conformance.finding import MINDSPORE, RAW, TEXT, FileReport, Seen

if TYPE_CHECKING:
    from ascend_spec.recording.model import Medium

MEDIA: Mapping[Medium, str] = {
    "database": "databases",
    "csv": "CSV files",
    "timeline": "timelines",
    "raw": "raw files",
    "mindspore": "MindSpore's files",
}
"""In words, in the order of the columns."""


class Shown(NamedTuple):
    """An entity, and by medium the tables, files or kinds of events that show it, with rows."""

    entity: str
    summary: str
    places: Mapping[Medium, Mapping[str, int]]


def shown_entities(files: Iterable[FileReport]) -> list[Shown]:
    """Those that any file has rows of, by name."""
    from ascend_spec import recording_catalog  # slow: every medium's documents

    held = _held(one.seen for one in files if one.seen)
    found: dict[str, dict[Medium, dict[str, int]]] = {}
    for medium, name, entities in _showers():
        if held[medium][name]:
            for entity in entities:
                found.setdefault(entity, {}).setdefault(medium, {})[name] = held[medium][name]
    entities = recording_catalog().entities
    return [Shown(name, entities[name].summary, found[name]) for name in sorted(found)]


def _showers() -> Iterator[tuple[Medium, str, Iterable[str]]]:
    """What shows which entities, by the names that files are seen to hold."""
    from ascend_spec import recording_catalog
    from ascend_spec.raw.shown import raw_showers

    for shower in recording_catalog().showers:
        yield shower.medium, shower.name, shower.entities
    for value, places in raw_showers().items():
        for file, _ in places:
            yield "raw", file, (value.partition(".")[0],)


def _held(seen: Iterable[Seen]) -> Mapping[Medium, Counter[str]]:
    """By medium what files hold rows or events of, and how many."""
    held: dict[Medium, Counter[str]] = {medium: Counter() for medium in MEDIA}
    for one in seen:
        held["timeline"].update(one.events)
        medium = _medium(one)
        for name, rows in one.rows.items():
            held[medium][_csv_name(name) if medium == "csv" else name] += rows
    return held


def _medium(seen: Seen) -> Medium:
    known: Mapping[str, Medium] = {TEXT: "csv", RAW: "raw", MINDSPORE: "mindspore"}
    return known.get(seen.carrier, "database")


def _csv_name(file: str) -> str:
    """What the spec calls a file, by its name."""
    from ascend_spec import layout_catalog

    match = layout_catalog().match(file)
    return PurePath(file).stem if match is None else match.called
