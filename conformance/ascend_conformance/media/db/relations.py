"""Relations between entities, judged in a database."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from itertools import chain

from ...engine.relations.judge import Answer, Unjudged, ask, bind
from ...engine.relations.rule import Relation, load_relations
from ...engine.relations.views import View
from ...engine.work import TooMuchWork, limited
from ...finding import Finding, Skipped
from ...options import PARALLEL_BYTES, Options
from .judge import Outcome, condemned_cells
from .session import Session
from .views import ShownByDatabase


@dataclass
class Judged:
    """What came of the relations: findings, what could not be judged, and the ids that were."""

    findings: list[Finding] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    ran: set[str] = field(default_factory=set)


def judge_relations(session: Session, outcome: Outcome, options: Options) -> Judged:
    """Every selected relation, without the rows of cells that other rules condemned."""
    relations = [one for one in load_relations().values() if options.selection.wants(one)]
    shown = ShownByDatabase(session, session.connection, condemned_cells(session, outcome))
    judged = Judged()
    worth: list[Relation] = []
    for relation in relations:
        bound = bind(relation, shown.views())
        if isinstance(bound, Unjudged):
            judged.skipped.extend(_skipped(bound))
        else:
            worth.append(relation)
    ask_one = partial(_ask, outcome=outcome, options=options)
    for relation, answer in _asked(shown, worth, ask_one, options.workers):
        if isinstance(answer, Answer):
            judged.ran.add(relation.id)
            if answer.count:
                judged.findings.append(_finding(session, answer, options))
        elif answer is not None:
            judged.skipped.extend(_skipped(answer))
    return judged


Asking = Callable[[ShownByDatabase, Relation], Answer | Unjudged | None]


def _asked(
    shown: ShownByDatabase, relations: Sequence[Relation], ask_one: Asking, workers: int
) -> Iterable[tuple[Relation, Answer | Unjudged | None]]:
    """The answers in the order of the relations; of large files by several threads."""
    session = shown.session
    small = session.path is None or session.path.stat().st_size < PARALLEL_BYTES
    if workers < 2 or small:
        return [(one, ask_one(shown, one)) for one in relations]

    def share(number: int) -> list[tuple[Relation, Answer | Unjudged | None]]:
        with session.another_connection() as connection:
            own = ShownByDatabase(session, connection, shown.condemned)
            return [(one, ask_one(own, one)) for one in relations[number::workers]]

    with ThreadPoolExecutor(workers) as pool:
        try:
            return list(chain.from_iterable(pool.map(share, range(workers))))
        except BaseException:  # Ctrl-C above all: the pool waits for its threads
            session.stop.set()
            raise


def _ask(
    shown: ShownByDatabase, relation: Relation, outcome: Outcome, options: Options
) -> Answer | Unjudged | None:
    rows = sum(
        shown.session.rows.get(view.name, 0)
        for view in shown.views()
        if view.entity in relation.search.reads
    )
    try:
        with outcome.failures.of_rule(relation), limited(shown.connection, 4 * rows):
            return ask(relation, shown, options.max_examples)
    except TooMuchWork as reason:
        return Unjudged(relation, str(reason))
    return None


def _skipped(unjudged: Unjudged) -> Iterator[Skipped]:
    if unjudged.here:
        yield Skipped(unjudged.relation.id, unjudged.relation.search.at, unjudged.reason)


def cell_of(session: Session, view: View, column: str) -> str | None:
    """The column of a table that shows a value of an entity."""
    match = session.layout.tables[view.name]
    value = f"{view.entity}.{column}"
    for name in match.columns:
        if value in match.table.columns[name].shows.of:
            return match.table.columns[name].name
    return None


def _finding(session: Session, answer: Answer, options: Options) -> Finding:
    relation, table = answer.relation, answer.view.name
    summary = relation.summary.rstrip(".")
    first = answer.places[0]
    return Finding(
        rule=relation.id,
        name=relation.name,
        verdict=relation.verdict,
        file=session.label,
        message=f"{summary}: {answer.count:,} of {answer.population:,} rows (first: rowid {first})",
        expected=relation.expected,
        table=table,
        column=cell_of(session, answer.view, relation.search.at.partition(".")[2]),
        count=answer.count,
        first_rowid=first,
        examples=answer.examples,
        context={"count": answer.count, "rows": answer.population, "first_rowid": first},
        sql=answer.query.replace("main.", "") if options.with_sql else None,
    )
