"""Relations between entities, judged in the files of an output folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ascend_spec import timeline_catalog

from ...engine.asking import Asked
from ...engine.relations.judge import Answer, questions
from ...engine.relations.rule import Relation
from ...engine.relations.views import View
from ...finding import Finding
from ...options import Options
from .findings import finding_of
from .folder import Folder
from .layers import layer_table
from .loadcsv import columns_in
from .places import fault_at
from .queries import limited, nothing_asked
from .views import ShownByFiles, row_of_place


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


def _finding(folder: Folder, answer: Answer, options: Options) -> Finding:
    relation, view = answer.relation, answer.view
    cell = _cell(folder, view, relation.search.at.partition(".")[2])
    fault = fault_at(
        folder,
        f"raw.{view.space}" if view.medium == "csv" else f"trace.{layer_table(view.space)}",
        cell,
        row_of_place(answer.places[0]),
        answer.query,
        options,
        count=answer.count,
        total=answer.population,
        examples=answer.examples,
    )
    found = finding_of(folder, relation, fault)
    return replace(found, context={**found.context, **answer.window})


def _cell(folder: Folder, view: View, column: str) -> str | None:
    """The header or the key of an event that shows a value."""
    value = f"{view.entity}.{column}"
    if view.medium == "csv":
        shown = columns_in(folder.facts, view.space, folder.csv_writers[view.space])
        return next((text for text, one in shown if value in one.shows.of), None)
    for kind in timeline_catalog().layers[view.name].events:
        cells = {**kind.shows, **{arg.name.template: arg.shows for arg in kind.args}}
        for cell, show in cells.items():
            own = cell in ("ts", "dur", "name", "tid") or cell not in kind.shows
            if own and value in show.of:
                return cell
    return None
