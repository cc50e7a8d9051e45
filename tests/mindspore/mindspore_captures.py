"""Seeded raw files of the operator chain, made from the declarations of records and lines."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ascend_ref.derive.text_hash import name_id
from ascend_ref.raw.fields import opaque, put
from ascend_spec import mindspore_catalog
from ascend_spec.core import DAYS
from ascend_spec.core.packed import dtype_of
from ascend_spec.raw.records import DEVICE_MAGIC, MAGIC

DEVICE = 0
HWTS_SIZE = 64
INLINE_FROM = "2022-05-07"
"""From when on 1 is the kind of a text that stands in the record itself."""
TYPES_FROM, BOTH_DAYS = "2021-06-18", 36
"""From when on types in text have other numbers, and one that is a type before and after; others
show the day.
"""


@dataclass(frozen=True)
class Operator:
    """An operator of one task, with the sides, formats, types and shapes of its tensors."""

    name: str
    type: str
    stream: int
    task: int
    blocks: int
    tensors: Sequence[tuple[int, int, int, tuple[int, ...]]]


def drawn_operators(seed: int, number: int = 12, *, unique: bool = True) -> list[Operator]:
    """Operators of some streams; unique: no two of them have one task."""
    draw = random.Random(seed)
    found: dict[tuple[int, int], Operator] = {}
    while len(found) < number:
        kind = draw.choice(["Cast", "MatMul", "BiasAdd", "assign"])
        scope = draw.choice(["Default", "Gradients", "Recompute"])
        middle = "/".join(f"layer{one}" for one in range(draw.randint(0, 3)))
        name = f"{scope}/{middle}/{kind}-op{draw.randint(0, number)}".replace("//", "/")
        if kind == "assign":
            name = f"assign{len(found)}"
        stream = draw.randint(0, 4)
        high = draw.random() < 0.4
        task = draw.randint(25_000, 25_020) if high else draw.randint(0, 30)
        key = (-1 if high else stream, task)
        tensors = [
            (draw.randint(0, 1), draw.randint(0, 24), draw.randint(25, 48), _shape(draw))
            for _ in range(draw.choice([0, 1, 2, 5, 7]))
        ]
        tensors.sort(key=lambda one: one[0])
        found.setdefault(key, Operator(name, kind, stream, task, draw.randint(1, 32), tensors))
    return list(found.values())


def _shape(draw: random.Random) -> tuple[int, ...]:
    return tuple(draw.randint(1, 300) for _ in range(draw.randint(0, 5)))


def hwts_records(seed: int, operators: Sequence[Operator], number: int = 300) -> list[bytes]:
    """Records of all kinds: executions that lie in each other, lack an end or begin twice."""
    draw = random.Random(seed)
    found = []
    tick = draw.randint(10**9, 10**11)
    task = 64_990
    kinds = ["pair", "pair", "pair", "start", "end", "other", *["high"] * (seed % 3 == 0)]
    for place in range(number):
        tick += draw.choice([0, 0, 1, 17, 12_345])
        one = draw.choice(operators)
        stream = one.stream if draw.random() < 0.9 else one.stream + 516
        match draw.choice(kinds):
            case "pair":
                found.append((0, stream, one.task, tick))
                tick += draw.choice([0, 16, 16, 266, 23_868])
                found.append((1, stream, one.task, tick))
            case "start":
                found.append((0, stream, one.task, tick))
            case "end":
                found.append((1, stream, one.task, tick))
            case "other":
                found.append((draw.randint(2, 4), stream, one.task, tick))
            case _:
                task = (task + draw.randint(1, 300)) % 65_536
                found.append((draw.randint(0, 1), place % 3, task, tick))
    return [hwts_record(*one, place) for place, one in enumerate(found)]


def hwts_record(kind: int, stream: int, task: int, tick: int, count: int, warn: int = 0) -> bytes:
    """One record of the log."""
    name = {3: "HWTS_BLOCK_END", 4: "HWTS_BLOCK_PMU"}.get(kind, "HWTS_TASK")
    values = {"magic": DEVICE_MAGIC, "task_id": task, "syscnt": tick, "stream_id": stream}
    return record(name, {**values, "type": kind, "cnt": count % 16, "is_warn_res0_ov": warn})


def record(name: str, values: Mapping[str, object]) -> bytes:
    """A record of a declaration with these fields, and 0 in all others."""
    declaration = mindspore_catalog().record(name)
    row = np.zeros(1, dtype_of(declaration))
    for field, value in values.items():
        if isinstance(value, int):
            put(declaration, row, field, np.array([value], np.uint64).view(np.int64))
        else:
            _put_in(row, field, value)
    content: bytes = opaque(row).tobytes()
    return content


def _put_in(row: Any, field: str, value: Any) -> None:
    """A field with fields, or an array of those."""
    if isinstance(value, Mapping):
        for name, part in value.items():
            _put_in(row[field], name, part)
    elif isinstance(value, bytes):
        row[field] = np.void(value.ljust(row[field].dtype.itemsize, b"\0"))
    elif isinstance(value, list):
        for place, part in enumerate(value):
            for name, one in part.items():
                row[field][name][:, place] = one
    else:
        row[field] = value


def write_records(folder: Path, kind: str, day: str, records: Sequence[bytes], most: int) -> None:
    """Slices of some records each, under the name of the day."""
    forms = [
        one.form
        for one in mindspore_catalog().files[kind].names
        if DAYS.in_force(one, day) and "device" in one.form.fields
    ]
    form = forms[-1]
    for number, start in enumerate(range(0, len(records), most)):
        parts = {"device": DEVICE, "tag": "profiler_default_tag", "slice": number}
        content = b"".join(records[start : start + most])
        (folder / form.of(**{one: parts[one] for one in form.fields})).write_bytes(content)


def write_capture(folder: Path, seed: int, day: str, *, back_end: str = "vm") -> None:
    """The raw files of a job as on a day."""
    operators = drawn_operators(seed)
    data = folder / "data"
    data.mkdir(parents=True)
    write_records(data, "hwts", day, hwts_records(seed, operators), 97)
    if DAYS.in_force(mindspore_catalog().files["task_desc_info"], day):
        write_text(data, operators, day, back_end)
    else:
        write_framework_records(data, operators, day)


def write_text(folder: Path, operators: Sequence[Operator], day: str, back_end: str) -> None:
    """The text of the framework."""
    draw = random.Random(len(operators))
    infix = "" if back_end == "ge" else ("vm." if day < "2021-01-06" else "vm_")
    tasks = [f"{one.name} {one.blocks} {one.task} {one.stream}\n" for one in operators]
    known = [one for one in operators if draw.random() < 0.9]
    graph = [_graph_line(one, back_end, day) for one in known]
    graph.append("op_name:Default/Late-op1 op_type:Late\n")
    for kind, lines in {"task_desc_info": tasks, "graph_desc_info": graph}.items():
        for number, start in enumerate(range(0, len(lines), 5)):
            path = folder / f"Framework.host.{infix}{kind}.{DEVICE}.slice_{number}"
            path.write_text("".join(lines[start : start + 5]), encoding="utf-8")
    point = folder / f"Framework.host.{infix}point.{DEVICE}.slice_0"
    point.write_text(f"1 {operators[0].name}\n2 {operators[-1].name}\n", encoding="utf-8")


def _graph_line(operator: Operator, back_end: str, day: str) -> str:
    unknown = range(43, 48) if day < TYPES_FROM else range(26, 30)
    counts = [0, 0]
    text = f"op_name:{operator.name} op_type:{operator.type}"
    for side, form, kind, shape in operator.tensors:
        name = ("input", "output")[side]
        shown = form if back_end == "ge" else f"Format{form}"
        number = BOTH_DAYS if back_end == "vm" and kind in unknown else kind
        axes = ",".join(map(str, shape))
        text += f" {name}_id:{counts[side]} {name}_format:{shown}"
        text += f' {name}_data_type:{number} {name}_shape:"{axes}"'
        counts[side] += 1
    return f"{text}\n"


def write_framework_records(folder: Path, operators: Sequence[Operator], day: str) -> None:
    """The records of the framework, with the dictionary of texts that are too long for them."""
    long = {name_id(one.name): one.name for one in operators[::4]}
    lines = "".join(f"{number}:{text}\n" for number, text in long.items())
    (folder / f"Framework.hash_dic.{DEVICE}.slice_0").write_text(lines, encoding="utf-8")
    inline = 1 if day >= INLINE_FROM else 0
    tasks = [_task_record(one, inline, long) for one in operators]
    tensors = [record for one in operators for record in _tensor_records(one)]
    steps = [
        record("STEP_INFO", {"magicNumber": MAGIC, "dataTag": 25, "tag": tag, **_task(one)})
        for tag, one in enumerate(operators[:3], 2)
    ]
    for kind, records in {
        "task_desc_records": tasks,
        "tensor_data_records": tensors,
        "step_records": steps,
    }.items():
        write_records(folder, kind, day, records, 7)


def _task(operator: Operator) -> dict[str, int]:
    return {"streamId": operator.stream, "taskId": operator.task, "modelId": operator.blocks % 3}


def _task_record(operator: Operator, inline: int, long: Mapping[int, str]) -> bytes:
    number = name_id(operator.name)
    content = number.to_bytes(8, "little") if number in long else operator.name.encode()
    values = {
        "magicNumber": MAGIC,
        "dataTag": 23,
        "taskType": (0, 1, 2, 10, 11, 12, 1000)[operator.blocks % 7],
        "blockDims": operator.blocks,
        "opName": {"kind": 1 - inline if number in long else inline, "content": content},
        "opType": {"kind": inline, "content": operator.type.encode()},
    }
    return record("TASK_DESC_INFO", {**values, **_task(operator)})


def _tensor_records(operator: Operator) -> list[bytes]:
    found = []
    for start in range(0, len(operator.tensors), 5):
        some = operator.tensors[start : start + 5]
        tensors = [
            {
                "tensorType": side,
                "format": form + 200 * (form % 2),
                "dataType": kind + 200 * (kind % 2),
                "shape": [*shape, *[0] * (8 - len(shape))],
            }
            for side, form, kind, shape in some
        ]
        values = {"magicNumber": MAGIC, "dataTag": 24, "tensorNum": len(some), "tensors": tensors}
        found.append(record("TENSOR_DATA_INFO", {**values, **_task(operator)}))
    return found
