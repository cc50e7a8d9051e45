"""Each point, number and quirk of the insertion by a known answer."""

from __future__ import annotations

import json
import re
from copy import deepcopy
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from ge_graphs import training

from ascend_ref.cli import main
from ascend_ref.ge.trace import Asked, Insertion, insert
from ascend_ref.ge.trace.document import graph_of
from ascend_ref.ge.trace.names import name_of
from ascend_ref.ge.trace.show import document_of, remarks
from ascend_spec import ge_catalog
from ascend_spec.ge import ge_schema

Row = dict[str, Any]
SEED = Path(__file__).resolve().parents[3] / "shared/seeds/003_e31998ad8281c695.txt"


def inserted(document: Row, **asked: Any) -> list[tuple[str, str, int]]:
    """Place, name of the node and number of each inserted task."""
    found = insert(graph_of(document), Asked(**asked)).inserted()
    return [(one.place, one.node.name, one.number) for one in found]


def of(document: Row, **asked: Any) -> Insertion:
    return insert(graph_of(document), Asked(**asked))


def node(document: Row, name: str) -> Row:
    (found,) = [one for one in document["nodes"] if one["name"] == name]
    return found


def changed(**changes: Row) -> Row:
    """The training with other values in some nodes."""
    document = deepcopy(training())
    for name, values in changes.items():
        node(document, name).update(values)
    return document


# --- numbers --------------------------------------------------------------------------------------


def test_g105_to_g111_numbers_are_those_of_the_document() -> None:
    if not SEED.is_file():
        pytest.skip("no seeds: ../shared is absent")
    stated = re.findall(r"^(kProfiling\w+Logid) = (\d+)", SEED.read_text(encoding="utf-8"), re.M)
    assert len(stated) == 7
    assert {name: ge_catalog().log_ids[name].value for name, _ in stated} == {
        name: int(number) for name, number in stated
    }


def test_g105_to_g111_tasks_have_their_numbers() -> None:
    assert inserted(training()) == [
        ("before", "next", 20000),
        ("after", "next", 20001),
        ("before", "conv", 2),
        ("after", "grad", 3),
        ("before", "sum", 10000),
        ("after", "sum", 10001),
        ("after", "Node_Output", 4),
    ]


def test_g103_the_end_of_an_iteration_alone_is_notified() -> None:
    found = list(of(training()).inserted())
    assert [one.number for one in found if one.notify] == [4]


def test_g101_tasks_are_on_the_stream_of_their_operator() -> None:
    assert {one.number: one.node.stream for one in of(training()).inserted()} == {
        **{20000: 1, 20001: 1, 2: 0, 3: 0},
        **{10000: 0, 10001: 0, 4: 0},
    }


@pytest.mark.parametrize(
    ("number", "name"),
    [
        (0, "model start"),
        (4, "kProfilingIterEndLogid"),
        (10_002, "kProfilingArStartLogid + 2"),
        (19_999, "kProfilingArEndLogid + 9998"),
        (20_000, "kProfilingGetNextStartLogid"),
        (29_999, "kProfilingGetNextEndLogid + 9998"),
        (60_001, "step end"),
        (6, None),
        (30_000, None),
        (65_535, None),
        (-1, None),
    ],
)
def test_erratum_g9_each_number_has_one_name_or_none(number: int, name: str | None) -> None:
    assert name_of(number) == name


def test_g108_to_g111_each_further_operator_has_2_more() -> None:
    document = training()
    document["nodes"] += [
        {"id": 7, "name": "sum2", "type": "HorovodAllreduce", "kernel_lib": "h"},
        {"id": 8, "name": "next2", "type": "IteratorV2", "kernel_lib": "h"},
    ]
    document["nodes"].append(
        {"id": 9, "name": "last", "type": "Mul", "kernel_lib": "h", "inputs": [[8, 0]]}
    )
    document["nodes"][-3]["inputs"] = [[3, 0]]
    numbers = {name: number for place, name, number in inserted(document) if place == "before"}
    assert numbers == {"next": 20000, "conv": 2, "sum": 10000, "sum2": 10002, "next2": 20002}


# --- points ---------------------------------------------------------------------------------------


def test_g87_g89_points_are_named_also_by_what_a_node_was_made_of() -> None:
    document = changed(loss={"origin_op_names": ["softmax", "cross"]})
    found = of(document, fp_point="cross", bp_point="loss").points
    assert (found.forward, found.backward) == (2, 2)


def test_g87_g89_of_several_matches_the_first_begins_and_the_last_ends() -> None:
    document = changed(conv={"origin_op_names": ["x"]}, grad={"origin_op_names": ["x"]})
    found = of(document, fp_point="x", bp_point="x").points
    assert (found.forward, found.backward) == (1, 3)


def test_g88_g26_the_first_data_leads_to_its_consumer_and_in_the_document_is_it_itself() -> None:
    """Erratum G7: the document takes the node, the graph engine what takes its output."""
    assert of(training()).points.forward == 1
    assert of(training(), reading="documented").points.forward == 0


def test_g90_g94_g27_the_last_allreduce_leads_to_its_input_or_is_it_itself() -> None:
    assert of(training()).points.backward == 3
    assert of(training(), reading="documented").points.backward == 4
    without = changed(sum={"type": "Mul"})
    assert of(without).points.backward == 5
    assert of(without, reading="documented").points.backward == 6


def test_g91_the_iteration_ends_at_flow_control_where_the_graph_needs_iterations() -> None:
    document = changed(apply={"name": "FlowCtrl_LoopCond_ASSIGNADD"})
    assert of(document).points.ends == {6}
    assert of(document | {"need_iteration": True}).points.ends == {5}
    assert of(document, reading="documented").points.ends == {5}


def test_erratum_g86_a_named_backward_point_makes_the_name_of_the_output_decide() -> None:
    document = changed(Node_Output={"name": "output"})
    assert of(document).points.ends == {6}
    assert of(document, bp_point="grad").points.ends == set()
    assert of(document, bp_point="grad", reading="documented").points.ends == {6}


def test_g92_g93_lists_are_in_order_of_ids() -> None:
    document = training()
    document["nodes"].reverse()
    assert (of(document).points.reductions, of(document).points.readings) == ([4], [0])


def test_erratum_g87_dynamic_get_next_is_read_and_begins_no_pass() -> None:
    document = changed(next={"type": "DynamicGetNextV2"})
    found = of(document).points
    assert (found.forward, found.readings) == (0, [0])


def test_points_are_followed_into_sub_graphs_and_out_of_them() -> None:
    """The forward pass begins in the sub-graph that takes the data, the backward ends in one."""
    nodes = [
        {"id": 1, "name": "data", "type": "Data", "kernel_lib": "g"},
        {"id": 2, "name": "call", "type": "PartitionedCall", "kernel_lib": "g"},
        {"id": 8, "name": "out", "type": "NetOutput", "kernel_lib": "g", "inputs": [[2, 0]]},
    ]
    nodes[1] |= {"inputs": [[1, 0]], "subgraphs": ["sub"]}
    inner = [
        {"id": 3, "name": "d", "type": "Data", "kernel_lib": "g", "parent_input": 0},
        {"id": 4, "name": "a", "type": "Add", "kernel_lib": "e", "inputs": [[3, 0]]},
        {"id": 5, "name": "b", "type": "Mul", "kernel_lib": "e", "inputs": [[4, 0]], "stream": 2},
        {"id": 6, "name": "o", "type": "NetOutput", "kernel_lib": "g", "inputs": [[5, 0]]},
    ]
    document: Row = {"nodes": nodes, "subgraphs": [{"name": "sub", "nodes": inner}]}
    found = of(document).points
    assert (found.forward, found.backward, found.ends) == (4, 5, {8})


def test_the_forward_pass_begins_at_what_takes_the_first_output() -> None:
    document = changed(conv={"inputs": [[0, 1]]}, loss={"inputs": [[1, 0], [0, 0]]})
    assert of(document).points.forward == 2


def test_only_data_stand_for_inputs_of_the_node_around() -> None:
    inner = [
        {"id": 20, "name": "x", "type": "RefData", "kernel_lib": "g", "parent_input": 0},
        {"id": 21, "name": "y", "type": "Add", "kernel_lib": "g", "inputs": [[20, 0]]},
    ]
    document = changed(conv={"subgraphs": ["sub"]}) | {
        "subgraphs": [{"name": "sub", "nodes": inner}]
    }
    assert of(document).points.forward == 0
    inner[0]["type"] = "Data"
    assert of(document).points.forward == 21


@pytest.mark.parametrize("control", [False, True])
def test_the_number_of_the_step_ends_no_backward_pass(control: bool) -> None:
    document = training()
    document["nodes"][-3]["control"] = [7] if control else []
    document["nodes"][-3]["inputs"] = [[3, 0], [7, 0]]
    step = {"id": 7, "name": "ge_global_step", "type": "Variable", "kernel_lib": "g"}
    document["nodes"].append(step)
    assert of(document).points.backward == 3


def test_a_backward_point_is_on_the_stream_of_its_allreduce() -> None:
    assert of(changed(sum={"stream": 3})).points.backward == 0


def test_erratum_g80_nodes_without_tasks_are_no_points() -> None:
    for change in ({"kernel_lib": ""}, {"attributes": {"_no_task": True}}):
        assert of(changed(sum=change)).points.reductions == []
        assert of(changed(sum=change), reading="documented").points.reductions == [4]


# --- what must be on ------------------------------------------------------------------------------


def test_g86_points_are_looked_for_where_the_profiling_is_initialised() -> None:
    found = of(training(), profiling="initialised")
    assert (found.points.forward, list(found.inserted())) == (1, [])
    documented = of(training(), profiling="initialised", reading="documented")
    assert (documented.points.forward, list(documented.inserted())) == (None, [])


@pytest.mark.parametrize("reading", ["observed", "documented"])
def test_g86_nothing_is_inserted_where_the_profiling_is_off(reading: str) -> None:
    assert inserted(training(), profiling="off", reading=reading) == []
    assert len(inserted(training(), profiling="on", reading=reading)) == 7


# --- quirks ---------------------------------------------------------------------------------------


def test_q1_without_a_backward_pass_ends_have_no_start() -> None:
    document = changed(sum={"stream": 3})
    assert inserted(document) == [
        ("after", "next", 3),
        ("after", "next", 20001),
        ("after", "sum", 10001),
        ("after", "Node_Output", 4),
    ]
    assert any("2 ends have no start" in one for one in remarks(of(document)))
    pairs = inserted(document, reading="documented")
    for first in (10000, 20000):
        both = (first, first + 1)
        assert tuple(number for *_, number in pairs if number in both) == both


def test_q2_node_0_is_taken_for_a_point_that_was_not_found() -> None:
    document = changed(sum={"stream": 3})
    assert ("after", "next", 3) in inserted(document)
    assert any("Node 0 is taken for the backward point" in one for one in remarks(of(document)))
    assert [
        name for _, name, number in inserted(document, reading="documented") if number == 3
    ] == ["sum"]


def many(kind: str, count: int) -> Row:
    """A training with so many further operators of a type."""
    document = training()
    document["nodes"] += [
        {"id": 10 + one, "name": f"more{one}", "type": kind, "kernel_lib": "h", "inputs": [[3, 0]]}
        for one in range(count)
    ]
    return document


def test_g112_q3_the_5001st_allreduce_has_a_number_of_get_next() -> None:
    document = many("HcomAllReduce", 5_000)
    found = [number for place, name, number in inserted(document) if name == "more4999"]
    assert found == [20_000, 20_001]
    assert any("1 AllReduce have numbers of GetNext" in one for one in remarks(of(document)))
    documented = of(document, reading="documented")
    numbers = [one.number for one in documented.inserted() if one.node.name == "more4999"]
    assert numbers == [3]  # the last AllReduce, without a number of its own
    assert any("beyond 5,000 have no numbers" in one for one in remarks(documented))


def test_q3_get_next_beyond_29999_is_not_noted() -> None:
    found = of(many("GetNext", 5_000))
    assert {one.noted for one in found.inserted() if one.number >= 30_000} == {False}
    assert all(one.noted for one in found.inserted() if one.number < 30_000)


@pytest.mark.parametrize(("executor", "left"), [("static", 7), ("queues", 0)])
def test_q6_a_model_with_queues_notes_none_of_them(executor: str, left: int) -> None:
    found = of(training(), executor=executor)
    assert sum(one.noted for one in found.inserted()) == left
    assert left or any("Q6" in one for one in remarks(found))


def test_q3_q4_hybrid_has_nodes_and_no_get_next() -> None:
    found = of(training() | {"dynamic": True}, executor="hybrid")
    noted = [one.number for one in found.inserted() if one.noted]
    assert noted == [2, 3, 10000, 10001, 4]
    assert any("Q4" in one for one in remarks(found))


def test_q5_v2_notes_get_next_from_attributes_and_never_the_end() -> None:
    found = of(training() | {"dynamic": True})
    assert [one.number for one in found.inserted()] == [20000, 20001, 2, 3, 10000, 10001]
    assert any("Q5" in one for one in remarks(found))


def test_erratum_g89_get_next_has_minus_1_where_it_is_in_no_list() -> None:
    marked = {"attributes": {"_fp_profiling_task": True, "_bp_profiling_task": True}}
    document = changed(next=marked) | {"parent": {"dynamic": True}}
    tasks = [one for one in of(document).inserted() if one.node.name == "next"]
    # With an empty list of points number 0 is node 0, too (quirk Q2).
    assert [(one.place, one.number) for one in tasks] == [
        ("before", 2),
        ("before", -1),
        ("after", 3),
        ("after", -1),
    ]
    assert tasks[1].logid == (1 << 64) - 1
    assert [one.noted for one in tasks] == [True, False, True, False]


def test_an_allreduce_without_its_number_gets_65535() -> None:
    marked = {"attributes": {"_bp_profiling_task": True}}
    document = changed(sum=marked) | {"parent": {"dynamic": True}}
    tasks = [one for one in of(document).inserted() if one.node.name == "sum"]
    assert [(one.place, one.number, one.noted) for one in tasks] == [
        ("before", 65535, False),
        ("after", 65536, False),
    ]


def test_g95_attributes_mark_points_of_parts_of_a_graph() -> None:
    document = changed(
        conv={"attributes": {"_fp_profiling_task": True}},
        grad={"attributes": {"_bp_profiling_task": True}},
        apply={"attributes": {"_end_profiling_task": True}},
        sum={"attributes": {"_bp_profiling_task": True, "_profiling_log_id": 10006}},
    )
    assert inserted(document | {"parent": {"dynamic": True}}) == [
        ("before", "conv", 2),
        ("after", "grad", 3),
        ("before", "sum", 10006),
        ("after", "sum", 10007),
        ("after", "apply", 4),
    ]


def test_erratum_g90_around_what_is_launched_as_a_whole_tasks_stand_once() -> None:
    document = training()
    whole = {"attributes": {"_ffts_plus_sub_graph": "sub"}, "subgraphs": ["sub"]}
    node(document, "conv").update(whole)
    inner = [{"id": 20, "name": "inner", "type": "Conv2D", "kernel_lib": "AIcoreEngine"}]
    document["subgraphs"] = [{"name": "sub", "nodes": inner}]
    node(document, "conv").pop("inputs")
    found = of(document, fp_point="conv")
    shown = [one.number if hasattr(one, "number") else one.name for one in found.tasks()]
    assert shown[:6] == [20000, "next", 20001, 2, "inner", "conv"]


# --- the documents that go in and come out --------------------------------------------------------


@pytest.mark.parametrize("reading", ["observed", "documented"])
@pytest.mark.parametrize("dynamic", [False, True])
def test_g113_what_comes_out_obeys_the_published_schema(reading: str, dynamic: bool) -> None:
    schema = ge_schema(ge_catalog().documents, "tasks")
    graphs = [training(), changed(sum={"stream": 3}), {"nodes": []}, changed(next={"stream": -1})]
    for document in graphs:
        found = document_of(of(document | {"dynamic": dynamic}, reading=reading))
        jsonschema.Draft202012Validator(schema).validate(json.loads(json.dumps(found)))


def test_g99_g100_g102_a_task_is_a_task_def_of_type_12() -> None:
    tasks = document_of(of(training()))["tasks"]
    assert tasks[0] == {
        "type": 12,
        "stream_id": 1,
        "log_timestamp": {"logid": 20000, "notify": False},
        "node": 0,
        "place": "before",
        "noted": True,
    }
    assert tasks[1] == {"node": 0, "stream_id": 1}


def test_g104_own_tasks_stand_between_what_was_inserted_around_them() -> None:
    tasks = document_of(of(changed(sum={"attributes": {"_end_profiling_task": True}})))["tasks"]
    own = [
        (one.get("place", "own"), one.get("log_timestamp", {}).get("logid"))
        for one in tasks
        if one["node"] == 4
    ]
    assert own == [("before", 10000), ("own", None), ("after", 4), ("after", 10001)]


@pytest.mark.parametrize("name", ["graph", "tasks"])
def test_g113_schemas_are_exported(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["spec", "export", f"ge-schema/{name}"]) == 0
    schema = json.loads(capsys.readouterr().out)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["$id"] == f"urn:ascend-ref:ge:{name}"
