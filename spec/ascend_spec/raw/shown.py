"""Which raw files something is made of, and which of their fields show a value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ascend_spec import per_spec, raw_catalog
from ascend_spec.core.shows import Show
from ascend_spec.raw import RawFile
from ascend_spec.raw.records import FRAMEWORK_RECORDS


@per_spec
def raw_showers() -> Mapping[str, tuple[tuple[str, str], ...]]:
    """By value, as ``task.start``, the kinds of files and the fields that show it."""
    found: dict[str, dict[tuple[str, str], None]] = {}
    for file in raw_catalog().files.values():
        for field, show in _shown(file):
            for value in show.of:
                found.setdefault(value, {})[file.file, field] = None
    return {value: tuple(places) for value, places in found.items()}


def raw_sources(address: str) -> tuple[str, ...]:
    """The kinds of raw files that something is made of, by its address."""
    return tuple(one.file for one in raw_catalog().files.values() if address in one.feeds)


def _shown(file: RawFile) -> Iterator[tuple[str, Show]]:
    """The fields of a file, or the changing parts of its lines, and what each shows."""
    for one in file.members:
        yield from _fields(raw_catalog().record(one.record))
        texts = FRAMEWORK_RECORDS[one.record].texts if one.record in FRAMEWORK_RECORDS else {}
        for text in texts.values():
            yield from _fields(text.field)
    if file.grammar is not None:
        for part in raw_catalog().grammars[file.grammar].parts.values():
            yield part.name, part.shows


def _fields(form: Any) -> Iterator[tuple[str, Show]]:
    """The fields of a form, those inside of others as well, that say what they show."""
    facts = getattr(form, "facts", None)
    if facts is not None and facts.shows is not None:
        yield form.name, facts.shows
    for one in getattr(form, "subcons", ()):
        yield from _fields(one)
    inner = getattr(form, "subcon", None)
    if inner is not None:
        yield from _fields(inner)
