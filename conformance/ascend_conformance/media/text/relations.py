"""Relations between entities, judged in the files of an output folder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ascend_ref.text.read import columns_of
from ascend_spec import timeline_catalog

from ...engine.asking import Asked
from ...engine.relations.judge import Answer, questions
from ...engine.relations.rule import Relation
from ...engine.relations.views import View
from ...finding import Finding
from ...options import Options
from .findings import Fault, finding_of
from .folder import Folder
from .loadcsv import PLACE
from .loadtrace import layer_table
from .places import column_in_words, position
from .queries import limited, nothing_asked
from .views import ShownByFiles, row_of_place


def shown_by(folder: Folder) -> ShownByFiles:
    """The folder as what relations are judged in."""
    writers = {folder.files[number].name: folder.writers[number] for number in folder.csv}
    return ShownByFiles(folder.facts, writers)


def ask_relations(
    folder: Folder, relations: Sequence[Relation], options: Options, shown: ShownByFiles
) -> Asked[Finding]:
    """Judge relations that one scan answers. ``shown``: the facts by any connection to them."""
    asked = nothing_asked()
    asked.ask(
        questions(
            [relations],
            shown.by(folder.facts),
            lambda _: limited(folder.facts.connection),
            lambda answer: _finding(folder, answer, options),
            options.max_examples,
        )
    )
    return asked


def layers_read(relations: Sequence[Relation]) -> Iterator[str]:
    """The tables of layers that show an entity of a relation, once for each relation."""
    for relation in relations:
        for layer in timeline_catalog().layers.values():
            shown = {
                value.partition(".")[0]
                for kind in layer.events
                for show in (*kind.shows.values(), *(arg.shows for arg in kind.args))
                for value in show.of
            }
            if shown & relation.search.reads.keys():
                yield layer_table(layer.slug)


def _finding(folder: Folder, answer: Answer, options: Options) -> Finding:
    relation, view = answer.relation, answer.view
    file, row = row_of_place(answer.places[0])
    cell = _cell(folder, view, relation.search.at.partition(".")[2])
    table = f"raw.{view.space}" if view.medium == "csv" else f"trace.{layer_table(view.space)}"
    place = position(folder, table, file, row, cell)
    fault = Fault(
        file,
        column_in_words(table, cell),
        count=answer.count,
        total=answer.population,
        row=row,
        line=place.line,
        offset=place.offset,
        pointer=place.pointer,
        examples=answer.examples,
        query=answer.query if options.with_sql else None,
    )
    return finding_of(folder, relation, fault)


def _cell(folder: Folder, view: View, column: str) -> str | None:
    """The header or the key of an event that shows a value."""
    value = f"{view.entity}.{column}"
    if view.medium == "csv":
        writer = next(
            folder.writers[number]
            for number in folder.csv
            if folder.files[number].name == view.space
        )
        texts = folder.facts.columns(f"raw.{view.space}")[len(PLACE) :]
        shown = columns_of(view.space, texts, writer)
        return next((text for text, one in shown if value in one.shows.of), None)
    for kind in timeline_catalog().layers[view.name].events:
        cells = {**kind.shows, **{arg.name.template: arg.shows for arg in kind.args}}
        for cell, show in cells.items():
            own = cell in ("ts", "dur", "name", "tid") or cell not in kind.shows
            if own and value in show.of:
                return cell
    return None
