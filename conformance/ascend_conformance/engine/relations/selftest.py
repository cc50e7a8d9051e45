"""Every relation meets its own break in one medium, and only its own."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from ..trials import NotBreakable, Rows, Trial, Trials, try_changes, wrong_rows
from .binding import Unjudged, bind
from .edits import CannotShow, Changed, Editable, change
from .judge import ask, counted_together, groups
from .looking import Looks
from .rule import Edit, Relation, load_relations
from .sql import matched_query


@dataclass(frozen=True, slots=True)
class Bench:
    """A clean recording in one medium. ``changing`` lends a copy that may be changed.

    ``others``: ids of the medium's own rules that find something in such a copy. ``changed``: what
    can differ in it from the clean recording, as :meth:`.Looks.concerned` takes it.
    """

    subject: str
    changing: Callable[[], AbstractContextManager[Editable]]
    others: Callable[[Editable], Iterable[str]]
    changed: Callable[[Editable], Collection[str] | None] = lambda _: None


def try_relations(bench: Bench, relations: Sequence[Relation] | None = None) -> Trials:
    """Break every relation, or those given, on a bench, and make each of its legal cases."""
    result = Trials()
    every = list(load_relations().values())
    with bench.changing() as clean:
        shown = [one for one in every if not isinstance(bind(one, clean.views()), Unjudged)]
        result.unclean += [f"{bench.subject}: {one}" for one in _found(clean, shown)]
        result.unclean += [f"{bench.subject}: {one}" for one in bench.others(clean)]
        looks = Looks(clean, shown)
    for relation in every if relations is None else relations:
        if relation not in shown:
            trial = Trial(bench.subject, relation.id)
            result.trials.append(replace(trial, not_broken="its columns are not shown"))
            continue
        stated = {f"case {at}": one for at, one in enumerate(relation.search.legal, start=1)}
        trial = Trial(bench.subject, relation.id, also=tuple(relation.also))
        make = partial(_change, bench, relation, shown, looks)
        result.trials += try_changes(trial, {"": relation.search.edits, **stated}, make)
    return result


def _change(
    bench: Bench,
    relation: Relation,
    shown: Sequence[Relation],
    looks: Looks,
    trial: Trial,
    edits: Sequence[Edit],
) -> tuple[Iterable[str], str | None]:
    with bench.changing() as copy:
        try:
            done = [change(relation, edit, copy) for edit in edits]
        except CannotShow as reason:
            raise NotBreakable(str(reason)) from reason
        changed = [one for one in done if isinstance(one, Changed)]
        if len(changed) < len(done):
            raise NotBreakable("no row that the edit is about")
        concerned = looks.concerned(shown, copy, bench.changed(copy))
        fired = [*_found(copy, concerned), *bench.others(copy)]
        return fired, None if trial.legal else _wrong(relation, copy, changed)


def _found(shown: Editable, relations: Iterable[Relation]) -> Iterator[str]:
    for together in groups(relations, shown):
        for relation, counted in zip(together, counted_together(together, shown), strict=True):
            if counted.count:
                yield relation.id


def _wrong(relation: Relation, copy: Editable, changed: Sequence[Changed]) -> str | None:
    """Where a relation finds other rows than those that were broken."""
    answer = ask(relation, copy, 0)
    if isinstance(answer, Unjudged) or not answer.count:
        return None

    def rows_of(stated: str | None) -> Rows:
        if stated is None:
            places = {one.place for one in changed if one.view.name == answer.view.name}
            return Rows(1, min(places, default=None))
        bound: Any = bind(relation, copy.views())  # it was asked
        query = matched_query(relation, bound, copy.dialect, None, stated, (), True)
        [(count, first)] = copy.rows(f"SELECT count(*), min(place) FROM ({query}) bad")
        return Rows(count, first)

    return wrong_rows([Rows(answer.count, answer.places[0])], relation.found, rows_of)
