"""What of files of older generations a conversion leaves behind."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from ascend_spec import mindspore_catalog
from ascend_spec.core.packed import FieldFacts
from ascend_spec.core.shows import Show
from ascend_spec.mindspore import CaptureFile

_UNRECORDED = "unrecorded"
"""The reason of cells that the recording has no place for (core/shows.py)."""
CLOCKS = ("host_start", "device_start")
"""Files that say when a counter showed what: times are made of all that they hold."""


def lost_of(
    kinds: Collection[str], read: Collection[str], records: Collection[str]
) -> Iterator[str]:
    """Sentences on raw files that a capture has.

    read: the kinds that are converted at all; records: the declarations of which something is.
    """
    for kind in kinds:
        file = mindspore_catalog().files[kind]
        names = list(dict.fromkeys(_unrecorded(file, records)))
        if kind not in read:
            yield f"{kind}: nothing of it is converted"
        elif names:
            yield f"{kind}: {', '.join(names)}; a recording has no place for it"


def _unrecorded(file: CaptureFile, records: Collection[str]) -> Iterator[str]:
    """Records, fields of records and parts of lines that are left behind."""
    for member in file.members:
        if member.record not in records:
            yield member.record
            continue
        for field in mindspore_catalog().record(member.record).subcons:
            facts = getattr(field, "facts", None)
            if isinstance(facts, FieldFacts) and _is_lost(facts.shows):
                yield field.name
    grammar = mindspore_catalog().grammars.get(file.grammar or "")
    if grammar is not None and file.file not in CLOCKS:
        yield from (name for name, part in grammar.parts.items() if _is_lost(part.shows))


def _is_lost(show: Show | None) -> bool:
    return show is not None and show.reason == _UNRECORDED
