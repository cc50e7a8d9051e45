"""How two sides of a medium are compared, and which media are compared with each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import apsw

from ascend_ref.db.open import UnreadableDatabase
from ascend_ref.recorded.tables import DatabaseFile

from ..engine.candidate import Candidate
from ..media.text.deliverables import COMPANIONS, Deliverable
from ..options import Options
from . import databases, texts
from .answer import Answer
from .files import DatabaseTable, name_without_number, tables_of
from .private import private_differences
from .revisions import explained
from .sides import Recording
from .stating import SIDES

Side: TypeAlias = Sequence[Candidate]


def _of_databases(left: Side, right: Side, options: Options) -> Answer:
    ours, theirs = ([one.path for one in some] for some in (left, right))
    opened, broken = _opened((*ours, *theirs))
    # What an unreadable database holds is not known, and so its counterpart is left out as well.
    names = {name_without_number(problem.path) for problem in broken}
    ours, theirs = (
        [one for one in some if name_without_number(one) not in names] for some in (ours, theirs)
    )
    unreadable = "; ".join(map(str, broken)) or None
    if not ours or not theirs:
        return Answer(unreadable=unreadable)
    tables = [*_tables(ours)], [*_tables(theirs)]
    examples = max(options.max_examples, 1)
    found = databases.differences(
        tables[0],
        tables[1],
        sides=SIDES,
        output=databases.output_of(opened.values()),
        examples=examples,
        clocks=True,
        opened=opened,
    )
    found = [replace(one, place=one.feature) for one in found]
    files = [[opened[path] for path in some] for some in (ours, theirs)]
    found = list(explained(found, files[0], files[1]))
    found += private_differences(ours, theirs, SIDES, examples)
    places = len({one.name for some in tables for one in some})
    return Answer(found, places=places, unreadable=unreadable)


def _opened(
    paths: Sequence[Path],
) -> tuple[dict[Path, DatabaseFile], list[UnreadableDatabase]]:
    """The databases that can be read, and why the others cannot."""
    found: dict[Path, DatabaseFile] = {}
    broken: list[UnreadableDatabase] = []
    for path in paths:
        try:
            found[path] = DatabaseFile(path)
        except UnreadableDatabase as problem:
            broken.append(problem)
    return found, broken


def _tables(paths: Sequence[Path]) -> Iterator[DatabaseTable]:
    for path in paths:
        try:
            yield from [DatabaseTable(path, name) for name in tables_of(path)]
        except apsw.Error as problem:
            raise UnreadableDatabase(path, f"{problem}; expected a database") from problem


def _deliverables(side: Side) -> list[Deliverable]:
    return [one for candidate in side for one in candidate.details.deliverables]


def _of_texts(left: Side, right: Side, options: Options) -> Answer:
    ours, theirs = _deliverables(left), _deliverables(right)
    names = [{one.name for one in some} - {*COMPANIONS} for some in (ours, theirs)]
    if names[0].isdisjoint(names[1]):
        return compare_across(left, right, options)
    found = texts.differences(
        ours,
        theirs,
        sides=SIDES,
        numbered=("connection_id",),
        examples=max(options.max_examples, 1),
        clocks=True,
    )
    return Answer(found, places=len({one.name for one in (*ours, *theirs)}))


def _of_blocks(left: Side, right: Side, options: Options) -> Answer:
    from .blocks import differences_of_blocks

    return differences_of_blocks(left, right, options)


def _of_raw(left: Side, right: Side, options: Options) -> Answer:
    from .raw_files import differences_of_raw

    return differences_of_raw(left, right, options)


Comparer: TypeAlias = Callable[[Side, Side, Options], Answer]
COMPARERS: Mapping[str, Comparer] = {
    "db": _of_databases,
    "text": _of_texts,
    "bin": _of_blocks,
    "raw": _of_raw,
    "mindspore": _of_raw,
}
"""By medium how two sides of it are compared."""


def comparable_across(
    left: Recording, right: Recording, common: Sequence[str]
) -> Iterator[tuple[str, str]]:
    """The media of the left and the right side that are compared with each other."""
    for pair in (("db", "text"), ("text", "db")):
        if not set(pair) & {*common} and left.of(pair[0]) and right.of(pair[1]):
            yield pair


def compare_across(left: Side, right: Side, options: Options) -> Answer:
    """A database and texts, in what both show of the recording."""
    from .across import differences_across

    return differences_across(left, right, options)
