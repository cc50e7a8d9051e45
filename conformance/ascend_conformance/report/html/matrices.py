"""Findings counted by rule and rank, or by rule and file, and by rank and kind of file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from ascend_conformance.finding import VERDICTS, Verdict

from ..phrases import conformity_by, counted
from .gather import Gathered

COLUMNS = 24
ROWS = 100


class Matrix(NamedTuple):
    """A table of cells with the heads of its columns and rows, which are not made harmless yet.

    ``corner`` is the head of the column of heads; ``left`` says what the table has no room for.
    """

    corner: str
    heads: Sequence[str]
    rows: Sequence[tuple[str, Sequence[str]]]
    left: Sequence[str]


def by_rule(gathered: Gathered, names: Sequence[str]) -> Matrix:
    """Places of each rule by rank, or by file where no file names a rank; ``names``: of files."""
    ranks = gathered.ranks
    columns = {rank: place for place, rank in enumerate(ranks)}
    heads = [f"rank {rank}" for rank in ranks[:COLUMNS]] or names[:COLUMNS]
    rows = []
    for cause in gathered.causes[:ROWS]:
        counts = Counter[int]()
        for number, found in cause.files.items():
            seen = gathered.files[number].seen
            if not ranks:
                counts[number] += found
            for rank in seen.ranks if seen else ():
                counts[columns[rank]] += found
        cells = [f"{counts[at]:,}" if counts[at] else "" for at in range(len(heads))]
        rows.append((cause.rule, cells))
    width, noun = (len(ranks), "rank") if ranks else (len(gathered.files), "file")
    return Matrix("rule", heads, rows, _left((width, noun), (len(gathered.causes), "rule")))


def by_rank(gathered: Gathered) -> Matrix:
    """What was found in the files of each rank, by their kinds."""
    cells: dict[tuple[int, str], list[int]] = {}
    for number, file in enumerate(gathered.files):
        for rank in file.seen.ranks if file.seen else ():
            cells.setdefault((rank, file.seen.carrier if file.seen else ""), []).append(number)
    kinds = sorted({kind for _, kind in cells})
    rows = [
        (
            f"rank {rank}",
            [_verdict(gathered, cells.get((rank, kind), ())) for kind in kinds[:COLUMNS]],
        )
        for rank in gathered.ranks[:ROWS]
    ]
    left = _left((len(kinds), "kind of file"), (len(gathered.ranks), "rank"))
    return Matrix("rank", kinds[:COLUMNS], rows, left)


def _verdict(gathered: Gathered, numbers: Sequence[int]) -> str:
    """``conforms``, or what was found how often."""
    if not numbers:
        return ""
    counts = Counter[Verdict]()
    for number in numbers:
        counts.update(gathered.tallies[number])
    found = [counted(counts[verdict], verdict) for verdict in VERDICTS if counts[verdict]]
    files = [gathered.files[number] for number in numbers]
    return ", ".join(found) or conformity_by(counts, files)


def _left(columns: tuple[int, str], rows: tuple[int, str]) -> list[str]:
    beyond = ((columns[0] - COLUMNS, columns[1]), (rows[0] - ROWS, rows[1]))
    return [counted(left, f"further {noun}") for left, noun in beyond if left > 0]
