"""Dumps of the graph engine in the form of ONNX are read, and what is none is one clear line.

The texts are as ge_ir_utils.cc of metadef writes them: a prefix before each type, id and stream
among the attributes, values of 0 left out.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ascend_ref.cli import main
from ascend_ref.ge.trace import Asked, Graph, UnusableGraph, insert, read_graph


def integer(name: str, value: int) -> str:
    stated = f"i: {value}\n" if value else ""
    return f'attribute {{\n name: "{name}"\n {stated} type: INT\n}}\n'


def text(name: str, value: str) -> str:
    return f'attribute {{\n name: "{name}"\n s: "{value}"\n type: STRING\n}}\n'


def node(name: str, kind: str, inputs: list[str], *attributes: str) -> str:
    edges = "".join(f'input: "{one}"\n' for one in inputs)
    return (
        f'node {{\n{edges}output: "{name}:0"\nname: "{name}"\nop_type: "ge:{kind}"\n'
        f"{''.join(attributes)}}}\n"
    )


def dump(*nodes: str) -> str:
    return f'ir_version: 6\nproducer_name: "GE"\ngraph {{\nname: "train"\n{"".join(nodes)}}}\n'


def ids(number: int, stream: int = 0) -> str:
    return integer("id", number) + integer("stream_id", stream)


def read(content: str, folder: Path, name: str = "ge_onnx_00000000_graph_1_Build.pbtxt") -> Graph:
    pytest.importorskip("onnx", reason="the extra onnx is not installed")
    path = folder / name
    path.write_text(content, encoding="utf-8")
    return read_graph(path)


def shape(graph: Graph) -> list[tuple[Any, ...]]:
    return [
        (one.id, one.name, one.type, one.stream, one.inputs, one.control) for one in graph.ordered
    ]


TRAINING = dump(
    node("next", "GetNext", [], ids(0, 1)),
    node("conv", "Conv2D", ["next:0", ""], ids(1), integer("_fp_profiling_task", 1)),
    node("sum", "HcomAllReduce", ["conv:0", "next:-1"], ids(2), integer("_no_task", 0)),
    node("out", "NetOutput", ["sum:0"], ids(3), integer("OwnerGraphIsUnknown", 0)),
)


def test_g113_a_dump_in_the_form_of_onnx_is_read(tmp_path: Path) -> None:
    graph = read(TRAINING, tmp_path)
    assert (graph.name, graph.dynamic, graph.need_iteration) == ("train", False, False)
    assert shape(graph) == [
        (0, "next", "GetNext", 1, (), ()),
        (1, "conv", "Conv2D", 0, ((0, 0), None), ()),
        (2, "sum", "HcomAllReduce", 0, ((1, 0),), (0,)),
        (3, "out", "NetOutput", 0, ((2, 0),), ()),
    ]
    assert dict(graph.of_id(1).attributes) == {"_fp_profiling_task": True}
    assert dict(graph.of_id(2).attributes) == {"_no_task": False}
    found = insert(graph, Asked()).points
    assert (found.forward, found.backward, found.ends) == (1, 1, {3})


def test_without_texts_every_node_has_tasks_and_with_them_those_with_a_library(
    tmp_path: Path,
) -> None:
    assert all(one.has_tasks for one in read(TRAINING, tmp_path).ordered)
    library = "_ge_attr_op_kernel_lib_name"
    full = dump(
        node("a", "Data", [], ids(0), text(library, "")),
        node(
            "b", "Add", ["a:0"], ids(1), text(library, "AIcoreEngine"), text("original_type", "+")
        ),
    )
    graph = read(full, tmp_path)
    assert [one.has_tasks for one in graph.ordered] == [False, True]
    assert graph.of_id(1).original_type == "+"


def test_a_dump_without_attributes_is_numbered_in_its_order(tmp_path: Path) -> None:
    graph = read(dump(node("a", "Data", []), node("b", "Add", ["a:0"])), tmp_path)
    assert [(one.id, one.name) for one in graph.ordered] == [(0, "a"), (1, "b")]


def test_the_graph_of_a_node_has_unknown_shapes(tmp_path: Path) -> None:
    marked = dump(node("a", "Data", [], ids(0), integer("OwnerGraphIsUnknown", 1)))
    assert read(marked, tmp_path).dynamic


def test_names_of_several_nodes_are_read(tmp_path: Path) -> None:
    names = 'attribute {\n name: "_datadump_original_op_names"\n strings: "x"\n strings: "y"\n}\n'
    graph = read(dump(node("a", "Add", [], ids(4), names)), tmp_path)
    assert graph.of_id(4).origin_names == ("x", "y")


def test_the_form_is_known_by_its_content(tmp_path: Path) -> None:
    assert len(read(TRAINING, tmp_path, "graph.txt").nodes) == 4


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("ir_version: 6\n", "there is no node in it"),
        ("ir_version: 6\ngraph {", "expected a text dump of a ModelProto"),
        (TRAINING[:-20], "expected a text dump of a ModelProto"),
        (dump(node("a", "Add", ["b:0"])), "input 'b:0' is of no node"),
        (dump(node("a", "Add", []), node("a", "Add", [])), "two nodes are called 'a'"),
        (dump(node("a", "Add", ["a:0"])), "waits for itself"),
        (dump(node("a", "Add", [], ids(-4))), "nodes[0].id is -4; expected an integer"),
        (dump(node("a", "Add", [], ids(1 << 63))), "expected a text dump of a ModelProto"),
        ("ir_version: 6\n" + "graph { " * 3000, "expected a text dump of a ModelProto"),
        (
            dump('node {\nname: "sub1"\nop_type: "subgraph"\nattribute {\nname: "graph"\n}\n}\n'),
            "which node runs the sub-graph 'sub1' is not stated in this form; expected the dump",
        ),
    ],
)
def test_what_is_no_dump_of_onnx_is_one_line(
    content: str, reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(UnusableGraph) as caught:
        read(content, tmp_path)
    assert reason in str(caught.value)
    assert main(["ge", "trace", str(tmp_path / "ge_onnx_00000000_graph_1_Build.pbtxt")]) == 2
    line = capsys.readouterr().err
    assert line.count("\n") == 1
    assert len(line) < 650
