"""Speed of the graph engine's model.

    python benchmarks/ge.py [--nodes 100000]

Insertion of tasks: against a plain program written from the description (tests/ge), on the same
graph in one run, and how it grows with the number of nodes.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lines import Line, best, show

from ascend_ref.ge.trace import Asked, Graph, insert
from ascend_ref.ge.trace.document import graph_of

sys.path.append(str(Path(__file__).parents[1] / "tests" / "ge"))
import insertion_plain

SHARE = 0.1
"""Of the time of the plain program, at most."""
GROWTH = 13.0
"""Times as long for ten times as many nodes, at most: a little more than in proportion."""
REDUCTIONS, SUBGRAPH = 500, 1_000
"""A node in so many is an AllReduce, runs a sub-graph."""


def graph_document(nodes: int) -> dict[str, Any]:
    """A training: a reading, long chains on four streams, sub-graphs and reductions."""
    rows = [_row(0, "GetNext", [])]
    subgraphs = []
    number = 1
    while number < nodes - 1:
        kind = "HcomAllReduce" if number % REDUCTIONS == 0 else "MatMul"
        row = _row(number, kind, [[rows[-1]["id"], 0]])
        row["control"] = [rows[max(len(rows) - 7, 0)]["id"]]
        number += 1
        if number % SUBGRAPH == 0 and number + 3 < nodes:
            inner = [
                _row(number, "Data", []) | {"parent_input": 0},
                _row(number + 1, "Add", [[number, 0]]),
                _row(number + 2, "NetOutput", [[number + 1, 0]]),
            ]
            row["subgraphs"] = [f"sub{number}"]
            subgraphs.append({"name": f"sub{number}", "nodes": inner})
            number += 3
        rows.append(row)
    rows.append(_row(nodes - 1, "NetOutput", [[rows[-1]["id"], 0]]))
    return {"nodes": rows, "subgraphs": subgraphs}


def _row(number: int, kind: str, inputs: list[list[int]]) -> dict[str, Any]:
    row = {"id": number, "name": f"n{number}", "type": kind, "kernel_lib": "AIcoreEngine"}
    return row | {"stream": number % 4 if kind == "MatMul" else 0, "inputs": inputs}


def insertion_seconds(document: Mapping[str, Any]) -> float:
    """Of an insertion, with all that it asks of a graph that nobody has asked before."""

    def once() -> float:
        graph = graph_of(document)
        started = time.perf_counter()
        _ = list(insert(graph, Asked()).inserted())
        return time.perf_counter() - started

    return min(once() for _ in range(3))


def compare_insertion(nodes: int) -> list[Line]:
    """Against the plain program, which must insert the same tasks."""
    document = graph_document(nodes)
    ours = insertion_seconds(document)
    started = time.perf_counter()
    plain = insertion_plain.observed(document)
    theirs = time.perf_counter() - started
    found = insert(graph_of(document), Asked()).inserted()
    same = [(one.place, one.node.id, one.number, one.notify) for one in found]
    assert same == [one for one in plain if one[0] != "own"]
    what = f"insertion, {nodes:,} nodes"
    against = f"{ours:.3f} s against {theirs:.2f} s, {len(same):,} tasks"
    return [Line(what, ours / theirs, SHARE, "x", True, against)]


def growth_of_insertion(largest: int) -> list[Line]:
    """Ten times as many nodes, twice."""
    sizes = (largest // 100, largest // 10, largest)
    seconds = [insertion_seconds(graph_document(size)) for size in sizes]
    found = []
    for size, before, after in zip(sizes[1:], seconds, seconds[1:], strict=False):
        against = f"{before * 1e3:.1f} ms, then {after * 1e3:.1f} ms"
        found.append(
            Line(f"insertion, ten times more: {size:,}", after / before, GROWTH, "x", True, against)
        )
    return found


def reading_of(nodes: int) -> list[Line]:
    """From a document to a graph whose edges and sub-graphs were checked."""
    document = graph_document(nodes)
    graphs: list[Graph] = []
    seconds = best(lambda: graphs.append(graph_of(document)))
    rate = nodes / seconds / 1e3
    return [
        Line(f"a graph of {nodes:,} nodes is checked", rate, 50, "k/s", False, f"{seconds:.2f} s")
    ]


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=100_000)
    nodes = parser.parse_args().nodes
    show([*compare_insertion(nodes), *growth_of_insertion(nodes * 10), *reading_of(nodes)])


if __name__ == "__main__":
    main()
