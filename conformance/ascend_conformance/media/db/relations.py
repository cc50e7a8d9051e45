"""Relations between entities, judged in a database."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace

import apsw

from ...engine.asking import Asked, At, Question
from ...engine.relations.binding import Unjudged, bind
from ...engine.relations.judge import Answer, groups, questions
from ...engine.relations.looking import Looks
from ...engine.relations.rule import Relation, load_relations
from ...engine.relations.views import View
from ...engine.work import limited
from ...finding import Finding
from ...options import Options
from .judge import Outcome, condemned_cells, resolved_cells
from .references import References
from .session import Session
from .views import ShownByDatabase

ONLY_DEVICE = "NPU_INFO"
"""What it holds is a constant in the views of other tables."""


def looks_at(session: Session) -> Looks:
    """What relations look at in a database without a bad cell."""
    return Looks(ShownByDatabase(session, session.connection), load_relations().values())


def judge_relations(
    session: Session,
    outcome: Outcome,
    options: Options,
    clean: Looks | None = None,
    changed: Collection[str] | None = None,
) -> Asked[Finding]:
    """Every selected relation, without the rows of cells that other rules condemned.

    Or, of a database that was changed since :func:`looks_at` saw it, those that look at the tables
    that ``changed``, if it is known which.
    """
    relations = [one for one in load_relations().values() if options.selection.wants(one)]
    condemned = condemned_cells(session, outcome.found, outcome.references)
    resolved = resolved_cells(session, outcome)
    shown = ShownByDatabase(session, session.connection, condemned, resolved)
    views = shown.views()
    if clean is not None and changed is not None and ONLY_DEVICE not in changed:
        # Rows with a condemned cell are left out of what has not changed itself.
        bad = (cell.partition(".")[0] for cell in condemned)
        relations = clean.concerned(relations, shown, {*changed, *bad})
    together = groups(relations, shown)
    asked = Asked[Finding](failures=outcome.failures)
    if options.workers < 2 or session.is_small:
        asked.ask(_questions(shown, together, options))
        asked.skipped.sort(key=lambda one: one.rule)
        return asked
    worth = [one for one in together if not isinstance(bind(one[0], views), Unjudged)]
    asked.ask(_questions(shown, [one for one in together if one not in worth], options))
    # What takes longest begins first.
    left = iter(sorted(worth, key=lambda some: -_rows_read(shown, some) * len(some)))

    def share(connection: apsw.Connection, _number: int) -> Asked[Finding]:
        own = Asked[Finding]()
        references = References(connection, session.targets)
        condemned = condemned_cells(session, outcome.found, references)
        attached = ShownByDatabase(session, connection, condemned, resolved)
        own.ask(_questions(attached, left, options))
        return own

    for part in session.spread(options.workers, share):
        asked.add(part)
    asked.skipped.sort(key=lambda one: one.rule)
    return asked


def _rows_read(shown: ShownByDatabase, relations: Sequence[Relation]) -> int:
    """The rows of the views that relations read, each view once."""
    read = {entity for one in relations for entity in one.search.reads}
    views = (view for view in shown.views() if view.entity in read)
    return sum(shown.session.rows.get(view.name, 0) for view in views)


def _questions(
    shown: ShownByDatabase, together: Iterable[Sequence[Relation]], options: Options
) -> Iterator[Question[At, Finding]]:
    def limits(relations: Sequence[Relation]) -> AbstractContextManager[None]:
        return limited(
            shown.connection, 4 * sum(_rows_read(shown, (relation,)) for relation in relations)
        )

    def located(answer: Answer) -> Finding:
        return _finding(shown.session, answer, options)

    return questions(together, shown, limits, located, options.max_examples)


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
    return replace(
        relation.finding(
            session.label,
            f"{summary}: {answer.count:,} of {answer.population:,} rows (first: rowid {first})",
            answer.count,
            answer.population,
        ),
        table=table,
        column=cell_of(session, answer.view, relation.search.at.partition(".")[2]),
        first_rowid=first,
        examples=answer.examples,
        context={
            **{"count": answer.count, "rows": answer.population, "first_rowid": first},
            **answer.window,
        },
        sql=answer.query.replace("main.", "") if options.with_sql else None,
    )
