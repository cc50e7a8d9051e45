"""An insertion as text and as the published document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ascend_ref.db.display import clip, printable
from ascend_ref.raw.vocabulary import numbered_pairs
from ascend_spec import ge_catalog

from .graph import Graph, Node
from .insert import NO_NUMBER, Insertion, Task
from .names import log_id, name_of
from .points import NOT_FOUND

_TYPE = "MODEL_TASK_PROFILER_TRACE"
"""The type of an inserted task."""
MOST_ROWS = 100
NAME_MAX = 40
_STREAMS = 1 << 32


def document_of(insertion: Insertion) -> dict[str, Any]:
    """What ``tasks.schema.yaml`` describes."""
    points = insertion.points
    return {
        "graph": insertion.graph.name,
        "reading": insertion.asked.reading,
        "executor": insertion.executor.executor,
        "points": {
            "forward": points.forward,
            "backward": points.backward,
            "ends": sorted(points.ends),
            "reductions": points.reductions,
            "readings": points.readings,
        },
        "tasks": [_row(one) for one in insertion.tasks()],
        "remarks": list(remarks(insertion)),
    }


def _row(task: Task | Node) -> dict[str, Any]:
    if isinstance(task, Node):
        return {"node": task.id, "stream_id": task.stream % _STREAMS}
    return {
        "type": ge_catalog().insertion[_TYPE].value,
        "stream_id": task.node.stream % _STREAMS,
        "log_timestamp": {"logid": task.logid, "notify": task.notify},
        "node": task.node.id,
        "place": task.place,
        "noted": task.noted,
    }


def lines_of(insertion: Insertion) -> Iterator[str]:
    """What was found, then the inserted tasks stream by stream in order, the first of many."""
    graph, asked = insertion.graph, insertion.asked
    streams = sorted({node.stream for node in insertion.nodes})
    yield (
        f"graph {_name(graph.name) or 'without a name'}: {_count(len(graph.nodes), 'node')}, "
        f"{_count(len(streams), 'stream')}; reading {asked.reading}, "
        f"executor {insertion.executor.executor}"
    )
    points = insertion.points
    nothing = NOT_FOUND if asked.reading == "observed" else None
    for what, ids in (
        ("forward pass begins", [points.forward] if points.forward != nothing else []),
        ("backward pass ends", [points.backward] if points.backward != nothing else []),
        ("iteration ends", sorted(points.ends)),
        ("AllReduce", points.reductions),
        ("GetNext", points.readings),
    ):
        yield f"{what}: {_nodes(graph, [one for one in ids if one is not None])}"
    inserted = list(insertion.inserted())
    rows = sorted(inserted, key=lambda one: one.node.stream)
    if rows:
        yield ""
        yield f"{'stream':<7} {'task':<45} {'logid':>6}  name"
    for one in rows[:MOST_ROWS]:
        task = f"{one.place} {_name(one.node.name)} ({one.node.id})"
        name = name_of(one.number) or "no point"
        rest = " notify" * one.notify + " (not noted)" * (not one.noted)
        yield f"{one.node.stream:<7} {task:<45} {one.number:>6}  {name}{rest}"
    if len(rows) > MOST_ROWS:
        yield f"and {len(rows) - MOST_ROWS:,} more, which --json shows"


def remarks(insertion: Insertion) -> Iterator[str]:
    """What of an insertion may surprise, a sentence each."""
    graph, asked, points = insertion.graph, insertion.asked, insertion.points
    inserted = list(insertion.inserted())
    if asked.profiling == "off":
        yield "The profiling is off, so that nothing is looked for."
        return
    if asked.profiling == "initialised":
        yield "The profiling is only initialised, so that nothing is inserted (erratum G8)."
    if graph.nodes and not any(node.has_tasks for node in graph.ordered):
        yield "No node has a kernel library, so that none has tasks."
    missing = NOT_FOUND if asked.reading == "observed" else None
    for option, name, point in (
        ("fp_point", asked.fp_point, points.forward),
        ("bp_point", asked.bp_point, points.backward),
    ):
        if name and point == missing:
            yield f"{option} {_name(name)!r} is the name of no node that has tasks."
    if asked.reading == "observed":
        yield from _quirks(insertion, inserted)
    pairs = numbered_pairs()
    left = [one for one in (points.reductions, points.readings) if len(one) > pairs]
    if left and asked.reading == "documented":
        more = sum(len(one) - pairs for one in left)
        yield f"{more:,} AllReduce or GetNext beyond {pairs:,} have no numbers and no tasks (G82)."
    dropped = sum(not one.noted for one in inserted)
    if dropped:
        executor = insertion.executor.executor
        yield f"The executor {executor} does not note {dropped:,} of {len(inserted):,} tasks (G83)."


def _quirks(insertion: Insertion, inserted: Sequence[Task]) -> Iterator[str]:
    points = insertion.points
    first = log_id("kProfilingArStartLogid").value
    starts = {(one.node.id, one.number) for one in inserted if one.place == "before"}
    ends = [one for one in inserted if one.place == "after" and one.number >= first]
    alone = sum((one.node.id, one.number - 1) not in starts for one in ends)
    if alone:
        yield (
            f"{alone:,} ends have no start, since no end of the backward pass was found "
            "(quirk Q1, erratum G81)."
        )
    of_zero = {one.number for one in inserted if one.node.id == NOT_FOUND}
    for what, point, name in (
        ("forward", points.forward, "kProfilingFpStartLogid"),
        ("backward", points.backward, "kProfilingBpEndLogid"),
    ):
        if point == NOT_FOUND and log_id(name).value in of_zero:
            yield f"Node 0 is taken for the {what} point, which was not found (Q2, erratum G88)."
    if len(points.reductions) > numbered_pairs():
        more = len(points.reductions) - numbered_pairs()
        yield f"{more:,} AllReduce have numbers of GetNext (quirk Q3, erratum G82)."
    lost = sum(one.number == NO_NUMBER for one in inserted)
    if lost:
        yield f"{lost:,} tasks of GetNext have the number -1 (erratum G89)."
    if insertion.executor.form == "node" and inserted:
        yield "Inserted tasks are nodes of the type ProfilingTrainingTrace (quirk Q4, erratum G84)."
    if insertion.executor.form == "attribute" and points.ends:
        yield "The end of the iteration is not noted (quirk Q5, erratum G84)."
    if not insertion.executor.numbers and inserted:
        yield "A model with queues skips all of them (quirk Q6, erratum G85)."


def _nodes(graph: Graph, ids: Sequence[int]) -> str:
    if not ids:
        return "not found"
    shown = ", ".join(f"{_name(graph.of_id(one).name)} ({one})" for one in ids[:5])
    return shown + (f" and {len(ids) - 5:,} more" if len(ids) > 5 else "")


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _name(text: str) -> str:
    return clip(printable(text), NAME_MAX)
