"""The boundary campaign on relations: each comparison of each relation flipped, one at a time.

A flipped relation is noticed where it finds another number of rows, or another first one, than the
relation itself: in a clean recording, after a break or a legal case of its own, after the break of
another relation, in a database that meets its bounds, or in a real file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import apsw
import duckdb
from boundary_cases import CASES, CASES_OF_FILES
from boundary_tokens import flips

from ascend_conformance.engine.relations.binding import Unjudged, bind
from ascend_conformance.engine.relations.edits import CannotShow, Changed, Editable, change
from ascend_conformance.engine.relations.judge import ask
from ascend_conformance.engine.relations.rule import Edit, Relation, load_relations
from ascend_conformance.engine.relations.selftest import Bench
from ascend_conformance.engine.work import NoAnswer, TooMuchWork, limited
from ascend_conformance.media.db.edits import EditableDatabase
from ascend_conformance.media.db.selftest import open_bench as open_database
from ascend_conformance.media.db.session import start
from ascend_conformance.media.db.sql import register
from ascend_conformance.media.mindspore.selftest import open_bench as open_mindspore
from ascend_conformance.media.raw.benches import open_bench as open_raw
from ascend_conformance.media.text.edits import EditableFiles
from ascend_conformance.media.text.selftest import open_bench as open_texts
from ascend_ref.db.open import open_readonly

Mutants = dict[str, Relation]
Seen = tuple[int, int | None]

DATA = Path(__file__).parents[2] / ".." / "shared" / "data"
BENCHES: Sequence[Callable[[], AbstractContextManager[Bench]]] = (
    partial(open_database, "pytorch"),
    partial(open_texts, "csv"),
    partial(open_texts, "csv", "cpp"),
    partial(open_texts, "timeline"),
    partial(open_texts, "timeline", "cpp"),
    partial(open_raw, "text-museum"),
    partial(open_mindspore, "G2"),
    partial(open_mindspore, "G3m"),
)
REFUSED = (apsw.Error, duckdb.Error, NoAnswer, TooMuchWork)
"""What comes of a flip that cannot be asked; that is no evidence."""
BUDGET = 3_000_000
"""Steps of SQLite for a flip of a join, which may join every row with every other one."""


def mutants(relation: Relation) -> Mutants:
    """The relation with each of its comparisons flipped, by the comparison."""
    plain = replace(relation.search, link=None, excuse=None)
    found: Mutants = {}
    for field in ("joined", "where", "bad"):
        for at, after in flips(getattr(plain, field) or ""):
            found[at] = replace(relation, search=replace(plain, **{field: after}))
    if plain.walk:
        for at, after in flips(plain.walk.of or ""):
            walk = replace(plain.walk, of=after)
            found[at] = replace(relation, search=replace(plain, walk=walk))
    return found


class Campaign:
    """The flips that are still to be noticed."""

    def __init__(self, relations: Sequence[str] | None = None) -> None:
        every = load_relations().values()
        self.relations = [one for one in every if relations is None or one.id in relations]
        self.alive = {one.id: mutants(one) for one in self.relations}
        self.number = sum(map(len, self.alive.values()))

    def run(self) -> list[str]:
        """Play all benches; what nothing notices."""
        for opened in BENCHES:
            with opened() as bench:
                self._play(bench)
                self._meet(bench)
        for path in sorted(DATA.rglob("*.db")):
            with _opened(path) as shown:
                self._strike(shown, self.relations)
        return sorted(f"{one}: {at}" for one, left in self.alive.items() for at in left)

    def _play(self, bench: Bench) -> None:
        with bench.changing() as clean:
            shown = [one for one in load_relations().values() if _is_shown(one, clean)]
            self._strike(clean, shown)
        for relation in shown:
            for edits in (relation.search.edits, *relation.search.legal):
                asked = [one for one in shown if self.alive.get(one.id)]
                if asked:
                    with bench.changing() as copy:
                        if _is_changed(relation, edits, copy):
                            self._strike(copy, asked)

    def _meet(self, bench: Bench) -> None:
        """Meet the bounds of relations in databases and files that no writer makes."""
        with bench.changing() as copy:
            cases = _cases(copy)
        for relation in self.relations:
            for statements in cases.get(relation.id, ()):
                # A folder may lack the file that statements are about.
                with bench.changing() as copy, suppress(duckdb.CatalogException):
                    for statement in statements:
                        _execute(copy, statement)
                    self._strike(copy, [relation])

    def _strike(self, shown: Any, relations: Sequence[Relation]) -> None:
        """Drop the flips that find something else than their relation."""
        for relation in relations:
            alive = self.alive.get(relation.id)
            expected = _seen(relation, shown) if alive else None
            if not alive or expected is None:
                continue
            for at, flipped in list(alive.items()):
                found = _seen(flipped, shown)
                if found is not None and found != expected:
                    del alive[at]


def _cases(copy: Editable) -> Mapping[str, Sequence[Sequence[str]]]:
    """Statements that meet bounds in a medium, by relation."""
    if isinstance(copy, EditableDatabase):
        return CASES
    return CASES_OF_FILES if isinstance(copy, EditableFiles) else {}


def _execute(copy: Editable, statement: str) -> None:
    if isinstance(copy, EditableDatabase):
        copy.connection.execute(statement)
    elif isinstance(copy, EditableFiles):
        copy.facts.connection.execute(statement)


def _is_shown(relation: Relation, shown: Any) -> bool:
    return not isinstance(bind(relation, shown.views()), Unjudged)


def _is_changed(relation: Relation, edits: Sequence[Edit], copy: Editable) -> bool:
    try:
        return all(isinstance(change(relation, edit, copy), Changed) for edit in edits)
    except CannotShow:
        return False


def _seen(relation: Relation, shown: Any) -> Seen | None:
    """How many rows a relation finds, and the first; nothing where it cannot be asked."""
    try:
        if isinstance(shown, EditableDatabase):
            with limited(shown.connection, BUDGET):
                answer = ask(relation, shown, 1)
        else:
            answer = ask(relation, shown, 1)
    except REFUSED:
        return None
    if isinstance(answer, Unjudged) or not answer.count:
        return (0, None)
    return answer.count, answer.places[0]


@contextmanager
def _opened(path: Path) -> Iterator[EditableDatabase]:
    with closing(open_readonly(path)) as connection:
        register(connection)
        session = start(path.name, None, connection, "observed")
        yield EditableDatabase(session, connection)
