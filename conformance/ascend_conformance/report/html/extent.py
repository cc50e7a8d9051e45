"""How much a page lists: the steps down until it is small enough."""

from __future__ import annotations

from dataclasses import dataclass

from ..detail import Detail

LARGEST = 2_000_000
"""Bytes of a page, whatever was found in however many files."""


@dataclass(frozen=True, slots=True)
class Extent:
    """Upper bounds on what is listed; what is left out is counted.

    ``rows`` are places of all causes together; each cause that is listed keeps at least one.
    """

    rows: int
    causes: int
    files: int
    rules: int
    detail: Detail


EXTENTS = (
    Extent(2_000, 1_000, 400, 300, Detail(examples=3, name=120, sql=1_500, path=400)),
    Extent(1_000, 500, 200, 150, Detail(examples=2, pairs=8, prose=400, sql=600, path=300)),
    Extent(
        rows=300,
        causes=150,
        files=80,
        rules=60,
        detail=Detail(examples=1, pairs=6, name=60, prose=240, sql=300, path=200, entries=30),
    ),
    Extent(
        rows=50,
        causes=40,
        files=20,
        rules=20,
        detail=Detail(examples=1, pairs=4, name=24, prose=120, sql=120, path=80, entries=6),
    ),
)
