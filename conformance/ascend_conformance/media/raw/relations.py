"""Relations between entities, judged on the joined records of a ``PROF_*``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import construct

from ascend_ref.raw.damage import Unreadable
from ascend_ref.raw.fields import field_showing, time_field
from ascend_spec import raw_catalog, recording_catalog

from ...engine.asking import Asked
from ...engine.file_rules import place_words
from ...engine.relations.binding import Unjudged, bind
from ...engine.relations.judge import Answer, groups, questions
from ...engine.relations.media import judged_in
from ...engine.relations.rule import Relation
from ...finding import Finding, Skipped
from ...options import Options
from ..text.queries import limited, nothing_asked
from .folder import MEDIUM
from .reading import Folder
from .recorded import ShownByRecords, open_recorded


def ask_relations(
    folder: Folder, relations: Sequence[Relation], options: Options
) -> Asked[Finding]:
    """Judge relations where records show their columns."""
    asked = nothing_asked()
    own = [one for one in relations if MEDIUM in judged_in(one)]
    if folder.unreadable or not folder.path.is_dir() or not own:
        return asked
    try:
        with open_recorded(folder.path) as shown:
            judged = list(_with_rows(shown, own, asked))
            asked.ask(
                questions(
                    groups(judged, shown),
                    shown,
                    lambda _: limited(shown.facts.connection),
                    lambda answer: _finding(folder, options, shown, answer),
                    options.max_examples,
                )
            )
    except Unreadable as reason:
        asked.skipped += (Skipped(one.id, one.search.at, f"not joined: {reason}") for one in own)
    return asked


def _with_rows(
    shown: ShownByRecords, relations: Sequence[Relation], asked: Asked[Finding]
) -> Iterator[Relation]:
    """Relations; those whose rows could not be read are skipped with what is the reason."""
    for relation in relations:
        damage = _damage(shown, relation)
        if damage and isinstance(bind(relation, shown.views()), Unjudged):
            asked.skipped.append(Skipped(relation.id, relation.search.at, f"not read: {damage}"))
        else:
            yield relation


def _damage(shown: ShownByRecords, relation: Relation) -> str | None:
    """What cannot be read of the records that a relation is about."""
    found = (shown.damaged(*one) for one in relation.search.reads.items())
    return next((one for one in found if one is not None), None)


def _finding(folder: Folder, options: Options, shown: ShownByRecords, answer: Answer) -> Finding:
    relation, view = answer.relation, answer.view
    stands = shown.origins.stands(answer.places[0])
    offset = None if stands is None else stands.offset
    words = relation.counted(answer.count, answer.population) + place_words(None, offset)
    damage = _damage(shown, relation)
    if damage:
        words += f"; what could not be read may explain it: {damage}"
    path = _first_file(shown, view.name) if stands is None else stands.path
    file = folder.label if path is None else folder.shown(path)
    found = relation.finding(file, words, answer.count, answer.population)
    record = None if stands is None else stands.source.record
    return replace(
        found,
        # Records that are lost may have been those that others lack.
        verdict="advice" if damage else found.verdict,
        table=view.name if stands is None else stands.source.kind,
        column=_field(record, view.entity, relation.search.at.partition(".")[2]),
        examples=answer.examples,
        context={"count": answer.count, "rows": answer.population, **answer.window},
        sql=answer.query if options.with_sql else None,
        offset=offset,
    )


def _first_file(shown: ShownByRecords, kind: str) -> Path | None:
    files = (one.folder.files.get(kind, ()) for one in shown.contexts)
    return next((some[0].path for some in files if some), None)


def _field(record: str | None, entity: str, column: str) -> str | None:
    """The field of a record that shows a value."""
    if record is None:
        return None
    declaration: construct.Struct = raw_catalog().record(record)
    with suppress(KeyError):
        return str(field_showing(declaration, f"{entity}.{column}").name)
    interval = recording_catalog().entities[entity].interval
    with suppress(KeyError):
        # Starts and ends are the times of records of their own.
        return time_field(declaration)[0] if interval and column in interval[:2] else None
    return None
