"""What the framework wrote as text, up to 2021-12-16."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Literal

from ascend_ref.raw.damage import Damage
from ascend_spec import mindspore_catalog

from ..folder import is_of_vm
from ..generation import TYPES_OF_VM
from ..raw.lines import Line, read_slices
from .operator import Framework, Row, key_of, last_part, name_of, subgraph_of
from .run import Run

TASKS = "task_desc_info"
GRAPH = "graph_desc_info"
POINTS = "point"

BackEnd = Literal["vm", "ge"]

_NEXT_TENSOR = re.compile(r" (?=(?:input|output)_id:)")


def read_framework_text(run: Run) -> Framework | None:
    """What the files say that the parsers of the day read; ``None`` where there are none."""
    kinds = [kind for kind in (TASKS, GRAPH, POINTS) if run.reads(kind)]
    if not kinds:
        return None
    back_end = _back_end(run, kinds)
    way = run.way("task_key")
    tasks: dict[str, Row] = {}
    names: dict[str, str] = {}
    for line in _lines(run, TASKS):
        parts = line.parts
        name = parts["full_op_name"]
        tasks[name] = {one: parts[one] for one in ("task_id", "stream_id", "block_dim")}
        names[key_of(way, parts["stream_id"], parts["task_id"])] = name
    rows: list[Row] = []
    for line in _lines(run, GRAPH):
        name = line.parts["full_op_name"]
        operator = {
            "full_op_name": name,
            "op_name": short_name(name, back_end),
            "op_type": line.parts["op_type"],
            "subgraph": subgraph_of(name),
            "op_info": json.dumps(_tensors(run, line, back_end)),
        }
        rows.append({**tasks.pop(name, {}), **operator})
    rows += [{**task, "full_op_name": name} for name, task in tasks.items()]
    points = {int(one.parts["tag"]): one.parts["full_op_name"] for one in _lines(run, POINTS)}
    return Framework(names, points, rows)


def short_name(full_name: str, back_end: BackEnd) -> str:
    """The name of an operator, of a full name in text."""
    subgraph = subgraph_of(full_name)
    if subgraph is None:
        return full_name
    if back_end == "vm":
        return last_part(full_name)
    pieces = full_name.split(f"{subgraph}/")
    return "+".join(last_part(piece) for piece in pieces if piece)


def _lines(run: Run, kind: str) -> Iterator[Line]:
    slices = run.slices(kind)
    if slices is not None and run.reads(kind):
        yield from read_slices(slices, kind, run.damage)


def _back_end(run: Run, kinds: list[str]) -> BackEnd:
    """By the name of the first kind; files of the other back end are stated as damage."""
    paths = [run.capture.files[kind].slices[0].path for kind in kinds]
    found: list[BackEnd] = ["vm" if is_of_vm(path) else "ge" for path in paths]
    for kind, path, one in zip(kinds, paths, found, strict=True):
        if one != found[0]:
            text = f"a file of the back end {one} next to one of {found[0]}, {paths[0].name}"
            run.damage.append(Damage(path, text, kind=kind))
    return found[0]


def _tensors(run: Run, line: Line, back_end: BackEnd) -> Mapping[str, Mapping[str, str]]:
    form = mindspore_catalog().grammars["tensor"].lines["tensor"]
    types = run.way(TYPES_OF_VM) if back_end == "vm" else "ge_data_types"
    found = {}
    for text in _split(line.parts["tensors"]):
        parts = form.read(text)
        if parts is None or (back_end == "ge" and not parts["format"].isdecimal()):
            shown = text if len(text) <= 60 else f"{text[:57]}..."
            run.damage.append(line.damaged(f"no tensor: {shown!r}"))
            continue
        form_of = parts["format"]
        found[f"{parts['side']}_{parts['number']}"] = {
            "format": form_of if back_end == "vm" else name_of("ge_formats", int(form_of)),
            "data_type": name_of(types, int(parts["data_type"])),
            "shape": parts["shape"],
        }
    return found


def _split(text: str) -> Iterator[str]:
    """The texts of the tensors, each with the blank in front of it."""
    starts = [one.start() for one in _NEXT_TENSOR.finditer(text)]
    edges = sorted({0, *starts, len(text)})
    for start, end in pairwise(edges):
        yield text[start:end]
