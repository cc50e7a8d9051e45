"""Graphs for tests: random ones with sub-graphs, marks and nodes of any id, and a training."""

from __future__ import annotations

from typing import Any

import insertion_plain
from hypothesis import strategies as st

Row = dict[str, Any]
TYPES = (
    *insertion_plain.FP_TYPES,
    *insertion_plain.GN_TYPES,
    *insertion_plain.AR_TYPES,
    *("HcomAllReduce", "NetOutput", "Conv2D", "MatMul", "Add"),
)
NAMES = ("Node_Output", "ge_global_step", *insertion_plain.FLOW)
LIBRARIES = (*["AIcoreEngine"] * 6, "")


@st.composite
def documents(draw: st.DrawFn, most: int = 30) -> Row:
    """Graphs with sub-graphs at any depth, edges of data and control, marks, and nodes of any id.

    A small number says much: most choices are made by the bits of one drawn word a node.
    """
    count = draw(st.integers(0, most))
    words = [draw(st.integers(0, (1 << 62) - 1)) for _ in range(count)]
    free = draw(st.permutations(range(count + 3))) if count < 60 and draw(st.booleans()) else None
    ids = list(free or range(draw(st.integers(0, 1)), count + 3))[:count]
    sub_count = draw(st.integers(0, min(5, count // 3)))
    graphs: list[list[Row]] = [[] for _ in range(sub_count + 1)]
    for number, word in zip(ids, words, strict=True):
        graphs[word % len(graphs)].append({"id": number})
    # A sub-graph is bound in a graph before it; one without a place to be bound stays out.
    bound: list[tuple[int, Row]] = []
    kept = [0]
    for number in range(1, len(graphs)):
        hosts = [node for one in kept for node in graphs[one]]
        if hosts:
            bound.append((number, hosts[words[number] % len(hosts)]))
            kept.append(number)
    for number, host in bound:
        host.setdefault("subgraphs", []).append(f"sub{number}")
    by_id = dict(zip(ids, words, strict=True))
    for one in kept:
        for place, node in enumerate(graphs[one]):
            _fill(node, by_id[node["id"]], graphs[one][:place], one)
        _bound_by_data_and_output(graphs[one], draw(st.integers(0, 15)), one)
    document: Row = {
        "nodes": graphs[0],
        "subgraphs": [{"name": f"sub{one}", "nodes": graphs[one]} for one in kept[1:]],
        "dynamic": draw(st.booleans()) and draw(st.booleans()),
        "need_iteration": draw(st.booleans()),
    }
    if not document["dynamic"] and draw(st.integers(0, 9)) == 0:
        document["parent"] = {"dynamic": draw(st.booleans())}
    return document


def _bound_by_data_and_output(nodes: list[Row], bits: int, graph: int) -> None:
    """Most graphs begin with what begins a pass, and end with their outputs."""
    if len(nodes) < 4:
        return
    first, last = nodes[0], nodes[-1]
    if bits % 4:
        first |= {"type": "Data" if graph else "GetNext", "kernel_lib": "GE"}
        first |= {"parent_input": 0} if graph else {}
        nodes[1]["inputs"] = [[first["id"], 0]]
    if bits // 4:
        last |= {"type": "NetOutput", "name": "Node_Output", "kernel_lib": "GE"}
        last["inputs"] = [*last.get("inputs", []), [nodes[-2]["id"], 0]]
    if bits // 4 > 1:
        for one in nodes:
            if one.get("subgraphs") and bits % 2:
                one.setdefault("attributes", {})["_ffts_plus_sub_graph"] = "sub"


def _fill(node: Row, word: int, earlier: list[Row], graph: int) -> None:
    def pick(most: int) -> int:
        nonlocal word
        word, found = divmod(word * 6364136223846793005 + 1442695040888963407, most)
        word %= 1 << 62
        return found

    node["type"] = TYPES[pick(len(TYPES))] if pick(2) else "Conv2D"
    node["name"] = NAMES[pick(len(NAMES))] if not pick(8) else f"n{node['id']}"
    node["kernel_lib"] = LIBRARIES[pick(len(LIBRARIES))]
    node["stream"] = 0 if pick(4) else pick(3)
    if not pick(6):
        node["original_type"] = TYPES[pick(len(TYPES))]
    if not pick(6):
        node["origin_op_names"] = [f"n{pick(20)}" for _ in range(1 + pick(2))]
    if earlier:
        node["inputs"] = [
            [earlier[-1 - pick(min(6, len(earlier)))]["id"], int(pick(4) == 0)] if pick(8) else None
            for _ in range(pick(4))
        ]
        node["control"] = [earlier[pick(len(earlier))]["id"] for _ in range(pick(2))]
    if graph and node["type"] == "Data":
        node["parent_input"] = pick(3)
    if not pick(5):
        marks: Row = {name: bool(pick(2)) for name in insertion_plain.BOOLS if not pick(2)}
        if not pick(3):
            marks["_profiling_log_id"] = pick(30_000)
        if not pick(3):
            marks["_no_task"] = bool(pick(2))
        node["attributes"] = marks


def training() -> Row:
    """A batch is read on a stream of its own, passes forward and backward, sums and output."""
    rows = [
        (0, "next", "GetNext", 1, []),
        (1, "conv", "Conv2D", 0, [[0, 0]]),
        (2, "loss", "SoftmaxCrossEntropyWithLogits", 0, [[1, 0]]),
        (3, "grad", "Conv2DBackpropFilter", 0, [[2, 0]]),
        (4, "sum", "HcomAllReduce", 0, [[3, 0]]),
        (5, "apply", "ApplyMomentum", 0, [[4, 0]]),
        (6, "Node_Output", "NetOutput", 0, [[5, 0]]),
    ]
    keys = ("id", "name", "type", "stream", "inputs")
    nodes = [dict(zip(keys, row, strict=True)) | {"kernel_lib": "AIcoreEngine"} for row in rows]
    return {"nodes": nodes}
