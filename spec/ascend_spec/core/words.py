"""Words that exporters write though no table of the format lists them."""

from __future__ import annotations

from dataclasses import dataclass


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
    words: tuple[tuple[str | int, ...], ...]
    note: str | None = None
