"""Graphs that are read: JSON, models of ONNX, dumps; and what is no graph is one clear line."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from ge_graphs import training
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ascend_ref.cli import main
from ascend_ref.ge.trace import Asked, Graph, UnusableGraph, insert, read_graph
from ascend_ref.ge.trace.document import graph_of, graph_of_json
from ascend_spec import ge_catalog
from ascend_spec.ge import ge_schema

Row = dict[str, Any]


def shape(graph: Graph) -> list[tuple[Any, ...]]:
    return [
        (one.id, one.name, one.type, one.kernel_lib, one.stream, one.inputs, one.control, one.graph)
        for one in graph.ordered
    ]


# --- hostile --------------------------------------------------------------------------------------


def node(number: int = 0, **more: Any) -> Row:
    return {"id": number, "name": f"n{number}", "type": "Add", "kernel_lib": "e", **more}


HOSTILE: list[tuple[Row | bytes, str]] = [
    (b"", "line 1, byte 0: the file ends where a value is expected"),
    (b"{", "line 1, byte 1: the file ends inside a list or object"),
    (b"\xff\xfe{\0", "UTF-16"),
    (b'{"nodes": [NaN]}', "NaN is no number of JSON"),
    (b"[" * 100_000, "nested too deep"),
    (b'{"nodes": [{"id": 1, "id": 2}]}', "nodes[0].id stands twice; expected it once"),
    (b'{"nodes": [{"id": %b}]}' % (b"9" * 5_000), "a number with too many digits"),
    (b'{"nodes": [], "name": "\\ud800"}', "line 1, byte 23: "),
    (b'{"nodes": [], "name": "\\ud83d\\ude00", "x": 1}', "the text 'x' is unknown"),
    ({}, "the document: nodes is missing; expected a list"),
    ({"nodes": [], "node": 1}, "'node' is unknown; expected one of name, dynamic"),
    ({"nodes": [node(1 << 63)]}, "nodes[0].id is 9223372036854775808; expected an integer from 0"),
    ({"nodes": [node(-1)]}, "nodes[0].id is -1; expected an integer from 0"),
    ({"nodes": [node(id=1.5)]}, "nodes[0].id is 1.5; expected an integer"),
    ({"nodes": [node(name="x" * 10_000_000, id="y")]}, "nodes[0].id is the text 'y'; expected"),
    ({"nodes": [node(name=7)]}, "nodes[0].name is 7; expected a text"),
    ({"nodes": [node(stream=1 << 32)]}, "nodes[0].stream is 4294967296; expected an integer from"),
    ({"nodes": [node(inputs=[[0]])]}, "nodes[0].inputs[0] is a list of 1; expected null or a pair"),
    (
        {"nodes": [node(inputs=[[7, 0]])]},
        "input 0 comes from 7, which no node has; expected",
    ),
    ({"nodes": [node(control=[7])]}, "control comes from 7, which no node has"),
    ({"nodes": [node(inputs=[[0, 0]])]}, "node 0 (n0) waits for itself; expected edges without"),
    (
        {"nodes": [node(1, control=[2]), node(2, inputs=[[3, 0]]), node(3, control=[2])]},
        "node 2 (n2) waits for itself",
    ),
    (
        {"nodes": [node(4), node(4)]},
        "node 4 (n4) and node 4 (n4) have one id; expected one",
    ),
    ({"nodes": [node(subgraphs=["s"])]}, "node 0: the text 's' is no sub-graph"),
    ({"nodes": [node()], "subgraphs": [{"name": "s", "nodes": []}]}, "'s' is bound by no node"),
    (
        {
            "nodes": [node(1, subgraphs=["s"]), node(2, subgraphs=["s"])],
            "subgraphs": [{"name": "s", "nodes": []}],
        },
        "'s' is bound by node 1 (n1) and node 2 (n2); expected to be bound once",
    ),
    (
        {
            "nodes": [],
            "subgraphs": [
                {"name": "s", "nodes": [node(1, subgraphs=["t"])]},
                {"name": "t", "nodes": [node(2, subgraphs=["s"])]},
            ],
        },
        "'s' is bound within itself, by node 2 (n2)",
    ),
    (
        {"nodes": [node(subgraphs=["s"])], "subgraphs": [{"name": "s", "nodes": []}] * 2},
        "subgraphs[1].name: the text 's' is that of another one",
    ),
    (
        {
            "nodes": [node(1, subgraphs=["s"])],
            "subgraphs": [{"name": "s", "nodes": [node(2, inputs=[[1, 0]])]}],
        },
        "input 0 comes from node 1 (n1) of the graph; expected a node of the sub-graph 's'",
    ),
    ({"nodes": [node(attributes={"_no_task": 1})]}, "_no_task is 1; expected true or false"),
]


@pytest.mark.parametrize(("content", "reason"), HOSTILE, ids=range(len(HOSTILE)))
def test_g113_what_is_no_graph_is_one_line_with_its_place(
    content: Row | bytes, reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "graph.json"
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    assert main(["ge", "trace", str(path)]) == 2
    line = capsys.readouterr().err
    assert reason in line
    assert line.startswith(f"ascend-ref: error: {path}: ")
    assert line.count("\n") == 1
    assert len(line) < 650


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 1 << 64) | st.floats(0, 9) | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["id", "nodes", "name", "type"]), inner, max_size=3)
    ),
    max_leaves=6,
)
KEYS = ("id", "name", "type", "kernel_lib", "stream", "inputs", "control", "parent_input")


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(KEYS), VALUES, st.integers(0, 6))
def test_g113_readers_take_what_the_published_schema_takes(key: str, value: Any, at: int) -> None:
    document = training()
    document["nodes"][at][key] = value
    valid = jsonschema.Draft202012Validator(ge_schema(ge_catalog().documents, "graph"))
    content = json.dumps(document).encode()
    try:
        insert(graph_of_json(content), Asked())
    except UnusableGraph:
        return
    assert valid.is_valid(json.loads(content))


def test_a_sound_document_with_edges_that_go_astray_is_refused_after_its_schema() -> None:
    with pytest.raises(UnusableGraph, match="which no node has"):
        graph_of({"nodes": [node(inputs=[[9, 9]])]})


def test_deep_sub_graphs_and_long_chains_are_no_recursion() -> None:
    depth = 5_000
    subs = [
        {"name": f"s{one}", "nodes": [node(one, subgraphs=[f"s{one + 1}"] if one < depth else [])]}
        for one in range(1, depth + 1)
    ]
    chain = [node(depth + 1 + one, control=[depth + one] if one else []) for one in range(20_000)]
    graph = graph_of({"nodes": [node(0, subgraphs=["s1"]), *chain], "subgraphs": subs})
    assert len(graph.nodes) == depth + 20_001
    assert list(insert(graph, Asked()).inserted()) == []


def test_many_sub_graphs_of_one_node_are_bound_in_linear_time() -> None:
    """200,000 take a second; compared with each other they took hours."""
    names = [f"s{one}" for one in range(200_000)]
    subs = [{"name": one, "nodes": []} for one in names]
    graph = graph_of({"nodes": [node(0, subgraphs=names)], "subgraphs": subs})
    assert len(graph.owners) == 200_000


def test_nested_launches_as_a_whole_are_looked_into_once() -> None:
    depth, whole = 20_000, {"attributes": {"_ffts_plus_sub_graph": "s"}}
    subs = [
        {
            "name": f"s{one}",
            "nodes": [node(one, subgraphs=[f"s{one + 1}"] if one < depth else [], **whole)],
        }
        for one in range(1, depth + 1)
    ]
    graph = graph_of({"nodes": [node(0, subgraphs=["s1"], **whole)], "subgraphs": subs})
    assert len(list(insert(graph, Asked()).tasks())) == depth + 1


def test_a_node_that_binds_a_sub_graph_twice_is_one_line() -> None:
    with pytest.raises(UnusableGraph, match=r"'s' is bound by node 0 \(n0\) and node 0 \(n0\)"):
        graph_of(
            {"nodes": [node(0, subgraphs=["s", "s"])], "subgraphs": [{"name": "s", "nodes": []}]}
        )


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "graph.json"
    with path.open("wb") as file:
        file.truncate((1 << 28) + 1)
    with pytest.raises(UnusableGraph, match="larger than 256 MiB; expected a graph"):
        read_graph(path)


def test_many_ways_into_sub_graphs_are_followed_once() -> None:
    """Each level takes the input twice, so that there are 2 to the 40 ways to the last one."""
    levels = 40
    subs = []
    for level in range(1, levels + 1):
        at = 10 * level
        bound = [f"s{level + 1}"] if level < levels else []
        subs.append(
            {
                "name": f"s{level}",
                "nodes": [
                    node(at, parent_input=0) | {"type": "Data"},
                    node(at + 1, parent_input=0) | {"type": "Data"},
                    node(at + 2, inputs=[[at, 0], [at + 1, 0]], subgraphs=bound),
                ],
            }
        )
    nodes = [node(1) | {"type": "Data"}, node(2, inputs=[[1, 0]], subgraphs=["s1"])]
    found = insert(graph_of({"nodes": nodes, "subgraphs": subs}), Asked()).points
    assert found.forward == 12


@pytest.mark.campaign
def test_a_million_nodes_are_read_and_get_their_tasks(tmp_path: Path) -> None:
    count = 1_000_000
    rows = (
        f'{{"id":{one},"name":"n{one}","type":"{"HcomAllReduce" if one % 1000 == 999 else "Add"}",'
        f'"kernel_lib":"e","inputs":[[{one - 1},0]]}}'
        for one in range(1, count)
    )
    first = '{"id":0,"name":"d","type":"Data","kernel_lib":"e"}'
    path = tmp_path / "graph.json"
    path.write_text(f'{{"nodes":[{first},{",".join(rows)}]}}', encoding="utf-8")
    found = insert(read_graph(path), Asked())
    assert len(found.points.reductions) == 1_000


# --- ONNX -----------------------------------------------------------------------------------------


def onnx_model() -> Any:
    onnx = pytest.importorskip("onnx", reason="the extra onnx is not installed")
    helper, float_, bool_ = onnx.helper, onnx.TensorProto.FLOAT, onnx.TensorProto.BOOL

    def value(name: str, kind: int = float_) -> Any:
        return helper.make_tensor_value_info(name, kind, [1])

    then = helper.make_graph([helper.make_node("Add", ["r", "r"], ["t"])], "then", [], [value("t")])
    product = helper.make_node("Mul", ["x", "w"], ["e"])
    other = helper.make_graph([product], "else", [], [value("e")])
    weight = helper.make_tensor("w", float_, [1], [1.0])
    nodes = [
        helper.make_node("Relu", ["x"], ["r"], name="relu"),
        helper.make_node("If", ["c"], ["z"], name="if", then_branch=then, else_branch=other),
    ]
    graph = helper.make_graph(nodes, "net", [value("x"), value("c", bool_)], [value("z")], [weight])
    return helper.make_model(graph)


def test_g113_a_model_of_onnx_is_read_with_its_sub_graphs(tmp_path: Path) -> None:
    path = tmp_path / "net.onnx"
    path.write_bytes(onnx_model().SerializeToString())
    graph = read_graph(path)
    by_name = {one.name: one for one in graph.ordered}
    data, condition = (one for one in graph.graphs[0] if one.type == "Data")
    assert by_name["relu"].inputs == ((data.id, 0),)
    # The condition, then what the two branches take from outside: x, w (a weight) and r.
    taken = by_name["if"].inputs
    assert taken == ((condition.id, 0), (data.id, 0), None, (by_name["relu"].id, 0))
    assert len(by_name["if"].subgraphs) == 2
    inner = [one for nodes in graph.graphs[1:] for one in nodes if one.type == "Data"]
    assert {one.name: one.parent_input for one in inner} == {"x": 1, "w": 2, "r": 3}
    # The forward pass begins at what takes the first input; the backward ends in the branch else.
    found = insert(graph, Asked()).points
    assert graph.of_id(found.forward or 0).name == "relu"
    assert graph.of_id(found.backward or 0).type == "Mul"


def test_a_tensor_of_nobody_is_one_line(tmp_path: Path) -> None:
    model = onnx_model()
    model.graph.node[0].input[0] = "nobody"
    path = tmp_path / "net.onnx"
    path.write_bytes(model.SerializeToString())
    with pytest.raises(UnusableGraph, match=r"net.onnx: node 2 \(relu\): 'nobody' is computed by"):
        read_graph(path)


@pytest.mark.parametrize("content", [b"", b"\x08\x07", b"{}", b"\xff" * 40])
def test_what_is_no_model_of_onnx_is_one_line(content: bytes, tmp_path: Path) -> None:
    onnx_model()
    path = tmp_path / "net.onnx"
    path.write_bytes(content)
    with pytest.raises(UnusableGraph, match=r"net\.onnx: .*; expected a"):
        read_graph(path)


def test_without_the_extra_a_line_states_how_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    path = tmp_path / "net.onnx"
    path.write_bytes(b"")
    assert main(["ge", "trace", str(path)]) == 2
    line = capsys.readouterr().err
    hint = "install it with: pip install 'ascend-ref[onnx]'"
    assert f"A model of ONNX is read with onnx; {hint}" in line


# --- dumps ----------------------------------------------------------------------------------------

DUMP = """name: "ge_default"
graph {
  name: "train"
  op { name: "data" type: "Data" id: 0 stream_id: 0
    attr { key: "_ge_attr_op_kernel_lib_name" value { s: "GE" } }
    output_desc { name: "y" dtype: DT_FLOAT shape { dim: 1 dim: 3 } layout: "NCHW" } }
  op { name: "conv" type: "Conv2D" input: "data:0" id: 1 stream_id: 2
    attr { key: "_ge_attr_op_kernel_lib_name" value { s: "AIcoreEngine" } }
    attr { key: "original_type" value { s: "Conv" } }
    attr { key: "_datadump_original_op_names"
           value { list { s: "conv_a" s: "conv_b" val_type: VT_LIST_STRING } } }
    attr { key: "_fp_profiling_task" value { b: true } }
    attr { key: "_profiling_log_id" value { i: 10004 } }
    subgraph_name: "inner" }
  op { name: "out" type: "NetOutput" input: "conv:0" input: "data:-1" id: 2
    attr { key: "_ge_attr_op_kernel_lib_name" value { s: "GE" } } }
  attr { key: "_graph_unknown_flag" value { b: true } }
}
graph {
  name: "inner"
  op { name: "in" type: "Data" id: 3 attr { key: "_parent_node_index" value { i: 4 } } }
}
"""


def dump(text: str, tmp_path: Path, name: str = "ge_proto_00000001_graph_1_Build.txt") -> Graph:
    pytest.importorskip("google.protobuf", reason="the extra onnx is not installed")
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return read_graph(path)


def test_g113_a_dump_of_the_graph_engine_is_read(tmp_path: Path) -> None:
    graph = dump(DUMP, tmp_path)
    assert (graph.name, graph.dynamic, graph.need_iteration) == ("train", True, False)
    assert shape(graph) == [
        (0, "data", "Data", "GE", 0, (), (), 0),
        (1, "conv", "Conv2D", "AIcoreEngine", 2, ((0, 0),), (), 0),
        (2, "out", "NetOutput", "GE", 0, ((1, 0),), (0,), 0),
        (3, "in", "Data", "", 0, (), (), 1),
    ]
    conv, inner = graph.of_id(1), graph.of_id(3)
    assert (conv.original_type, conv.origin_names) == ("Conv", ("conv_a", "conv_b"))
    assert dict(conv.attributes) == {"_fp_profiling_task": True, "_profiling_log_id": 10004}
    assert (conv.subgraphs, inner.parent_input) == ((1,), 4)


def test_g113_a_packed_dump_is_read(tmp_path: Path) -> None:
    """Bytes by the encoding of Protocol Buffers: fields 7 graph, 6 op, 1 name, 2 type, 5 input."""
    pytest.importorskip("google.protobuf", reason="the extra onnx is not installed")

    def field(number: int, content: bytes) -> bytes:
        assert len(content) < 128
        return bytes([number << 3 | 2, len(content)]) + content

    first = field(1, b"a") + field(2, b"Data")
    second = field(1, b"b") + field(2, b"Add") + field(5, b"a:1") + b"\xa8\x01\x05"  # 21: id 5
    unknown = b"\xf8\x07\x01"
    graph = field(1, b"g") + field(6, first) + field(6, second) + unknown
    path = tmp_path / "graph.pb"
    path.write_bytes(field(7, graph))
    assert shape(read_graph(path)) == [
        (0, "a", "Data", "", 0, (), (), 0),
        (5, "b", "Add", "", 0, ((0, 1),), (), 0),
    ]


def test_a_dump_from_before_ids_were_given_is_numbered_in_its_order(tmp_path: Path) -> None:
    text = 'graph { op { name: "a" type: "Data" } op { name: "b" type: "Add" input: "a:0" } }'
    assert [one.id for one in dump(text, tmp_path).ordered] == [0, 1]


def test_a_dump_with_a_loop_of_iterations_needs_them(tmp_path: Path) -> None:
    text = 'graph { op { name: "FlowCtrl_LoopCond_ASSIGN" type: "Assign" } }'
    assert dump(text, tmp_path).need_iteration


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "there is no graph in it"),
        ("graph {", "expected a text dump of a ModelDef"),
        ("{}", "line 1:1"),
        ('graph { op { name: "a" input: "b:0" } }', "input 'b:0' is of no node"),
        ('graph { op { name: "a" input: "a" } }', "input 'a' is of no node"),
        ('graph { op { name: "a" } op { name: "a" } }', "two nodes are called 'a'"),
        ('graph { op { name: "a" id: -3 } }', "nodes[0].id is -3; expected an integer from 0"),
        ('graph { op { name: "a" subgraph_name: "s" } }', "'s' is no sub-graph"),
        ("graph { " * 3000, "expected a text dump of a ModelDef"),
        ("unknown { " * 3000, "expected a text dump of a ModelDef"),
    ],
)
def test_what_is_no_dump_is_one_line(text: str, reason: str, tmp_path: Path) -> None:
    with pytest.raises(UnusableGraph) as caught:
        dump(text, tmp_path)
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)


# --- the verb -------------------------------------------------------------------------------------


def test_ge_trace_writes_and_draws(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["ge", "trace", "--example", "-o", str(tmp_path / "tasks.json")]
    assert main([*words, "--plot", str(tmp_path / "a.svg")]) == 0
    assert "before conv1 (1)" in capsys.readouterr().out
    assert main([*words, "--force", "--json", "--plot", str(tmp_path / "b.svg")]) == 0
    assert capsys.readouterr().out == (tmp_path / "tasks.json").read_text(encoding="utf-8")
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    assert main(words) == 2
    assert "exists already; --force replaces it" in capsys.readouterr().err


def test_ge_trace_refuses_a_picture_of_another_form(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["ge", "trace", "--example", "--plot", str(tmp_path / "a.gif")]) == 2
    assert "a picture is called *.svg, *.png or *.pdf, not a.gif" in capsys.readouterr().err


def test_a_large_graph_is_drawn_and_listed_in_part(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [node(0) | {"type": "Data"}]
    rows += [
        node(one, inputs=[[one - 1, 0]], stream=one % 40) | {"type": "HcomAllReduce"}
        for one in range(1, 400)
    ]
    path = tmp_path / "graph.json"
    path.write_text(json.dumps({"nodes": rows}), encoding="utf-8")
    words = ["ge", "trace", str(path), "--reading", "documented"]
    assert main([*words, "--plot", str(tmp_path / "a.svg")]) == 0
    assert "more, which --json shows" in capsys.readouterr().out
    assert (tmp_path / "a.svg").stat().st_size < 2_000_000
