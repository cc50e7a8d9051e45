"""Points and marks that drawn graphs seldom have, each by a known answer (ge-profiling 3.2)."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from ge_graphs import training

from ascend_ref.ge.trace import Asked, Points, insert
from ascend_ref.ge.trace.document import graph_of
from ascend_spec.ge import ExecutorName

Row = dict[str, Any]


def node(number: int, name: str, kind: str, inputs: list[int] | None = None, **more: Any) -> Row:
    edges = [[one, 0] for one in inputs or []]
    return {"id": number, "name": name, "type": kind, "kernel_lib": "e", "inputs": edges, **more}


def inserted(document: Row, **asked: Any) -> list[tuple[str, str, int]]:
    """Place, name of the node and number of each inserted task."""
    found = insert(graph_of(document), Asked(**asked)).inserted()
    return [(one.place, one.node.name, one.number) for one in found]


def points(document: Row, **asked: Any) -> Points:
    return insert(graph_of(document), Asked(**asked)).points


def changed(**changes: Row) -> Row:
    """The training with other values in some nodes."""
    document = deepcopy(training())
    for one in document["nodes"]:
        one.update(changes.get(one["name"], {}))
    return document


def extra(document: Row, other: Row, **asked: Any) -> list[tuple[str, str, int]]:
    """What is inserted into a document and not into another one."""
    known = inserted(other, **asked)
    return [one for one in inserted(document, **asked) if one not in known]


# --- marks ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("reading", ["observed", "documented"])
@pytest.mark.parametrize(
    ("name", "mark", "task"),
    [
        ("loss", "_fp_profiling_task", ("before", "loss", 2)),
        ("apply", "_bp_profiling_task", ("after", "apply", 3)),
        ("apply", "_end_profiling_task", ("after", "apply", 4)),
    ],
)
def test_g95_a_mark_makes_a_point_and_a_mark_of_false_makes_none(
    name: str, mark: str, task: tuple[str, str, int], reading: str
) -> None:
    marked = changed(**{name: {"attributes": {mark: True}}})
    assert extra(marked, training(), reading=reading) == [task]
    marked = changed(**{name: {"attributes": {mark: False}}})
    assert inserted(marked, reading=reading) == inserted(training(), reading=reading)


def test_g95_a_mark_of_an_allreduce_ends_no_backward_pass() -> None:
    document = training()
    document["nodes"].append(node(7, "sum2", "HcomAllReduce", [3]))
    marked = deepcopy(document)
    marked["nodes"][4]["attributes"] = {"_bp_profiling_task": True}
    assert extra(marked, document, reading="documented") == []
    assert [one for one in inserted(marked) if one[2] == 3] == [("after", "grad", 3)]


def test_g95_marks_of_a_graph_with_unknown_shapes_add_to_the_points_that_are_found() -> None:
    document = changed(loss={"attributes": {"_fp_profiling_task": True}}) | {"dynamic": True}
    for executor in ("v2", "hybrid"):
        found = [one for one in inserted(document, executor=executor) if one[2] == 2]
        assert found == [("before", "conv", 2), ("before", "loss", 2)]


def test_the_number_0_of_an_allreduce_is_a_number() -> None:
    marks = {"_bp_profiling_task": True, "_profiling_log_id": 0}
    document = changed(sum={"attributes": marks}) | {"parent": {"dynamic": True}}
    found = [one for one in inserted(document) if one[1] == "sum"]
    assert found == [("before", "sum", 0), ("after", "sum", 1)]


def test_as_documented_every_executor_notes_every_point() -> None:
    executors: tuple[ExecutorName, ...] = ("static", "queues")
    for executor in executors:
        asked = Asked(reading="documented", executor=executor)
        found = list(insert(graph_of(training()), asked).inserted())
        assert len(found) == 7
        assert all(one.noted for one in found)


# --- types in the framework -----------------------------------------------------------------------


def test_g88_g93_the_type_in_the_framework_makes_a_get_next() -> None:
    document = changed(next={"type": "FrameworkOp", "original_type": "IteratorV2"})
    assert points(document).readings == [0]
    assert points(document).forward == 1
    assert points(document, reading="documented").readings == [0]
    assert ("before", "next", 20000) in inserted(document)


def test_g92_the_type_in_the_framework_makes_no_allreduce() -> None:
    document = changed(sum={"type": "FrameworkOp", "original_type": "HcomAllReduce"})
    assert points(document).reductions == []


# --- where the forward pass begins ----------------------------------------------------------------


@pytest.mark.parametrize("change", [{"kernel_lib": ""}, {"attributes": {"_no_task": True}}])
def test_g88_what_has_no_tasks_begins_no_forward_pass(change: Row) -> None:
    document = changed(loss={"inputs": [[0, 0], [1, 0]]}, conv=change)
    assert points(document).forward == 2


def sub_graph(*inner: Row, **around: Any) -> Row:
    """Data, a call of the sub-graph, and the output."""
    nodes = [
        node(1, "data", "Data"),
        node(51, "call", "PartitionedCall", [1], subgraphs=["sub"], **around),
        node(52, "Node_Output", "NetOutput", [51]),
    ]
    return {"nodes": nodes, "subgraphs": [{"name": "sub", "nodes": list(inner)}]}


def test_g88_what_has_no_tasks_begins_none_in_a_sub_graph() -> None:
    document = sub_graph(
        node(10, "in", "Data", parent_input=0),
        node(11, "shape", "Reshape", [10], kernel_lib=""),
        node(12, "add", "Add", [10]),
    )
    assert points(document).forward == 12


def test_g88_a_call_without_tasks_is_not_looked_into() -> None:
    inner = [node(10, "in", "Data", parent_input=0), node(12, "add", "Add", [10])]
    document = sub_graph(*inner, kernel_lib="")
    assert points(document).forward == 0
    assert points(sub_graph(*inner)).forward == 12


def nested() -> Row:
    """A sub-graph whose call has a sub-graph; the ids of the inner one are around the others."""
    document = sub_graph(
        node(20, "in", "Data", parent_input=0),
        node(21, "inner call", "PartitionedCall", [20], subgraphs=["inner"]),
        node(22, "out", "NetOutput", [21]),
    )
    inner = [
        node(5, "in2", "Data", parent_input=0),
        node(6, "first", "Add", [5]),
        node(90, "last", "Mul", [6]),
        node(91, "out2", "NetOutput", [90]),
    ]
    document["subgraphs"].append({"name": "inner", "nodes": inner})
    return document


def test_g88_g90_points_are_followed_into_sub_graphs_of_sub_graphs() -> None:
    found = points(nested())
    assert (found.forward, found.backward) == (6, 90)


def test_g90_the_first_output_of_a_sub_graph_counts() -> None:
    document = sub_graph(
        node(10, "in", "Data", parent_input=0),
        node(11, "a", "Add", [10]),
        node(12, "out", "NetOutput", [11]),
        node(13, "b", "Mul", [10]),
        node(14, "out2", "NetOutput", [13]),
    )
    assert points(document).backward == 11


def test_g90_a_call_whose_sub_graph_has_the_number_of_the_step_ends_no_backward_pass() -> None:
    inner = [
        node(10, "in", "Data", parent_input=0),
        node(11, "a", "Add", [10]),
        node(12, "out", "NetOutput", [11]),
    ]
    assert points(sub_graph(*inner)).backward == 11
    step = node(13, "ge_global_step", "Variable")
    assert points(sub_graph(*inner, step)).backward == 0


# --- what is launched as a whole ------------------------------------------------------------------


def test_g104_of_what_is_launched_as_a_whole_nodes_without_tasks_are_left_out() -> None:
    inner = [
        node(10, "in", "Data", kernel_lib=""),
        node(12, "b", "Add"),
        node(11, "a", "Add", attributes={"_no_task": True}),
        node(9, "c", "Add"),
    ]
    marks = {"_ffts_plus_sub_graph": "sub"}
    document = sub_graph(*inner, attributes=marks)
    found = [getattr(one, "id", None) for one in insert(graph_of(document), Asked()).tasks()]
    assert found == [1, 9, 12, 51, 52, None]
