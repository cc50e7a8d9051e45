"""``memory_usage_summary`` and ``memory_usage_details``: what memory the graphs of a rank take."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from ascend_ref.raw.damage import Damage
from ascend_spec import mindspore_catalog
from ascend_spec.mindspore.messages import ALWAYS, BETWEEN, FROM_START, MEMORY, TO_END

from ..raw.messages import NoMessage, decode_message
from .aicore import DETAIL
from .documents import LARGEST
from .exported_operators import exported_framework
from .framework import framework_of
from .operator import Row
from .run import Run
from .step_trace import POINTS
from .tables import write_document

KIND = "memory_usage_graphs"
SUMMARY, DETAILS = "memory_usage_summary", "memory_usage_details"
GIB = 1 << 30

MOST_NODES = 2_000
"""Of a graph; of one with more each n-th node is shown."""

Element: TypeAlias = dict[str, Any]


def write_memory(run: Run) -> None:
    """Write both files, where the framework wrote what graphs take."""
    slices = run.slices(KIND)
    if slices is None or not run.reads(KIND):
        return
    document = _read(run, slices[0].path)
    if document is None:
        return
    points, known = _points(run), _operators(run)
    details: dict[int, Element] = {}
    peak = static = 0.0
    given = 0
    for one in document["graph_mem"]:
        if not one["tensor_mems"] or not one["node_mems"]:
            continue
        graph = Graph(one, known)
        found = graph.details(points, run.way("memory_breakdowns"))
        is_by_graph = run.way("memory_graphs") == "of-graphs"
        if is_by_graph:
            details[one["graph_id"]] = found
        elif found["fp_start"] and found["bp_end"]:
            details[0] = found
        peak = max(peak, *graph.lines)
        static += graph.static
        given += len(graph.tensors)
    summary = {
        "capacity": document["total_mem"] / GIB,
        "allocations": given,
        "deallocations": given,
        "peak_mem": peak,
        "static_mem": static,
    }
    for table, content in ((SUMMARY, summary), (DETAILS, details)):
        write_document(run, table, content)


@dataclass
class Graph:
    """One graph. ``lines``: GiB held at each node; ``lives``: at which each tensor does."""

    message: Element
    known: Mapping[str, tuple[str, Element]]
    lines: list[float] = field(init=False)
    lives: dict[int, range] = field(init=False)

    def __post_init__(self) -> None:
        self.nodes: list[Element] = self.message["node_mems"]
        self.tensors = {one["tensor_id"]: one for one in self.message["tensor_mems"]}
        self.static = self.message["static_mem"] / GIB
        count = len(self.nodes)
        self.lives = {number: self._life(one, count) for number, one in self.tensors.items()}
        lines = np.full(count, self.static)
        for number, life in self.lives.items():
            lines[life.start : life.stop] += self.tensors[number]["size"] / GIB
        self.lines = lines.tolist()

    @staticmethod
    def _life(tensor: Element, count: int) -> range:
        """The nodes at which a tensor holds memory; of one without a place none."""
        first, last = tensor["life_start"], tensor["life_end"] + 1
        life = tensor["life_long"]
        if life not in (ALWAYS, FROM_START, TO_END, BETWEEN):
            return range(0)
        if life in (ALWAYS, FROM_START):
            first = 0
        if life in (ALWAYS, TO_END):
            last = count
        return range(first, min(last, count)) if 0 <= first <= last else range(0)

    def details(self, points: Mapping[str, str], breakdowns: str) -> Element:
        """The graph as the details have it. ``breakdowns``: the way of memory_breakdowns."""
        step = len(self.nodes) // MOST_NODES if len(self.nodes) > MOST_NODES else 1
        is_sampled = breakdowns != "of-nodes"
        step = step if is_sampled else 1
        changes = [self.lines[0] - self.static]
        changes += [after - before for before, after in pairwise(self.lines)]
        nodes = [self._node(one, change) for one, change in zip(self.nodes, changes, strict=True)]
        sources = self._sources()
        parts = [
            [self._part(number, *sources[number]) for number in alive if number in sources]
            for alive in self._alive(1 if is_sampled else len(self.nodes))
        ]
        by_name = {one["node_name"]: one["node_id"] for one in self.nodes}
        at = {name: by_name.get(full.rpartition("/")[2]) for name, full in points.items()}
        return {
            "graph_id": self.message["graph_id"],
            "static_mem": self.static,
            "nodes": nodes[::step],
            "fp_start": at.get("fp_start"),
            "bp_end": at.get("bp_end"),
            "lines": self.lines[::step],
            "breakdowns": parts[0] if breakdowns == "of-first-node-alone" else parts,
        }

    def _alive(self, count: int) -> list[list[int]]:
        """The tensors that hold memory at each of the first nodes."""
        found: list[list[int]] = [[] for _ in range(count)]
        for number, life in self.lives.items():
            for place in life[: max(count - life.start, 0)]:
                found[place].append(number)
        return found

    def _node(self, node: Element, change: float) -> Element:
        own = {*node["output_tensor_id"], *node["workspace_tensor_id"]} & self.tensors.keys()
        full, info = self.known.get(node["node_name"], ("", {}))
        return {
            "name": node["node_name"],
            "fullname": full,
            "node_id": node["node_id"],
            "allocations": len(own),
            "size": sum(self.tensors[number]["size"] / GIB for number in sorted(own)),
            "allocated": change,
            "inputs": [value for key, value in info.items() if "input" in key],
            "outputs": [value for key, value in info.items() if "input" not in key],
        }

    def _sources(self) -> dict[int, tuple[str, int, Element]]:
        """By tensor the node that it is an output of, which one, and what is known of it."""
        found = {}
        for node in self.nodes:
            _, info = self.known.get(node["node_name"], ("", {}))
            outputs = [value for key, value in info.items() if "input" not in key]
            for place, number in enumerate(node["output_tensor_id"]):
                known = outputs[place] if place < len(outputs) else {}
                if number in self.tensors:
                    found[number] = node["node_name"], place, known
        return found

    def _part(self, number: int, node: str, place: int, known: Element) -> Element:
        one = self.tensors[number]
        count = len(self.nodes)
        is_open = one["life_long"] in (ALWAYS, TO_END)
        return {
            "tensor_name": f"{node}:{place}",
            "tensor_id": number,
            "size": one["size"] / GIB,
            "type": "output",
            "shape": known.get("shape"),
            "format": known.get("format"),
            "data_type": known.get("data_type"),
            "life_long": one["life_long"],
            "life_start": 0 if one["life_long"] in (ALWAYS, FROM_START) else one["life_start"],
            "life_end": count if is_open else one["life_end"],
        }


def _read(run: Run, path: Path) -> Element | None:
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
    except OSError as error:
        run.damage.append(Damage(path, error.strerror or str(error), kind=KIND))
        return None
    if len(content) > LARGEST:
        run.damage.append(Damage(path, f"more than {LARGEST:,} bytes", kind=KIND))
        return None
    try:
        return decode_message(content, MEMORY)
    except NoMessage as problem:
        text = f"no message of its kind: {problem}"
        run.damage.append(Damage(path, text, problem.offset, kind=KIND))
        return None


def _points(run: Run) -> Mapping[str, str]:
    path = run.made(POINTS)
    found = None if path is None else json.loads(path.read_text(encoding="utf-8"))
    return found if isinstance(found, dict) else {}


def _operators(run: Run) -> Mapping[str, tuple[str, Element]]:
    """Full name and tensors of the operators with a time, by their names.

    A task whose operator no file describes has no such name.
    """
    found = {}
    names = mindspore_catalog().full_names
    for row in (one for one in _timed(run) if "op_name" in one):
        full = next(row[one] for one in names if one in row)
        info = json.loads(str(row.get("op_info") or "{}"))
        # What is made of exports begins the names of sides with capitals.
        tensors = {key.lower(): one for key, one in info.items()} if isinstance(info, dict) else {}
        found[str(row["op_name"])] = str(full), tensors
    return found


def _timed(run: Run) -> Iterable[Row]:
    """The rows of ``framework_raw`` whose operators have a time, which all that are exported do."""
    if run.takes == "msprof":
        return exported_framework(run)
    detail = run.made(DETAIL)
    framework = framework_of(run)
    if detail is None or framework is None:
        return ()
    with detail.open(encoding="utf-8", newline="") as file:
        timed = {row["full_op_name"] for row in csv.DictReader(file)}
    return (row for row in framework.rows if row["full_op_name"] in timed)
