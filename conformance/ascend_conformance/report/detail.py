"""How much of a report is spelled out, and the promise that it stays small.

A report may not grow with the number of bad rows, bad columns or the length of hostile names.
Every renderer takes a :class:`Detail`; :func:`bounded` renders with the most generous one first
and steps down until the text fits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from ascend_conformance.finding import Report
from ascend_conformance.ruleset import Rule

BYTES_PER_FILE = 50_000
"""A report on n files never has more than n times this many bytes of UTF-8."""

Rules = Mapping[str, Rule[Any]]
"""By id, for what a report says of a rule beyond the finding itself."""

Renderer = Callable[[Report, Rules], str]

Step = TypeVar("Step")


@dataclass(frozen=True, slots=True)
class Detail:
    """Upper bounds on what is listed; what is left out is counted.

    ``findings`` per file are shown before places are folded (each rule keeps at least one), and
    never more than ``most``. ``places`` are listed per folded finding, ``pairs`` per example row.
    ``name``, ``prose``, ``sql`` and ``path`` are lengths in characters. ``entries`` bounds the
    lists of what was seen and skipped. Without ``guidance``, rules come without why and fix.
    """

    findings: int = 40
    most: int = 1_000
    places: int = 400
    examples: int = 100
    pairs: int = 12
    name: int = 80
    prose: int = 500
    sql: int = 2_000
    path: int = 4_096
    entries: int = 100
    guidance: bool = True


FULL = Detail()

_TERSE = Detail(
    findings=1,
    places=6,
    examples=0,
    pairs=2,
    name=40,
    prose=100,
    sql=80,
    path=1_024,
    entries=6,
    guidance=False,
)

LADDER = (
    FULL,
    Detail(findings=20, places=300, examples=5, pairs=8, prose=400, sql=600, entries=60),
    Detail(findings=20, places=120, examples=3, pairs=8, prose=300, sql=300, entries=40),
    Detail(findings=10, places=40, examples=2, pairs=6, prose=300, sql=300, entries=30),
    Detail(findings=1, places=20, examples=1, pairs=4, prose=160, sql=120, entries=15),
    _TERSE,
    replace(_TERSE, most=60),
    replace(_TERSE, most=25, places=3),
    replace(_TERSE, most=8, places=2, pairs=1, name=24, prose=60, sql=40, path=256, entries=2),
)


PiecewiseRenderer = Callable[[Report, Rules, Detail], Iterator[str]]


def bounded(render: PiecewiseRenderer) -> Renderer:
    """``render`` with the most detail that keeps to :data:`BYTES_PER_FILE` per file.

    It yields the text in pieces, so that an attempt which grows too long is given up early.
    """

    def render_within_bounds(report: Report, rules: Rules) -> str:
        limit = BYTES_PER_FILE * max(1, len(report.files))
        return within(limit, LADDER, lambda detail: render(report, rules, detail))

    return render_within_bounds


def within(limit: int, ladder: Sequence[Step], render: Callable[[Step], Iterable[str]]) -> str:
    """The first text of at most ``limit`` bytes of UTF-8 on the way down a ladder, or the last."""
    for step in ladder[:-1]:
        text = _joined(render(step), limit)
        if text is not None:
            return text
    return "".join(render(ladder[-1]))


def _joined(pieces: Iterable[str], limit: int) -> str | None:
    """The whole text, or ``None`` as soon as it exceeds ``limit`` bytes of UTF-8."""
    taken: list[str] = []
    size = 0
    for piece in pieces:
        size += len(piece.encode())
        if size > limit:
            return None
        taken.append(piece)
    return "".join(taken)
