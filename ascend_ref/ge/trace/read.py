"""A graph from a file: JSON of the published form, ONNX, or a dump of the graph engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from ascend_ref.cli.guard import one_line

from .document import graph_of_json
from .graph import Graph, UnusableGraph

MOST_BYTES: Mapping[str, int] = {
    "json": 1 << 28,
    "dump": 1 << 28,
    "packed-dump": 1 << 30,
    "onnx": 1 << 30,
}
"""Of a file by its form: a graph of a million nodes takes about 150 MB as JSON, and fifteen times
as much memory; a model of ONNX may have weights.
"""
SUFFIXES: Mapping[str, str] = {
    ".onnx": "onnx",
    ".txt": "dump",
    ".pbtxt": "dump",
    ".prototxt": "dump",
    ".pb": "packed-dump",
    ".bin": "packed-dump",
}
"""Forms of files by their suffixes; all others are JSON."""
_MIB = 1 << 20


def read_graph(path: Path) -> Graph:
    """The graph of a file, by its suffix.

    Raises :class:`UnusableGraph` with the name of the file, ``OSError``.
    """
    form = SUFFIXES.get(path.suffix.lower(), "json")
    most = MOST_BYTES[form]
    with path.open("rb") as file:
        content = file.read(most + 1)
    try:
        if len(content) > most:
            raise UnusableGraph(f"larger than {most // _MIB:,} MiB; expected a graph")
        return _reader(form)(content)
    except UnusableGraph as problem:
        raise UnusableGraph(one_line(f"{path}: {problem}")) from None


def _reader(form: str) -> Callable[[bytes], Graph]:
    if form == "json":
        return graph_of_json
    if form == "onnx":
        from .onnx_model import graph_of_onnx  # an extra

        return graph_of_onnx
    from .dump import graph_of_packed_dump, graph_of_text_dump  # an extra

    return graph_of_text_dump if form == "dump" else graph_of_packed_dump
