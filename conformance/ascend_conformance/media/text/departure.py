"""How two sides that do not belong together differ: by a clock, by a unit, or in all."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ...compare.agreement import WHICH, Which
from ...compare.match import NUMBERS, PAIRS, REALS, Outcome, pair_types
from ...compare.sql import quoted
from .folder import Folder
from .votes import Departure

MOST = 0.5
"""The share of rows that differ from which on two sides do not belong together: files of two ranks
share next to none, and single faults of an exporter leave most rows alone."""

FEWEST = 2
"""Cells or rows that have to differ: a single one says nothing about a file."""

ALIKE = 0.01
"""How far factors, or differences, of rows lie apart at most that count as one, as a share."""

ROUNDED = 0.1
"""How far factors around a power of 1,000 may, since a larger unit leaves fewer digits."""

LEAST_FACTOR = 5
"""Units differ by more, but for those that are taken for each other."""

MISTAKEN = (1.024, 1.024**2, 1.024**3)
"""Factors between units that are: KB and KiB, MB and MiB, GB and GiB."""

SAME = 0.001
"""How far the factor of a unit that is taken for another may be off, as a share."""

ROUNDING_NS = 1_000
"""Times that are rounded to whole us are off by less."""

LEAST_SHIFT_NS = 1_000_000
"""Clocks of host and device differ by less in sound captures."""


@dataclass(frozen=True, slots=True)
class _Apart:
    """Pairs of numbers that differ: the bounds of their ratios, the same without the tenths at
    both ends, and those of their differences.
    """

    ratios: tuple[float, float]
    usual: tuple[float, float]
    differences: tuple[float, float]

    def shift(self) -> float | None:
        """What all differ by, if it is more than clocks do."""
        least, most = self.differences
        same = abs(least) >= LEAST_SHIFT_NS and most - least <= ALIKE * abs(least)
        return least if same else None

    def unit(self) -> float | None:
        """The factor between two units, if the ratios are one."""
        least, most = self.ratios
        if 0 < least <= most <= least * (1 + ALIKE) and not 1 / LEAST_FACTOR < least < LEAST_FACTOR:
            return (least + most) / 2
        least, most = self.usual
        if least > 0 and (_is_thousand(least, most) or _is_mistaken(least, most)):
            return (least + most) / 2
        return None


def departure(folder: Folder, found: Outcome) -> tuple[Departure, float]:
    """How the sides differ in the pairs that :data:`PAIRS` holds, and by which ns or factor."""
    types = pair_types(found.compared)
    near = found.compared.near
    if near is not None:
        apart = _apart(folder, (near,), "HUGEINT" if types[near] in NUMBERS else "DOUBLE")
        if apart and (shift := apart.shift()) is not None:
            return "another-clock", shift
    numbers = [name for name in found.compared.columns if types[name] in NUMBERS | REALS]
    for names in (*((name,) for name in numbers if name != near), tuple(numbers)):
        apart = _apart(folder, names)
        if apart and (factor := apart.unit()) is not None:
            return "another-unit", factor
    return "another-capture", 0.0


def _apart(folder: Folder, names: Sequence[str], kind: str = "DOUBLE") -> _Apart | None:
    """The pairs that differ in these columns, as numbers of this kind, if there are enough."""
    sides = ([quoted(f"{which}_{name}") for which in WHICH] for name in names)
    cells = " UNION ALL ".join(
        f"SELECT CAST({left} AS {kind}) AS l, CAST({right} AS {kind}) AS r FROM {PAIRS}"
        for left, right in sides
    )
    if not cells:
        return None
    ((rows, *bounds),) = folder.facts.rows(
        "SELECT count(*), min(l / r), max(l / r), quantile_cont(l / r, 0.1), "
        "quantile_cont(l / r, 0.9), min(l - r), max(l - r) "
        f"FROM ({cells}) WHERE l <> r AND r <> 0 AND l <> 0"
    )
    ratios, usual, differences = bounds[:2], bounds[2:4], bounds[4:]
    return _Apart(tuple(ratios), tuple(usual), tuple(differences)) if rows >= FEWEST else None


def _is_thousand(least: float, most: float) -> bool:
    """Whether ratios between these bounds are a power of 1,000 of rounded numbers."""
    power = math.log(most * least) / math.log(1_000_000)
    is_whole = round(power) != 0 and abs(power - round(power)) < SAME * 10
    return is_whole and most <= least * (1 + ROUNDED)


def _is_mistaken(least: float, most: float) -> bool:
    """Whether ratios between these bounds are those of units that are taken for each other."""
    bounds = (least, most) if least > 1 else (1 / most, 1 / least)
    return any(all(abs(one / factor - 1) <= SAME for one in bounds) for factor in MISTAKEN)


def is_in_form(folder: Folder, found: Outcome) -> bool:
    """Whether rows stand alone for the form of one column, and have all else in common."""
    return _is_reworded(folder, found) or _is_rounded(folder, found)


def _is_reworded(folder: Folder, found: Outcome) -> bool:
    """Whether rows stand alone for one key that is in other words, and have all others in common.

    Words have no digits: names and numbers of ranks, devices, links and steps are none.
    """
    if found.compared.near is not None or not all(found.alone.values()):
        return False
    apart = [key for key in found.compared.keys if not _is_shared(folder, key)]
    if len(apart) != 1 or len(found.compared.keys) == 1:
        return False
    words = " UNION ALL ".join(_alone(apart[0], *sides) for sides in (WHICH, WHICH[::-1]))
    digits = "regexp_matches(CAST(word AS VARCHAR), '[0-9]')"
    return not folder.facts.value(f"SELECT count(*) FROM ({words}) WHERE {digits}")


def _is_rounded(folder: Folder, found: Outcome) -> bool:
    """Whether rows stand alone for times that are rounded: each has another nearby."""
    near = found.compared.near
    if near is None or pair_types(found.compared)[near] not in NUMBERS:
        return False
    fewer, more = sorted(WHICH, key=lambda which: found.alone[which])
    one, other = (
        f"SELECT CAST({quoted(f'{which}_{near}')} AS HUGEINT) AS time FROM {PAIRS} "
        f"WHERE {without}_turn IS NULL"
        for which, without in ((fewer, more), (more, fewer))
    )
    farthest = folder.facts.value(
        f"SELECT max(coalesce(least(o.time - b.time, a.time - o.time), {LEAST_SHIFT_NS})) "
        f"FROM ({one}) o ASOF LEFT JOIN ({other}) b ON o.time >= b.time "
        f"ASOF LEFT JOIN ({other}) a ON o.time <= a.time"
    )
    return farthest is not None and farthest <= ROUNDING_NS


def _is_shared(folder: Folder, key: str) -> bool:
    """Whether the rows alone of both sides have most values of a key in common."""
    left, right = (_alone(key, *sides) for sides in (WHICH, WHICH[::-1]))
    fewest = f"least((SELECT count(*) FROM ({left})), (SELECT count(*) FROM ({right})))"
    common = f"(SELECT count(*) FROM ({left} INTERSECT {right}))"
    return bool(folder.facts.value(f"SELECT {common} >= {MOST} * {fewest}"))


def _alone(key: str, which: Which, other: Which) -> str:
    """The values of a key that the rows alone of a side have."""
    word = quoted(f"{which}_{key}")
    return f"SELECT DISTINCT {word} AS word FROM {PAIRS} WHERE {other}_turn IS NULL"
