"""Raw files of the framework, the data pipeline and a GPU as facts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from ascend_ref.derive.text_hash import name_id
from ascend_ref.mindspore.folder import is_of_vm
from ascend_ref.mindspore.parse.documents import read_document
from ascend_ref.mindspore.parse.framework_text import GRAPH, POINTS, TASKS
from ascend_ref.mindspore.parse.operator import key_of, known_name
from ascend_ref.mindspore.parse.pipeline import KIND as PIPELINE
from ascend_ref.mindspore.parse.pipeline import pipeline_of
from ascend_ref.mindspore.raw.lines import Line, read_slices
from ascend_ref.mindspore.raw.records import layout_of, read_records
from ascend_ref.mindspore.raw.strings import read_strings
from ascend_spec import mindspore_catalog
from ascend_spec.mindspore import OWN_NUMBERS
from ascend_spec.mindspore.records import INLINE, MOST_TENSORS

from ...engine.sqlite_facts import SqlValue
from .gather_raw import MOST, Source, whole

Rows = Iterator[Sequence[SqlValue]]

_TENSOR = re.compile(r" (?=(?:input|output)_id:)")
_PAIR = re.compile(r"([0-9]{1,18}),([0-9]{1,18})")


def gather_host(source: Source) -> None:
    """Every raw file that the framework, the data pipeline or a GPU wrote."""
    tables: Mapping[str, Callable[[Source], Rows]] = {
        "operator": _operators,
        "graph_operator": _graph,
        "framework_point": _points,
        "long_text": _texts,
        "tensor_record": _tensor_records,
        "fetch": _fetches,
        "queue_sample": _samples,
        "gpu_step": _gpu_steps,
        "gpu_time": _gpu_times,
        "pipeline_operator": _pipeline,
    }
    for table, rows in tables.items():
        source.facts.add(table, rows(source))
    for _ in _lines(source, "host_start"):
        pass  # only what cannot be read of it matters


def _lines(
    source: Source, kind: str, *, quiet: bool = False
) -> Iterator[tuple[tuple[int, int, None], Line]]:
    """The lines of a kind of file with their places. ``quiet``: damage is stated elsewhere."""
    slices = source.run.slices(kind)
    if slices is not None:
        for line in read_slices(slices, kind, [] if quiet else source.damage):
            yield (source.number(line.path), line.number, None), line


def _records(source: Source, kind: str) -> Iterator[tuple[tuple[int, None, int], Any]]:
    """The records of a kind of file with their places."""
    slices = source.run.slices(kind)
    if slices is None or not source.run.holds_records(kind):
        return
    layout = layout_of(kind, source.run.day)
    for block in read_records(slices, kind, source.run.day, source.damage):
        number = source.number(block.path)
        for at, row in enumerate(layout.view(0, block.rows)):
            yield (number, None, max(block.offset + at * layout.size, 0)), row


def _operators(source: Source) -> Rows:
    way = source.run.way("task_key")
    for place, line in _lines(source, TASKS):
        parts = line.parts
        task, stream = whole(parts["task_id"]), whole(parts["stream_id"])
        key = key_of(way, parts["stream_id"], parts["task_id"])
        name = parts["full_op_name"]
        yield *place, name, None, whole(parts["block_dim"]), task, stream, key, None, None
    inline = INLINE if source.run.way("inline_text") == "one" else 0
    texts: dict[int, str] = {}
    for _, line in _lines(source, "hash_dic", quiet=True):
        texts[int(line.parts["hash"])] = line.parts["text"].strip()
    for where, row in _records(source, "task_desc_records"):
        stream, task = int(row["streamId"]), int(row["taskId"])
        names = (_text(row[field], inline, texts) for field in ("opName", "opType"))
        core = known_name("task_types", int(row["taskType"]))
        own = (int(row["blockDims"]), task, stream, key_of(way, stream, task))
        yield *where, *names, *own, core, int(row["dataTag"])


def _text(field: Any, inline: int, texts: Mapping[int, str]) -> str | None:
    """A mixed text; ``None`` for one whose number is not known."""
    content = bytes(field["content"])
    if int(field["kind"]) == inline:
        return content.rstrip(b"\0").decode("utf-8", "backslashreplace")
    return texts.get(int.from_bytes(content[:8], "little"))


def _graph(source: Source) -> Rows:
    """Operators; their tensors are added on the way."""
    form = mindspore_catalog().grammars["tensor"].lines["tensor"]
    is_vm = _is_vm(source)
    types = source.run.way("vm_data_types") if is_vm else "ge_data_types"
    tensors: list[Sequence[SqlValue]] = []
    for place, line in _lines(source, GRAPH):
        name = line.parts["full_op_name"]
        counts = {"input": 0, "output": 0}
        is_dense = True
        text = line.parts["tensors"]
        for piece in _split(text):
            parts = form.read(piece)
            if parts is None:
                continue
            side, at = parts["side"], whole(parts["number"])
            is_dense &= side in counts and at == counts[side]
            counts[side] = counts.get(side, 0) + 1
            kind = known_name(types, int(parts["data_type"]))
            is_format = is_vm or (
                parts["format"].isdecimal()
                and known_name("ge_formats", int(parts["format"])) is not None
            )
            known = int(kind is not None and is_format)
            tensors.append((*place, name, side, at, parts["format"], kind, known, 0))
        source.facts.add("tensor", tensors)
        tensors.clear()
        own = (line.parts["op_type"], counts["input"], counts["output"], int(is_dense))
        yield *place, name, *own


def _is_vm(source: Source) -> bool:
    files = source.run.capture.files
    found = next((files[one] for one in (TASKS, GRAPH, POINTS) if one in files), None)
    return found is not None and is_of_vm(found.slices[0].path)


def _split(text: str) -> Iterator[str]:
    starts = [one.start() for one in _TENSOR.finditer(text)]
    for start, end in pairwise([*starts, len(text)]):
        yield text[start:end]


def _points(source: Source) -> Rows:
    for place, line in _lines(source, POINTS):
        yield *place, whole(line.parts["tag"]), line.parts["full_op_name"], None, None
    way = source.run.way("task_key")
    for where, row in _records(source, "step_records"):
        key = key_of(way, int(row["streamId"]), int(row["taskId"]))
        yield *where, int(row["tag"]), None, key, int(row["dataTag"])


def _texts(source: Source) -> Rows:
    for place, line in _lines(source, "hash_dic"):
        text = line.parts["text"].strip()
        # 64 bits do not fit into a number of SQLite with a sign.
        yield *place, line.parts["hash"], text, str(name_id(text))


def _tensor_records(source: Source) -> Rows:
    """Records of tensors; the tensors are added on the way."""
    way = source.run.way("task_key")
    types = source.run.way("data_types")
    own = OWN_NUMBERS if source.run.way("tensor_numbers") == "from-200" else None
    counts: dict[tuple[str, str], int] = {}
    tensors: list[Sequence[SqlValue]] = []
    for place, row in _records(source, "tensor_data_records"):
        key = key_of(way, int(row["streamId"]), int(row["taskId"]))
        number = int(row["tensorNum"])
        for one in row["tensors"][: min(number, MOST_TENSORS)]:
            side = "output" if one["tensorType"] else "input"
            counts[key, side] = at = counts.get((key, side), -1) + 1
            form, kind = (_plain(int(one[field]), own) for field in ("format", "dataType"))
            names = known_name("framework_formats", form), known_name(types, kind)
            shape = [int(axis) for axis in one["shape"]]
            used = len(shape) - next((n for n, a in enumerate(reversed(shape)) if a), len(shape))
            zeros = shape[:used].count(0)
            known = int(None not in names and int(one["tensorType"]) <= 1)
            tensors.append((*place, key, side, at, *names, known, zeros))
        if tensors:
            source.facts.add("tensor", tensors)
            tensors.clear()
        yield *place, key, number, int(row["dataTag"])


def _plain(number: int, own: int | None) -> int:
    return number if own is None or number < own else number - own


def _fetches(source: Source) -> Rows:
    slices = source.run.slices("minddata_aicpu")
    if slices is not None:
        for one in read_strings(slices, "minddata_aicpu", source.damage):
            if one.line is not None:
                place = (source.number(one.path), None, one.offset)
                yield *place, *_fetch(one.parts)
    for where, line in _lines(source, "gpu_getnext"):
        yield *where, *_fetch(line.parts)


def _fetch(parts: Mapping[str, str]) -> Sequence[SqlValue]:
    return parts["name"], *(whole(parts[name]) for name in ("start", "end", "size"))


def _samples(source: Source) -> Rows:
    for kind in ("device_queue", "dataset_iterator"):
        before: dict[tuple[object, object], int | None] = {}
        for place, line in _lines(source, kind):
            parts = line.parts
            numbers = [whole(parts.get(name)) for name in ("kind", "detail", "step", "value")]
            key = (numbers[0], numbers[1] if numbers[0] == 0 else None)
            yield *place, *numbers, whole(parts.get("time")), before.get(key)
            before[key] = numbers[2]


def _gpu_steps(source: Source) -> Rows:
    number = 0
    for place, line in _lines(source, "gpu_step_trace"):
        if line.line == "step":
            number += 1
            names = (f"{one}_time" for one in ("start", "fp", "bp", "end"))
            yield *place, number, *(whole(line.parts[one]) for one in names)


def _gpu_times(source: Source) -> Rows:
    for place, line in _lines(source, "gpu_step_trace", quiet=True):
        if line.line != "operator":
            continue
        for number, text in enumerate(line.parts["pairs"].split(), 1):
            found = _PAIR.fullmatch(text)
            if found:
                yield *place, line.parts["operator"], number, int(found[1]), int(found[2])


def _pipeline(source: Source) -> Rows:
    slices = source.run.slices(PIPELINE)
    if slices is None:
        return
    path = slices[0].path
    document = read_document(path, lambda value: (pipeline_of(value), value), source.damage)
    if document is None:
        return
    found, whole = document
    number = source.number(path)
    every = [one for one in whole["op_info"] if isinstance(one, dict)]
    below = Counter(child for one in every for child in _children(one))
    for one in every:
        queue = (one.get("metrics") or {}).get("output_queue") or {}
        sizes = [size for size in queue.get("size") or () if isinstance(size, (int, float))]
        parents = below[one.get("op_id")]
        missing = sum(child not in found.operators for child in _children(one))
        own = (one.get("op_id"), one.get("op_type"), one.get("num_workers"), parents)
        least, most = min(sizes, default=None), max(sizes, default=None)
        lengths = (queue.get("length"), len(sizes), least, most, len(_children(one)), missing)
        yield number, None, 0, *map(_scalar, (*own, *lengths))


def _children(operator: Mapping[str, Any]) -> Sequence[Any]:
    found = operator.get("children")
    return found if isinstance(found, list) else ()


def _scalar(value: Any) -> SqlValue:
    """A value of a document as one of SQL; ``None`` for what is none."""
    if isinstance(value, int):
        return max(min(int(value), MOST), -MOST)
    return value if isinstance(value, (float, str)) else None
