"""Checks of JSON text: where it stops being JSON, and what the documents' schemas say."""

from __future__ import annotations

from collections.abc import Iterator

from ascend_ref.json_place import place_of

from .findings import Fault, Position
from .folder import Folder


def damages(kind: str, folder: Folder, _examples: int) -> Iterator[Fault]:
    """Documents, or timelines, whose text is no JSON from some place on."""
    select = (
        'SELECT file, d.row, d."offset", d.reason FROM unit.damage d JOIN unit.file f USING (file) '
        "WHERE f.kind = ? ORDER BY file"
    )
    for file, row, offset, reason in folder.facts.rows(select, (kind,)):
        event = "" if row is None else f", in event {row:,}"
        yield Fault(
            file,
            row=row,
            at=Position(offset=offset),
            remark=f"{reason}{event}",
            examples=({"reason": reason, "event": row},),
        )


def departures(condition: str, folder: Folder, examples: int) -> Iterator[Fault]:
    """Departures of documents from their schemas, by a condition of their keywords."""
    select = (
        "SELECT file, row, pointer, place, expected, shown, erratum, times FROM doc.fault "
        f"WHERE {condition} ORDER BY file, row"
    )
    for file, row, pointer, place, expected, shown, erratum, times in folder.facts.rows(select):
        yield Fault(
            file,
            place or None,
            count=times,
            row=row,
            at=Position(offset=byte_of(folder, file, pointer), pointer=pointer),
            examples=({"value": shown},)[:examples],
            expected=expected,
            errata=(erratum,) if erratum else (),
        )


def byte_of(folder: Folder, file: int, pointer: str | None) -> int | None:
    """The byte at which a value of a document stands."""
    document = folder.documents.get(file)
    if document is None or document.damage is not None or pointer is None:
        return None
    return place_of(document.content, pointer)
