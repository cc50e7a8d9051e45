"""What MindSpore recorded into FRAMEWORK, as facts to compare its output files with.

What of the raw files cannot be read is judged on its own; here it is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ascend_ref.raw.clocks import Clock
from ascend_ref.raw.damage import Damage
from ascend_ref.raw.framework.files import tags_of
from ascend_ref.raw.framework.mindspore import FLOW, GIVEN_BACK
from ascend_ref.raw.side import Unknown, read_side_files
from ascend_ref.raw.tagged import TextColumn, read_tagged
from ascend_ref.raw.tree import FRAMEWORK, HOST, find_folders
from ascend_spec import mindspore_catalog
from ascend_spec.mindspore.framework import TAGGED_RECORDS

from ...engine.folders import is_collection
from .database import Facts

Records = npt.NDArray[np.void]
"""One each with the names of its declaration."""
LEVELS = 4
"""Numbers in a line of memory of the host."""


def add_framework(facts: Facts, profile: Path) -> None:
    """Fill unit.block, unit.level, unit.shape and unit.call from the files below a profile."""
    folder = profile / FRAMEWORK
    if not folder.is_dir():
        return
    for path in sorted(folder.iterdir()):
        found = mindspore_catalog().file_of(path.name)
        if found is None or not path.is_file():
            continue
        kind = found[0].file
        try:
            if kind == "memory_usage":
                _add(facts, "block", _blocks(path))
            elif kind == "record_shapes":
                _add(facts, "shape", _shapes(path))
            elif kind == "cpu_memory":
                _add(facts, "level", _levels(path))
            elif kind == "op_range" and not found[2]:
                _add(facts, "call", _calls(path, profile))
        except OSError:
            continue  # judged on its own, which says why


def _add(facts: Facts, name: str, columns: Mapping[str, pa.Array]) -> None:
    table = pa.table(dict(columns))
    row = pa.array(np.arange(table.num_rows))
    facts.scan(
        "recorded", table.add_column(0, "row", row), f"INSERT INTO unit.{name} FROM recorded"
    )


def _read(path: Path, record: str, *names: str) -> tuple[Records, list[pa.Array]]:
    """The fixed parts of the records of a file, and some of their texts by name."""
    declared = TAGGED_RECORDS[record]
    damage: list[Damage] = []
    read, tags = read_tagged(path, declared, damage), tags_of(declared)
    return read.fixed, [_texts(read.texts[tags[name]]) for name in names]


def _texts(column: TextColumn) -> pa.Array:
    known = pa.array([one.decode("utf-8", "replace") for one in column.distinct], pa.string())
    return known.take(pa.array(column.place, mask=column.place < 0))


def _whole(values: npt.NDArray[np.unsignedinteger]) -> pa.Array:
    return pa.array(np.minimum(values, np.iinfo(np.int64).max).astype(np.int64))


def _blocks(path: Path) -> Mapping[str, pa.Array]:
    fixed, (owner,) = _read(path, "MEMORY_USAGE", "OWNER")
    return {
        "name": owner,
        "address": _whole(fixed["addr"]),
        "time": _whole(fixed["create_at"]),
        "size": _whole(fixed["size"]),
        "used": _whole(fixed["used_size"]),
        "reserved": _whole(fixed["alloc_size"]),
        "given_back": pa.array(fixed["size"] == GIVEN_BACK),
    }


def _shapes(path: Path) -> Mapping[str, pa.Array]:
    _, (name, shapes) = _read(path, "RECORDED_SHAPES", "NAME", "INPUT_SHAPES")
    return {"name": name, "shapes": shapes}


def _levels(path: Path) -> Mapping[str, pa.Array]:
    lines = (line.split(",") for line in path.read_text("utf-8", "replace").splitlines())
    rows = [
        [int(cell) for cell in cells]
        for cells in lines
        if len(cells) == LEVELS and all(cell.isascii() and cell.isdigit() for cell in cells)
    ]
    bounded = [row for row in rows if max(row) <= np.iinfo(np.int64).max]
    columns = np.array(bounded, np.int64).reshape(-1, LEVELS).T
    names = ("time", "allocated", "reserved", "active")
    return {name: pa.array(one) for name, one in zip(names, columns, strict=True)}


def _calls(path: Path, profile: Path) -> Mapping[str, pa.Array]:
    """Events that the timeline shows, by its names; without a clock none, since none has a time."""
    wanted = "NAME", "FULL_NAME", "MODULE_GRAPH", "EVENT_GRAPH"
    fixed, texts = _read(path, "RANGE", *wanted)
    clock = _clock(profile)
    if clock is None:
        return {"name": pa.array([], pa.string()), "start": pa.array([], pa.int64())}
    times = clock.times(fixed["start_time_ns"])
    graph = fixed["is_graph_data"] != 0
    own, full, *named = (one.to_pylist() for one in texts)
    modules, events, stages = (_members(f"range_{one}") for one in ("modules", "events", "stages"))
    names = []
    for row, name in enumerate(own):
        if fixed["is_stack"][row]:
            names.append(name or "")
        elif graph[row]:
            names.append("::".join((named[0][row] or "", named[1][row] or "", name or "")))
        elif fixed["is_stage"][row]:
            names.append(stages.get(int(fixed["stage_index"][row]), "Default"))
        elif name == FLOW:
            names.append("")
        else:
            module = modules.get(int(fixed["module_index"][row]), "Default")
            event = events.get(int(fixed["event_index"][row]), "Default")
            names.append("::".join((module, event, full[row] or "")))
    shown = np.array([one != "" for one in names], np.bool_) & (fixed["start_time_ns"] != 0)
    return {
        "name": pa.array(names, pa.string()).filter(pa.array(shown)),
        "start": pa.array(times[shown]),
    }


def _members(name: str) -> dict[int, str]:
    members = mindspore_catalog().vocabularies[name].members
    return {int(one.value): one.name or "" for one in members}


def _clock(profile: Path) -> Clock | None:
    for prof in sorted(profile.iterdir()):
        if not is_collection(prof.name):
            continue
        for folder in find_folders(prof):
            if folder.path.name != HOST:
                continue
            try:
                return read_side_files(folder, []).host
            except Unknown:
                return None
    return None
