"""A graph that comes along, to try what is done with graphs."""

from __future__ import annotations

from pathlib import Path

from .document import graph_of_json
from .graph import Graph, UnusableGraph
from .read import read_graph

_FILE = Path(__file__).with_name("example.json")


def example_graph() -> Graph:
    """A training with a GetNext, an AllReduce and its output, on two streams."""
    return graph_of_json(_FILE.read_bytes())


def graph_of_words(path: Path | None, *, example: bool) -> Graph:
    """The graph of a file, or the example: one of the two is asked for.

    Raises :class:`UnusableGraph`, ``OSError``.
    """
    if (path is None) != example:
        raise UnusableGraph("expected a GRAPH or --example, one of them")
    return example_graph() if path is None else read_graph(path)
