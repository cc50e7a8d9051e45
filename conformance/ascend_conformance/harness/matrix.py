"""Exporters and the files that each writes, as a table for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .conform import Outcome
from .trial import RUN


def matrix(outcomes: Sequence[Outcome]) -> Iterator[tuple[str, ...]]:
    """Rows of cells, the header first: what each exporter makes of each file."""
    features = sorted({feature for one in outcomes for feature in one.features})
    yield ("", *(one.exporter.name for one in outcomes))
    for feature in (RUN, *features):
        yield (feature, *(_cell(one, feature) for one in outcomes))


def _cell(outcome: Outcome, feature: str) -> str:
    if feature == RUN:
        failures = sum(one.failure.feature not in outcome.features for one in outcome.shown)
        failures += len(outcome.absent)
        known = sum(one.feature not in outcome.features for one, _ in outcome.expected)
        cases = outcome.cases
    else:
        failures = sum(one.failure.feature == feature for one in outcome.shown)
        known = sum(one.feature == feature for one, _ in outcome.expected)
        cases = outcome.features.get(feature, 0)
    if not cases:
        return "not tried"
    if failures:
        return f"{failures} failure{'s' if failures > 1 else ''}"
    if feature == RUN and outcome.skipped:
        return f"{len(outcome.skipped)} skipped"
    return f"{known} expected" if known else f"ok in {cases}"


def as_text(outcomes: Sequence[Outcome]) -> str:
    """The matrix in columns."""
    rows = list(matrix(outcomes))
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    lines = (
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )
    return "\n".join(lines) + "\n"


def as_markdown(outcomes: Sequence[Outcome]) -> str:
    """The matrix as a table of Markdown."""
    first, *rows = [f"| {' | '.join(row)} |" for row in matrix(outcomes)]
    rule = "|".join(["", *(" --- " for _ in outcomes), " --- ", ""])
    return "\n".join([first, rule, *rows]) + "\n"
