"""The memory of graphs, node by node, against sums over all tensors at all nodes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ascend_ref.mindspore.parse.memory_usage import Graph

GIB = 1 << 30
EVERY = {"LifeLongGraphAll", "LifeLongGraphStart", "LifeLongGraphEnd", "LifeLongNone"}


def tensor(number: int, size: int, start: int, end: int, life: str) -> dict[str, Any]:
    own = {"tensor_id": number, "size": size, "life_long": life}
    return {**own, "life_start": start, "life_end": end}


def node(number: int, *outputs: int) -> dict[str, Any]:
    own = {"node_id": number, "node_name": f"Add-op{number}", "workspace_tensor_id": []}
    return {**own, "output_tensor_id": list(outputs)}


def graph(nodes: list[dict[str, Any]], *tensors: dict[str, Any]) -> Graph:
    message = {"graph_id": 1, "static_mem": 3 * GIB, "node_mems": nodes, "tensor_mems": tensors}
    return Graph(message, {})


def lives(one: dict[str, Any], place: int) -> bool:
    """Whether a tensor holds memory at a node."""
    first = 0 if one["life_long"] in ("LifeLongGraphAll", "LifeLongGraphStart") else None
    first = one["life_start"] if first is None else first
    is_open = one["life_long"] in ("LifeLongGraphAll", "LifeLongGraphEnd")
    return (
        one["life_long"] in EVERY and 0 <= first <= place and (is_open or place <= one["life_end"])
    )


PLACES = st.integers(-2, 8)
TENSORS = st.lists(
    st.tuples(st.integers(0, 9), PLACES, PLACES, st.sampled_from([*sorted(EVERY), "other"])),
    max_size=6,
)


@settings(max_examples=60)
@given(TENSORS, st.integers(1, 6))
def test_memory_at_a_node_is_that_of_the_tensors_that_live(
    given_: list[tuple[int, int, int, str]], count: int
) -> None:
    tensors = [tensor(number, size * GIB, *one) for number, (size, *one) in enumerate(given_)]
    nodes = [node(0, *range(len(tensors))), *map(node, range(1, count))]
    found = graph(nodes, *tensors).details({}, "of-nodes")
    alive = [[one for one in tensors if lives(one, place)] for place in range(count)]
    held = [3 + sum(one["size"] for one in some) / GIB for some in alive]
    assert found["lines"] == held
    assert [one["allocated"] for one in found["nodes"]] == [
        after - before for before, after in zip([3, *held], held, strict=False)
    ]
    assert [[one["tensor_id"] for one in some] for some in found["breakdowns"]] == [
        [one["tensor_id"] for one in some] for some in alive
    ]


@pytest.mark.parametrize(("count", "shown"), [(2_000, 2_000), (2_001, 2_001), (4_001, 2_001)])
def test_of_a_large_graph_each_nth_node_is_shown(count: int, shown: int) -> None:
    nodes = [node(0, 0, 1), *map(node, range(1, count))]
    ends = tensor(0, GIB, 0, count, "LifeLongNone"), tensor(1, GIB, 5, 9, "LifeLongNone")
    made = graph(nodes, *ends)
    found = made.details({}, "of-first-node")
    assert [len(found[one]) for one in ("nodes", "lines", "breakdowns")] == [shown, shown, 1]
    assert [one["tensor_id"] for one in found["breakdowns"][0]] == [0]
    assert made.details({}, "of-first-node-alone")["breakdowns"] == found["breakdowns"][0]
    assert len(made.details({}, "of-nodes")["nodes"]) == count


def test_points_are_the_nodes_of_their_operators() -> None:
    points = {"fp_start": "Default/net/Add-op1", "bp_end": "Default/net/Mul-op7"}
    found = graph([node(0), node(1)]).details(points, "of-nodes")
    assert (found["fp_start"], found["bp_end"]) == (1, None)
