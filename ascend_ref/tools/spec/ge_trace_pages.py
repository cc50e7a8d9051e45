"""What the graph engine inserts into graphs for a training trace, as Markdown pages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ascend_ref.markdown import Style, code, commas, table
from ascend_spec import ge_catalog
from ascend_spec.ge import (
    GE_SCHEMAS,
    Executor,
    GraphMessage,
    GraphName,
    InsertionStep,
    LogId,
    ge_schema,
)

from .pages import evidence, resolutions
from .subject import Subject, things

EMITTERS = {
    "host": "the host, around each execution of a model",
    "compiler": "a task that is inserted into the graph",
    "hybrid": "the executor V1 hybrid",
    "program": "the program, by msproftx",
    "framework": "the framework, around its steps",
}
KINDS_OF_NAMES = {
    "type": "type of a node",
    "original-type": "type of a node, also that in its framework",
    "node": "name of a node",
    "node-attribute": "attribute of a node",
    "graph-attribute": "attribute of a graph",
}
ROLES = {
    "forward": "the forward pass begins behind the first of them",
    "reading": "is in the list of GetNext",
    "reduction": "is in the list of AllReduce; the backward pass ends in front of the last of them",
    "output": "has the outputs of a graph; ends the iteration of a root",
    "sub-graph-input": "stands in a sub-graph for an input of the node around it",
    "loop-end": "ends an iteration of a graph that needs iterations",
    "named-end": "ends the iteration where bp_point is named",
    "global-step": "is no part of the backward pass",
    "forward-mark": "a task is inserted before the node",
    "backward-mark": "a task is inserted after the node",
    "end-mark": "a task is inserted after the node, and an iteration ends",
    "number-mark": "the number of the task before the node; that after it has one more",
    "no-task": "the node is no point",
    "original-type": "is asked like the type",
    "original-names": "are asked like the name",
    "parent-input": "leads into sub-graphs",
    "one-launch": "tasks are inserted around the whole",
    "kernel-library": "without it the node is no point",
    "dynamic": "points become attributes",
}
FORMS = {
    "task": "the tasks of the list",
    "node": "nodes ProfilingFpNode, ProfilingBpNode, ProfilingEndNode and ProfilingAllReduceNode, "
    "of the type ProfilingTrainingTrace",
    "attribute": "attributes of nodes, as kernels start and end",
}


def log_id_section(point: LogId, style: Style) -> str:
    """One number: when it is noted, and by whom."""
    each = f"{point.value} + {point.step}k for the operator k, from 0 on" if point.step else None
    return style.page(
        point.log_id,
        point.summary,
        ("Number", each or str(point.value)),
        ("Noted by", EMITTERS[point.emitter]),
        ("Task", point.place and f"{point.place} the tasks of the node"),
        ("notify", "true" if point.notify else None),
        *evidence(point, style),
        resolutions(ge_catalog().errata, point.errata, style),
    )


def graph_name_section(name: GraphName, style: Style) -> str:
    """One name: what it is the name of, and what that is to the insertion."""
    readings = name.readings if len(name.readings) == 1 else ()
    return style.page(
        name.name,
        name.summary,
        ("What it is", KINDS_OF_NAMES[name.of]),
        ("To the insertion", [ROLES[role] for role in name.roles]),
        ("Reading", commas(readings)),
        *evidence(name, style),
        resolutions(ge_catalog().errata, name.errata, style),
    )


def step_section(step: InsertionStep, style: Style) -> str:
    """A function, message or type of the insertion."""
    return style.page(
        step.step,
        step.summary,
        ("Kind", step.kind),
        ("Value", None if step.value is None else str(step.value)),
        ("In order", [style.prose(one) for one in step.does]),
        *evidence(step, style),
        resolutions(ge_catalog().errata, step.errata, style),
    )


def executor_section(executor: Executor, style: Style) -> str:
    """One executor: which graphs it runs and which numbers it notes."""
    ranges = [f"{first} to {last}" for first, last in executor.numbers]
    return style.page(
        executor.executor,
        executor.summary,
        ("Graphs", "of unknown shapes" if executor.of == "dynamic" else "of known shapes"),
        ("Notes from", FORMS[executor.form]),
        ("Numbers", ranges or "none"),
        *evidence(executor, style),
        resolutions(ge_catalog().errata, executor.errata, style),
    )


def message_section(message: GraphMessage, style: Style) -> str:
    """One message of dumps: its fields."""
    rows = (
        (str(one.number), code(one.name), one.type, _many(one.repeated, one.map))
        for one in message.fields
    )
    return style.page(
        message.message,
        message.summary,
        *evidence(message, style),
        table(("number", "field", "type", "how often"), rows),
    )


def _many(repeated: bool, mapped: bool) -> str:
    return "by name" if mapped else "any number" if repeated else "once"


def schema_section(schema: Mapping[str, Any], style: Style) -> str:
    """A document: its members, and those of the parts that it consists of."""
    inner = style.below()
    parts = [
        inner.page(name, node.get("description", ""), _members(node, style))
        for name, node in schema.get("$defs", {}).items()
        if "properties" in node
    ]
    return style.page(
        schema["$id"].rpartition(":")[2], schema["description"], _members(schema, style), *parts
    )


def _members(node: Mapping[str, Any], style: Style) -> str:
    required = node.get("required", ())
    rows = (
        (
            code(name),
            "always" if name in required else "",
            style.prose(value.get("description", "")),
        )
        for name, value in node["properties"].items()
    )
    return table(("member", "there", "what it is"), rows)


def ge_trace_subjects() -> Iterator[Subject]:
    """Numbers, names, executors, documents and messages of the insertion."""
    catalog = ge_catalog()
    yield from things(
        "log-id",
        catalog.log_ids,
        "ge/log-ids.md#{anchor}",
        log_id_section,
        cells=lambda point: {"number": str(point.value), "by": point.emitter},
    )
    yield from things(
        "graph-name",
        catalog.graph_names,
        "ge/graph-names.md#{anchor}",
        graph_name_section,
        cells=lambda name: {"of": name.of},
    )
    yield from things(
        "insertion",
        catalog.insertion,
        "ge/insertion.md#{anchor}",
        step_section,
        cells=lambda step: {"kind": step.kind},
    )
    yield from things("executor", catalog.executors, "ge/executors.md#{anchor}", executor_section)
    yield from things(
        "ge-schema",
        {name: ge_schema(catalog.documents, name) for name in GE_SCHEMAS},
        "ge/documents.md#{anchor}",
        schema_section,
        summary=lambda schema: str(schema["title"]),
    )
    yield from things("dump-message", catalog.messages, "ge/messages.md#{anchor}", message_section)
