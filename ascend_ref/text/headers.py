"""Whose header stands in a CSV file: under which circumstances a writer would print it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import NamedTuple

from ascend_spec import per_spec, text_catalog
from ascend_spec.text import CsvColumn, CsvFile, Scene
from ascend_spec.text.model import Level

Header = tuple[str, ...]
_UNIT = re.compile(r"\(([^()]*)\)$")


class Circumstance(NamedTuple):
    """One set of circumstances under which a file has a header."""

    writer: str
    family: str
    level: Level
    metrics: str | None
    scene: frozenset[Scene]


@dataclass(frozen=True, slots=True)
class Recognised:
    """A header, and what it must have been written under.

    ``wanted`` is the header of the spec that is equal, or nearest; ``circumstances`` are those that
    it is printed under, none but for a header that no writer prints.
    """

    header: Header
    wanted: Header
    circumstances: tuple[Circumstance, ...]

    @property
    def exact(self) -> bool:
        """Whether some writer prints exactly this header."""
        return self.header == self.wanted


def recognise(
    file: CsvFile, header: Sequence[str], is_by: Callable[[str], bool] | None = None
) -> Recognised:
    """The circumstances of a header; of several equally near ones, those of the newest writer.

    is_by: whether a writer can have written the file, by its id; where none can, any may have.
    """
    given = tuple(header)
    known = headers_of(file.name, repeats(file, given))
    if is_by is not None:
        chosen = {one: tuple(at for at in ats if is_by(at.writer)) for one, ats in known.items()}
        known = {one: ats for one, ats in chosen.items() if ats} or known
    if given in known:
        return Recognised(given, given, known[given])
    renamed = renamed_columns(file, given)
    meant = tuple(renamed.get(cell, cell) for cell in given)
    nearest = min(known, key=lambda one: _distance(meant, one))
    return Recognised(given, nearest, known[nearest])


def _distance(given: Header, wanted: Header) -> tuple[int, int]:
    """Columns that are missing weigh more than further ones."""
    have, need = Counter(given), Counter(wanted)
    missing, further = (need - have).total(), (have - need).total()
    return 2 * missing + further, sum(a != b for a, b in zip(given, wanted, strict=False))


def repeats(file: CsvFile, header: Header) -> int:
    """How often the repeated group of columns stands in a header."""
    members = [one for one in file.own_columns if one.group is not None]
    if not members:
        return 0
    plain = [name for one in members for name in one.names if "{" not in name]
    if plain:
        counts = Counter(header)
        return max(counts[name] for name in plain)
    starts = tuple(one.name.partition("{")[0] for one in members)
    return sum(name.startswith(starts) for name in header) // len(members)


@per_spec
def headers_of(name: str, repeat: int = 0) -> Mapping[Header, tuple[Circumstance, ...]]:
    """Every header that a file has under any circumstances, newest writers first."""
    file = text_catalog().csv[name]
    found: dict[Header, list[Circumstance]] = {}
    for at in _circumstances(file):
        try:
            header = file.header(**at._asdict(), repeat=repeat)
        except ValueError:
            continue  # these metrics do not go with the family
        found.setdefault(header, []).append(at)
    return {header: tuple(ats) for header, ats in found.items()}


def _circumstances(file: CsvFile) -> Iterator[Circumstance]:
    conditions = [column.when for column in file.columns]
    asked = {one for when in conditions for one in (*when.scenes, *when.without)}
    scenes = sorted(asked)
    subsets = [
        frozenset(some) for size in range(len(scenes) + 1) for some in combinations(scenes, size)
    ]
    metrics: list[str | None] = [None]
    if file.pmu is not None and file.groups is not None:
        metrics += [name for name, group in file.groups.groups.items() if group.orders]
    by_level = file.pmu is not None or any(when.levels for when in conditions)
    for writer in file.writers.values():
        levels = file.levels_by(writer.id)
        for family, level, group, scene in product(
            (one for one in writer.families if one in file.families),
            levels if by_level else levels[:1],
            metrics,
            subsets,
        ):
            yield Circumstance(writer.id, family, level, group, scene)


def canonical_names(file: CsvFile, header: Sequence[str], writer: str) -> list[str | None]:
    """For each cell of a header the name of its column in ``raw``; ``None`` for a strange one.

    That is the newest header text. Of columns that stand there several times, the second is called
    ``name 2``. Columns that other tools renamed count as what they are.
    """
    seen: Counter[str] = Counter()
    names: list[str | None] = []
    renamed = renamed_columns(file, header)
    for cell in header:
        column = column_of(file, renamed.get(cell, cell), writer)
        if column is None:
            names.append(None)
            continue
        name = column.name if "{" not in column.name else cell
        seen[name] += 1
        names.append(name if seen[name] == 1 else f"{name} {seen[name]}")
    return names


def renamed_columns(file: CsvFile, header: Sequence[str]) -> dict[str, str]:
    """Header texts that no writer prints, each with the newest one of the column that it means.

    It has the letters of a column of this file, or of one that shows the same in another file,
    whatever its capitals, signs and brackets, and names no other unit. Columns that stand there
    under a name of their own are not meant.
    """
    alike = _alike(file.name)
    own = [column_of(file, cell, None) for cell in header]
    taken = {column.name for column in own if column is not None}
    found: dict[str, str] = {}
    for cell, column in zip(header, own, strict=True):
        name, unit = alike.get(_letters(cell), (None, None))
        stated = _UNIT.search(cell)
        fits = stated is None or stated[1] == unit
        if column is None and name is not None and name not in taken and fits:
            found[cell] = name
            taken.add(name)
    return found


@per_spec
def _alike(name: str) -> Mapping[str, tuple[str, str | None]]:
    """By letters, the column of a file that these mean, and its unit; none that mean several."""
    own = text_catalog().csv[name].columns
    homes = {
        (one.shows, one.formula): one
        for one in own
        if one.metric is None and (one.shows.of or one.formula)
    }
    found: dict[str, set[tuple[str, str | None]]] = {}
    for column in own:
        for text in column.names:
            found.setdefault(_letters(text), set()).add((column.name, column.unit))
    others: dict[str, set[tuple[str, str | None]]] = {}
    for file in text_catalog().csv.values():
        for column in file.columns if file.name != name else ():
            home = homes.get((column.shows, column.formula))
            if home is not None and column.metric is None and home.unit == column.unit:
                for text in column.names:
                    others.setdefault(_letters(text), set()).add((home.name, home.unit))
    meant = others | found
    return {letters: next(iter(some)) for letters, some in meant.items() if len(some) == 1}


def _letters(text: str) -> str:
    """Letters and digits of a header text in lower case, without what stands in brackets."""
    return re.sub(r"\([^()]*\)|[^0-9A-Za-z]", "", text).lower()


def column_of(file: CsvFile, cell: str, writer: str | None) -> CsvColumn | None:
    """The column with a header text; of a repeated group also by a numbered text."""
    found = file.column(cell, writer)
    if found is not None:
        return found
    for column in file.own_columns:
        if "{n}" in column.name:
            start, _, end = column.name.partition("{n}")
            number = cell[len(start) : len(cell) - len(end)]
            if cell.startswith(start) and cell.endswith(end) and number.isdecimal():
                return column
    return None
