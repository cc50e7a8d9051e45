"""Words that exporters write without any table of the format listing them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from . import loader


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """A set of words with what is known of each: a row per word under ``columns``.

    ``shown_in``: tables, ``TABLE.column`` and ``file/column`` that hold the words.
    """

    id: str
    summary: str
    shown_in: tuple[str, ...]
    source: tuple[str, ...]
    columns: tuple[str, ...]
    words: tuple[tuple[str, ...], ...]
    note: str | None = None


@cache
def vocabularies() -> Mapping[str, Vocabulary]:
    """Every vocabulary by id."""
    return {
        row["id"]: Vocabulary(
            id=row["id"],
            summary=row["summary"],
            shown_in=tuple(row["shown_in"]),
            source=tuple(row["source"]),
            columns=tuple(row["columns"]),
            words=tuple(tuple(map(str, word)) for word in row["words"]),
            note=row.get("note"),
        )
        for row in loader.read_document("words.yaml")
    }
