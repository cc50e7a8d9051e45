"""The graph engine's profiling, names of files, the analysis of all ranks, words and switches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ascend_spec import Spec
from ascend_spec.core.dialect import Node

from .element import Element, Limits
from .facts import closed, counted, own_facts, value_elements
from .json_nodes import json_elements


def graph_engine(spec: Spec) -> Element:
    """What asks for the graph engine's profiling, its functions and numbers."""
    ge = spec.ge
    nodes: Mapping[str, Node] = ge.options_schema["properties"]
    options = (
        Element(
            "ge-option",
            name,
            name,
            facts={
                **own_facts(one, without=("option", "expects", "cost")),
                "cost": one.cost.cost_class,
            },
            children=json_elements("ge-option", name, {"properties": {"value": nodes[name]}}),
            shown=one.expects,
        )
        for name, one in ge.options.items()
    )
    kinds: tuple[tuple[str, Iterable[tuple[object, object]], str], ...] = (
        ("ge-variable", ge.environment.items(), "variable"),
        ("ge-error", ((one.code, one) for one in ge.entry.errors), "code"),
        ("profiling-type", ge.profiling_types.items(), "name"),
        ("switch-bit", ge.switch_bits.items(), "bit"),
        ("aic-metric", ge.metrics.items(), "metric"),
        ("ge-call", ge.functions.items(), "function"),
        ("ge-code", ge.codes.items(), "code"),
        ("ge-state", ge.states.items(), "state"),
        ("data-type", ge.data_types.items(), "name"),
        ("log-id", ge.log_ids.items(), "name"),
        ("graph-name", ge.graph_names.items(), "name"),
        ("dump-message", ge.messages.items(), "message"),
    )
    plain = (
        Element(kind, str(name), str(name), own_facts(one, without=(own,)))
        for kind, every, own in kinds
        for name, one in every
    )
    values = value_elements("ge-values", ge.library_values, lambda _: True)
    return Element("carrier", "ge", "ge", children=(*options, *plain, *values, *_events(spec)))


def _events(spec: Spec) -> Iterator[Element]:
    for space, one in spec.ge.events.items():
        events = tuple(
            Element(
                "ge-event-space",
                space,
                str(event.value),
                label=event.name,
                part="event",
                place=event.name,
            )
            for event in one.events
        )
        yield Element("ge-event-space", space, space, children=events)


def layouts(spec: Spec) -> Element:
    """What producers call their folders and files."""
    found: dict[str, list[Element]] = {}
    for part, every in (("folder", spec.layout.folders), ("file", spec.layout.files)):
        for (producer, name), one in every.items():
            facts = own_facts(one, without=("id", "producer", "also"))
            facts["also"] = frozenset(form.template for form in one.also)
            found.setdefault(producer, []).append(
                Element(
                    "layout",
                    producer,
                    name,
                    facts,
                    part=part,
                    place=name,
                    shown=one.name.template,
                )
            )
    children = (Element("layout", name, name, children=tuple(of)) for name, of in found.items())
    return Element("carrier", "layout", "layout", children=tuple(children))


def cluster(spec: Spec) -> Element:
    """The database of an analysis of all ranks."""
    tables = (
        Element(
            "cluster-table",
            name,
            name,
            facts={
                "summary": table.summary,
                "key": table.key,
                "of": frozenset(table.of),
                "levels": frozenset(map(str, table.levels)),
            },
            children=tuple(
                Element(
                    "cluster-table",
                    name,
                    column.name,
                    facts={
                        "summary": column.summary,
                        "declared": column.declared,
                        "storage": frozenset(column.storage),
                        "unit": column.unit,
                        "range": Limits(column.minimum, column.maximum),
                        "null": column.nullable,
                        "members": closed(column.members),
                        "references": closed(column.references),
                        "number format": column.decimals,
                        "form": column.form,
                    },
                    part="column",
                    place=column.name,
                    ordered=True,
                    shown=column.declared,
                )
                for column in table.columns.values()
            ),
            shown=counted(len(table.columns), "column"),
        )
        for name, table in spec.cluster.tables.items()
    )
    facts = own_facts(spec.cluster.database)
    return Element("carrier", "cluster", "cluster", facts, tuple(tables))


def words(spec: Spec) -> Element:
    """Words that exporters write without any table listing them, and collection switches."""
    documents = spec.loader
    vocabularies = (
        Element(
            "vocabulary",
            name,
            name,
            facts={"summary": one.summary, "shown in": frozenset(one.shown_in)},
            children=tuple(
                Element(
                    "vocabulary",
                    name,
                    str(word[0]),
                    facts={"known of it": tuple(map(str, word[1:]))},
                    part="word",
                    place=str(word[0]),
                )
                for word in one.words
            ),
        )
        for name, one in documents.vocabularies.items()
    )
    switches = (
        Element(
            "switch",
            name,
            name,
            facts={
                "summary": one.summary,
                "spelled": frozenset(one.spelled),
                "stated": own_facts(one)["stated"],
            },
        )
        for name, one in documents.switches.items()
    )
    return Element("carrier", "words", "words", children=(*vocabularies, *switches))
