"""Files of MindSpore's profiler on a day: raw ones, intermediate ones, answers of the viewer."""

from __future__ import annotations

from collections.abc import Iterator

from ascend_spec import Spec
from ascend_spec.core import DAYS
from ascend_spec.core.packed import record_at
from ascend_spec.mindspore.model import CaptureFile, IntermediateFile, name_on

from .element import Element
from .facts import own_facts, record_element, show_text, value_elements
from .raw_files import lines


def mindspore_files(spec: Spec, generation: str) -> Element:
    """What a generation leaves, by the facts of its day; ``generation`` is one, or a day."""
    catalog = spec.mindspore
    day = catalog.day_of(generation)
    known = catalog.generations.get(generation)
    files = (one for file in catalog.files.values() for one in _file(spec, file, day))
    reads = known.reads if known else "raw"
    tables = (one for table in catalog.tables.values() for one in _table(table, day, reads))
    methods = (
        Element(
            "mindspore-generation",
            generation,
            name,
            {"way": one.way_on(day)},
            part="method",
            place=name,
        )
        for name, one in catalog.methods.items()
        if any(DAYS.in_force(way, day) for way in one.ways)
    )
    analysers = (
        Element(
            "analyser",
            name,
            name,
            own_facts(one, without=("analyser", "columns", "switches")),
            tuple(
                Element(
                    "analyser",
                    name,
                    column.name,
                    own_facts(column, without=("name",)),
                    part="column",
                    place=column.name,
                    ordered=True,
                    shown=column.form,
                )
                for column in one.columns
                if DAYS.in_force(column, day)
            ),
        )
        for name, one in catalog.analysers.items()
    )
    values = value_elements(
        "mindspore-values", catalog.vocabularies, lambda one: DAYS.in_force(one, day)
    )
    facts = own_facts(known, without=("id", "since", "day", "summary")) if known else {}
    children = *files, *tables, *methods, *analysers, *values
    return Element("mindspore-generation", generation, "mindspore", facts, tuple(children))


def _file(spec: Spec, file: CaptureFile, day: str) -> Iterator[Element]:
    name = file.name_on(day)
    if name is None:
        return
    children = [
        record_element(
            "mindspore",
            file.file,
            one.record,
            record_at(spec.mindspore.record(one.record), DAYS, day),
            **{"selected by": tuple(map(str, one.values))},
        )
        for one in file.members_on(day)
    ]
    if file.grammar is not None:
        children += lines("mindspore", file.file, spec.mindspore.grammars[file.grammar])
    children += [
        Element(
            "mindspore",
            file.file,
            one.name,
            {"takes": one.takes, "optional": one.optional},
            part="column",
            place=one.name,
            shown=one.takes,
        )
        for one in file.columns
        if DAYS.in_force(one, day)
    ]
    yield Element(
        "mindspore",
        file.file,
        file.file,
        facts={
            **own_facts(file, without=("file", "names", "members", "columns")),
            "called": name.template,
        },
        children=tuple(children),
        shown=name.template,
    )


def _table(table: IntermediateFile, day: str, reads: str) -> Iterator[Element]:
    name = name_on(table.names, day)
    if name is None or not DAYS.in_force(table, day):
        return
    columns = table.columns_on(day, "msprof" if reads == "msprof" else "raw")
    stated = ("table", "names", "columns", "exported", "lines")
    yield Element(
        "intermediate",
        table.table,
        table.table,
        facts={**own_facts(table, without=stated), "called": name.template},
        children=tuple(
            Element(
                "intermediate",
                table.table,
                one.name,
                {
                    **own_facts(one, without=("name", "shows")),
                    "shows": show_text(one.shows),
                },
                part="column",
                place=one.name,
                ordered=True,
                shown=one.style,
            )
            for one in columns
        ),
        shown=name.template,
    )
