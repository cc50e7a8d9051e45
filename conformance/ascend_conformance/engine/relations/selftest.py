"""Every relation meets its own break in one medium, and only its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

from ..trials import Rows, Trial, Trials, compare
from .edits import CannotShow, Changed, Editable, change
from .judge import Answer, Unjudged, ask, bind
from .rule import Edit, Relation, load_relations
from .sql import matched_query


@dataclass(frozen=True, slots=True)
class Bench:
    """A clean recording in one medium. ``changing`` lends a copy that may be changed.

    ``others``: ids of the medium's own rules that find something in such a copy.
    """

    subject: str
    changing: Callable[[], AbstractContextManager[Editable]]
    others: Callable[[Editable], Iterable[str]]


def try_relations(bench: Bench, relations: Sequence[Relation] | None = None) -> Trials:
    """Break every relation, or those given, on a bench, and make each of its legal cases."""
    result = Trials()
    every = list(load_relations().values())
    with bench.changing() as clean:
        shown = [one for one in every if not isinstance(bind(one, clean.views()), Unjudged)]
        result.unclean += [f"{bench.subject}: {one}" for one in _found(clean, shown)]
        result.unclean += [f"{bench.subject}: {one}" for one in bench.others(clean)]
    for relation in every if relations is None else relations:
        if relation not in shown:
            trial = Trial(bench.subject, relation.id)
            result.trials.append(replace(trial, not_broken="its columns are not shown"))
            continue
        cases = [("", relation.search.edits)]
        cases += [(f"case {at}", (one,)) for at, one in enumerate(relation.search.legal, start=1)]
        for legal, edits in cases:
            trial = Trial(bench.subject, relation.id, also=tuple(relation.also), legal=legal)
            with bench.changing() as copy:
                result.trials.append(_tried(bench, trial, relation, edits, copy, shown))
    return result


def _tried(
    bench: Bench,
    trial: Trial,
    relation: Relation,
    edits: Sequence[Edit],
    copy: Editable,
    shown: Sequence[Relation],
) -> Trial:
    try:
        done = [change(relation, edit, copy) for edit in edits]
    except CannotShow as reason:
        return replace(trial, not_broken=str(reason))
    changed = [one for one in done if isinstance(one, Changed)]
    if len(changed) < len(done):
        return replace(trial, not_broken="no row that the edit is about")
    fired = tuple(sorted({*_found(copy, shown), *bench.others(copy)}))
    wrong = None if trial.legal else _wrong(relation, copy, changed)
    return replace(trial, fired=fired, wrong=wrong)


def _found(shown: Editable, relations: Iterable[Relation]) -> Iterator[str]:
    for relation in relations:
        answer = ask(relation, shown, 0)
        if isinstance(answer, Answer) and answer.count:
            yield relation.id


def _wrong(relation: Relation, copy: Editable, changed: Sequence[Changed]) -> str | None:
    """Where a relation finds other rows than those that were broken."""
    answer = ask(relation, copy, 0)
    if isinstance(answer, Unjudged) or not answer.count:
        return None
    found = Rows(answer.count, answer.places[0])
    if isinstance(relation.found, int):
        return compare(found, Rows(relation.found))
    if relation.found is not None:
        bound: Any = bind(relation, copy.views())  # it was asked
        stated = matched_query(relation, bound, copy.dialect, None, relation.found, (), True)
        [(count, first)] = copy.rows(f"SELECT count(*), min(place) FROM ({stated}) bad")
        return compare(found, Rows(count, first))
    places = {one.place for one in changed if one.view.name == answer.view.name}
    return compare(found, Rows(1, min(places, default=None)))
