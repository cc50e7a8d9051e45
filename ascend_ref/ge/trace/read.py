"""A graph from a file: JSON of the published form, ONNX, or a dump of the graph engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from ascend_ref.cli.guard import one_line

from .document import graph_of_json
from .graph import Graph, UnusableGraph

MOST_BYTES = 1 << 30
"""Of a file; a graph of a million nodes takes about 150 MB as JSON."""
SUFFIXES: Mapping[str, str] = {
    ".onnx": "onnx",
    ".txt": "dump",
    ".pbtxt": "dump",
    ".prototxt": "dump",
    ".pb": "packed-dump",
    ".bin": "packed-dump",
}
"""Forms of files by their suffixes; all others are JSON."""


def read_graph(path: Path) -> Graph:
    """The graph of a file, by its suffix.

    Raises :class:`UnusableGraph` with the name of the file, ``OSError``.
    """
    with path.open("rb") as file:
        content = file.read(MOST_BYTES + 1)
    try:
        if len(content) > MOST_BYTES:
            raise UnusableGraph("larger than 1 GiB; expected a graph")
        return _reader(path)(content)
    except UnusableGraph as problem:
        raise UnusableGraph(one_line(f"{path}: {problem}")) from None


def _reader(path: Path) -> Callable[[bytes], Graph]:
    form = SUFFIXES.get(path.suffix.lower())
    if form is None:
        return graph_of_json
    if form == "onnx":
        from .onnx_model import graph_of_onnx  # an extra

        return graph_of_onnx
    from .dump import graph_of_packed_dump, graph_of_text_dump  # an extra

    return graph_of_text_dump if form == "dump" else graph_of_packed_dump
