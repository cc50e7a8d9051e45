"""What the framework states about the operators of a graph: as text, or as records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ascend_ref.derive.text_hash import name_id
from ascend_ref.raw.lines import Entry
from ascend_spec import mindspore_catalog
from ascend_spec.core.packed import dtype_of
from ascend_spec.mindspore.records import INLINE, MOST_TENSORS, OWN, TENSOR

from .device import TRACE, TRACK, Tags
from .graph import Operator
from .job import Job, Rows, is_of_records
from .tensors import Tensor, tensors_of

_AXES = 8
_TASK_TAG, _TENSOR_TAG, _STEP_TAG = 23, 24, 25
_LARGEST_TAG = 255
"""Of records; the points of reductions have greater ones, and stand in none."""
_TASK_TYPES = {"AI_CORE": "AI_CORE", "AI_CPU": "AI_CPU", "AI_VECTOR_CORE": "MSPROF_AIV"}
"""Names of task types by those of cores; others are not known to the framework."""


def write_framework(job: Job) -> None:
    """Write what the framework states, where the device ran a graph."""
    if not job.graph.operators:
        return
    if is_of_records(job.day):
        _write_records(job)
    else:
        _write_text(job)


def framework_kinds(day: str) -> tuple[str, ...]:
    """The kinds of files that the framework writes on a day, that of tasks first."""
    if is_of_records(day):
        return "task_desc_records", "tensor_data_records", "step_records", "hash_dic"
    return "task_desc_info", "graph_desc_info", "point"


# --- text -----------------------------------------------------------------------------------------


def _write_text(job: Job) -> None:
    kernels = job.graph.kernels
    types = job.way("vm_data_types")
    job.write_lines("task_desc_info", [Entry("task", _task(one)) for one in kernels])
    job.write_lines("graph_desc_info", [_operator(job, one, types) for one in kernels])
    tags = Tags(job, TRACK if job.writes(TRACK) else TRACE)
    named = {"fp": 0, "bp": 1, "begin": 2, "done": 2}
    points = [
        (tag, one.of)
        for one in job.graph.points
        if one.point in named and (tag := tags.of(one)) is not None
    ]
    job.write_lines(
        "point",
        [Entry("point", {"tag": tag, "full_op_name": name}) for tag, name in sorted(points)],
    )


def _task(operator: Operator) -> dict[str, object]:
    return {
        "full_op_name": operator.name,
        "block_dim": operator.blocks,
        "task_id": operator.number,
        "stream_id": operator.stream,
    }


def _operator(job: Job, operator: Operator, types: str) -> Entry:
    form = mindspore_catalog().grammars["tensor"].lines["tensor"]
    counted = {"input": 0, "output": 0}
    text = ""
    for one in tensors_of(job.capture, job.texts, operator):
        text += form.write(
            side=one.side,
            side_of_format=one.side,
            side_of_type=one.side,
            side_of_shape=one.side,
            number=counted[one.side],
            format=one.text_format,
            data_type=one.number_in(types),
            shape=",".join(map(str, one.shape)),
        )
        counted[one.side] += 1
    parts = {"full_op_name": operator.name, "op_type": operator.op_type, "tensors": text}
    return Entry("operator", parts)


# --- records --------------------------------------------------------------------------------------


class _Mixed:
    """Mixed texts of records, of which long ones go into the dictionary."""

    def __init__(self, job: Job) -> None:
        self.inline = INLINE if job.way("inline_text") == "one" else 0
        self.texts: dict[int, str] = {}

    def put(self, rows: Rows, field: str, texts: Sequence[str]) -> None:
        """Fill a field of records."""
        size = rows.dtype[field]["content"].itemsize
        kinds, contents = [], []
        for text in texts:
            content = text.encode()
            is_inline = len(content) <= size
            if not is_inline:
                number = name_id(text)
                self.texts[number] = text
                content = number.to_bytes(8, "little")
            kinds.append(self.inline if is_inline else 1 - self.inline)
            contents.append(content.ljust(size, b"\0"))
        rows[field]["kind"] = kinds
        rows[field]["content"] = np.frombuffer(b"".join(contents), f"V{size}")


def _write_records(job: Job) -> None:
    operators, mixed = job.graph.operators, _Mixed(job)
    keys = _keys(job, operators)
    types = np.array([_task_type(one) for one in operators])
    numbers = {"taskType": types, "blockDims": np.array([one.blocks for one in operators])}
    tag = np.full(len(operators), _TASK_TAG)
    rows = job.records("task_desc_records", "TASK_DESC_INFO", {**keys, **numbers, "dataTag": tag})
    mixed.put(rows, "opName", [one.name for one in operators])
    mixed.put(rows, "opType", [one.op_type for one in operators])
    job.write_rows("task_desc_records", rows)
    _write_tensors(job, operators)
    _write_points(job)
    job.write_lines(
        "hash_dic",
        [Entry("entry", {"hash": number, "text": text}) for number, text in mixed.texts.items()],
    )


def _keys(job: Job, operators: Sequence[Operator]) -> dict[str, np.ndarray]:
    return {
        "modelId": np.full(len(operators), max(job.graph.model, 0)),
        "streamId": np.array([one.stream for one in operators]),
        "taskId": np.array([one.number for one in operators]),
    }


def _task_type(operator: Operator) -> int:
    known = {
        str(one.name): int(one.value)
        for one in mindspore_catalog().vocabularies["task_types"].members
    }
    if operator.what == "collective":
        return known["MSPROF_HCCL"]
    if operator.what == "point":
        return known["MSPROF_RTS"]
    return known[_TASK_TYPES.get(operator.core, "AI_CORE")]


def _write_tensors(job: Job, operators: Sequence[Operator]) -> None:
    types = job.way("data_types")
    own = OWN if job.way("tensor_numbers") == "from-200" else 0
    held: list[tuple[Operator, list[Tensor]]] = []
    for one in operators:
        every = list(tensors_of(job.capture, job.texts, one))
        starts = range(0, len(every), MOST_TENSORS)
        held += [(one, every[start : start + MOST_TENSORS]) for start in starts]
    if not held:
        return
    tag = np.full(len(held), _TENSOR_TAG)
    number = np.array([len(some) for _, some in held])
    rows = job.records(
        "tensor_data_records",
        "TENSOR_DATA_INFO",
        {**_keys(job, [one for one, _ in held]), "dataTag": tag, "tensorNum": number},
    )
    made = np.zeros((len(held), MOST_TENSORS), dtype_of(TENSOR))
    for place, (_, some) in enumerate(held):
        for at, tensor in enumerate(some):
            shape = [*tensor.shape, *[0] * _AXES][:_AXES]
            numbers = tensor.format_number + own, tensor.number_in(types) + own
            made[place, at] = (tensor.side == "output", *numbers, shape)
    rows["tensors"] = made
    job.write_rows("tensor_data_records", rows)


def _write_points(job: Job) -> None:
    tags = Tags(job, TRACK)
    found = sorted(_tagged(job, tags), key=lambda one: one[0])
    if not found:
        return
    operators = [operator for _, operator in found]
    rows = job.records(
        "step_records",
        "STEP_INFO",
        {
            **_keys(job, operators),
            "dataTag": np.full(len(found), _STEP_TAG),
            "tag": np.array([tag for tag, _ in found]),
        },
    )
    job.write_rows("step_records", rows)


def _tagged(job: Job, tags: Tags) -> Iterator[tuple[int, Operator]]:
    for one in job.graph.points:
        tag = tags.of(one)
        if tag is not None and tag <= _LARGEST_TAG:
            yield tag, one.task
