"""What the framework wrote as records, from 2021-12-17 on."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ascend_ref.raw.damage import Damage, Damaged, few
from ascend_ref.raw.slices import Block
from ascend_spec.mindspore.records import INLINE, MOST_TENSORS, NUMBER, OWN

from ..raw.lines import read_slices
from ..raw.records import layout_of, read_records
from .operator import UNKNOWN, Framework, Row, key_of, known_name, last_part, name_of, subgraph_of
from .run import Run

TASKS = "task_desc_records"
TENSORS = "tensor_data_records"
STEPS = "step_records"
TEXTS = "hash_dic"

Tensors = dict[str, dict[str, object]]
"""Inputs and outputs of one operator by their names, as ``op_info`` has them."""


def read_framework_records(run: Run) -> Framework | None:
    """What the files say that the parsers of the day read; ``None`` where there are none."""
    if not any(run.reads(kind) for kind in (TASKS, TENSORS, STEPS)):
        return None
    tensors = _tensors(run)
    without: object = [] if run.way("no_tensors") == "list" else {}
    names: dict[str, str] = {}
    rows: list[Row] = []
    with few(run.damage) as stated:
        reader = _Texts(_dictionary(run), INLINE if run.way("inline_text") == "one" else 0, stated)
        for block, tasks in _records(run, TASKS):
            full_names = reader.words(block, tasks["opName"])
            types = reader.texts(block, tasks["opType"])
            for key, name, op_type, cells in zip(
                _keys(run, tasks), full_names, types, _cells(tasks), strict=True
            ):
                names[key] = name
                known = {"full_op_name": name, "op_name": last_part(name), "op_type": op_type}
                known["op_info"] = json.dumps(tensors.get(key, without))
                rows.append({**cells, **known, "subgraph": subgraph_of(name)})
    return Framework(names, _points(run, names), rows)


def _cells(tasks: npt.NDArray[Any]) -> Iterator[Row]:
    fields = {
        "task_id": "taskId",
        "stream_id": "streamId",
        "block_dim": "blockDims",
        "graph_id": "modelId",
    }
    columns = [tasks[field].tolist() for field in fields.values()]
    for numbers, kind in zip(zip(*columns, strict=True), tasks["taskType"].tolist(), strict=True):
        cells = dict(zip(fields, numbers, strict=True))
        yield {**cells, "kernel_type": known_name("task_types", kind)}


def _keys(run: Run, rows: npt.NDArray[Any]) -> Iterator[str]:
    way = run.way("task_key")
    for stream, task in zip(rows["streamId"].tolist(), rows["taskId"].tolist(), strict=True):
        yield key_of(way, stream, task)


def _records(run: Run, kind: str) -> Iterator[tuple[Block, npt.NDArray[Any]]]:
    slices = run.slices(kind)
    if slices is None or not run.reads(kind):
        return
    layout = layout_of(kind, run.day)
    for block in read_records(slices, kind, run.day, run.damage):
        yield block, layout.view(0, block.rows)


@dataclass(frozen=True, slots=True)
class _Texts:
    """Reads mixed texts. ``inline``: the kind of those that stand in the record itself."""

    dictionary: Mapping[int, str]
    inline: int
    damage: Damaged

    def texts(self, block: Block, column: npt.NDArray[Any]) -> Iterator[str]:
        """The texts of a field of records; of one that is not known its number."""
        pairs = zip(column["kind"].tolist(), column["content"].tolist(), strict=True)
        for number, (kind, content) in enumerate(pairs):
            text, wrong = self._text(kind, content)
            if wrong:
                offset = max(block.offset + number * block.rows.shape[1], 0)
                self.damage.append(Damage(block.path, wrong, offset))
            yield text

    def words(self, block: Block, column: npt.NDArray[Any]) -> Iterator[str]:
        """The same of names, which are words: other blanks are written by their numbers."""
        for number, text in enumerate(self.texts(block, column)):
            word = "".join(f"\\x{ord(one):02x}" if one.isspace() else one for one in text)
            if word != text or not word:
                offset = max(block.offset + number * block.rows.shape[1], 0)
                self.damage.append(Damage(block.path, f"a name that is no word: {text!r}", offset))
            yield word or UNKNOWN

    def _text(self, kind: int, content: bytes) -> tuple[str, str]:
        """A text, and what is wrong with it."""
        if kind == self.inline:
            plain = content.replace(b"\0", b"")
            try:
                return plain.decode(), ""
            except UnicodeDecodeError:
                return plain.decode("utf-8", "backslashreplace"), f"a text is no UTF-8: {plain!r}"
        known = int.from_bytes(content[:NUMBER], "little")
        if kind not in (0, INLINE):
            wrong = f"a text of the kind {kind}, which is not known; read as the number of one"
            return self.dictionary.get(known, str(known)), wrong
        if known in self.dictionary:
            return self.dictionary[known], ""
        return str(known), f"the text with the number {known} is in no {TEXTS}"


def _dictionary(run: Run) -> dict[int, str]:
    slices = run.slices(TEXTS)
    if slices is None or not run.reads(TEXTS):
        return {}
    lines = read_slices(slices, TEXTS, run.damage)
    return {int(one.parts["hash"]): one.parts["text"].strip() for one in lines}


def _tensors(run: Run) -> dict[str, Tensors]:
    """Inputs and outputs by the key of their task."""
    found: dict[str, Tensors] = {}
    counts: dict[tuple[str, str], int] = {}
    types, offset_from = run.way("data_types"), run.way("tensor_numbers")
    names = _Numbers(types, OWN if offset_from == "from-200" else None)
    with few(run.damage) as stated:
        for block, rows in _records(run, TENSORS):
            counted = rows["tensorNum"].tolist()
            _state_numbers(block, rows["tensorNum"], stated)
            every = rows["tensors"]
            sides, shapes = every["tensorType"].tolist(), every["shape"].tolist()
            formats, kinds = every["format"].tolist(), every["dataType"].tolist()
            for place, key in enumerate(_keys(run, rows)):
                for at in range(min(counted[place], MOST_TENSORS)):
                    side = "output" if sides[place][at] else "input"
                    number = counts.get((key, side), 0)
                    counts[key, side] = number + 1
                    found.setdefault(key, {})[f"{side}_{number}"] = {
                        "format": names.format(formats[place][at]),
                        "data_type": names.type(kinds[place][at]),
                        "shape": [one for one in shapes[place][at] if one],
                    }
    return found


def _state_numbers(block: Block, counted: npt.NDArray[Any], damage: Damaged) -> None:
    for place in np.flatnonzero(counted > MOST_TENSORS).tolist():
        text = f"{counted[place]} tensors, of which a record has {MOST_TENSORS} at most"
        offset = block.offset + place * block.rows.shape[1]
        damage.append(Damage(block.path, text, max(offset, 0)))


@dataclass(frozen=True, slots=True)
class _Numbers:
    """Names of formats and types. ``own``: what is taken from numbers from there on."""

    types: str
    own: int | None

    def format(self, number: int) -> str:
        """The name of a format."""
        return name_of("framework_formats", self._plain(number))

    def type(self, number: int) -> str:
        """The name of a type."""
        return name_of(self.types, self._plain(number))

    def _plain(self, number: int) -> int:
        return number if self.own is None or number < self.own else number - self.own


def _points(run: Run, names: Mapping[str, str]) -> dict[int, str]:
    """The operators at points of steps; of several with one tag the last."""
    found = {}
    with few(run.damage) as stated:
        for block, rows in _records(run, STEPS):
            for place, (key, tag) in enumerate(
                zip(_keys(run, rows), rows["tag"].tolist(), strict=True)
            ):
                if key in names:
                    found[tag] = names[key]
                    continue
                offset = block.offset + place * block.rows.shape[1]
                text = f"a point of the task {key}, which no {TASKS} has"
                stated.append(Damage(block.path, text, max(offset, 0)))
    return found
