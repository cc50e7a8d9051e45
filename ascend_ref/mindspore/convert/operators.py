"""Operators, as ``framework_raw`` has them and as exporters of today show them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ascend_ref.capture import Integers, KernelKinds, Texts
from ascend_ref.capture.model import NONE
from ascend_ref.raw.tensors import NOT_AVAILABLE, TensorTexts
from ascend_ref.raw.vocabulary import numbered
from ascend_spec import mindspore_catalog

from ..parse.operator import last_part
from .found import Operator, Tensor

AI_CORE, AI_CPU = "AI_CORE", "AI_CPU"
"""What exporters call the processor of an operator."""

_STATE = "static"
"""Old captures are of graphs, whose shapes are known before they run. Without blocks nothing is
known of the launch (erratum M55), and exporters have no state then (op_summary)."""

_OF_GRAPH_ENGINE, _OF_FRAMEWORK = ("DT_", "FORMAT_"), "NUMBER_TYPE_"
"""How the names of types and formats begin, by who numbered them (mindspore-profiler 2.4)."""
_DIGITS = 18
"""Numbers of more of them are not of 64 bits."""

_OWN = "_"
"""What those of the framework end with today (tensor_data_types)."""


def operators_of(rows: Iterable[Mapping[str, object]]) -> list[Operator]:
    """Operators of rows of ``framework_raw``, the first of each full name."""
    found: dict[str, Operator] = {}
    for row in rows:
        name = full_name_in(row)
        if name and name not in found:
            found[name] = _operator(name, row)
    return list(found.values())


def full_name_in(row: Mapping[str, object]) -> str:
    """The full name in a row of ``framework_raw``, empty without one."""
    names = mindspore_catalog().full_names
    return next((str(row[one]) for one in names if row.get(one)), "")


def kinds_of(operators: Sequence[Operator], texts: Texts) -> KernelKinds:
    """The kernels of operators, in their order."""
    missing = texts.number(NOT_AVAILABLE)
    columns: dict[str, list[int]] = {}
    for one in operators:
        inputs, outputs = _texts(one.inputs), _texts(one.outputs)
        core = one.processor or AI_CORE
        words = {
            "name": one.name,
            "op_type": one.type or NOT_AVAILABLE,
            "core": core,
            "input_formats": inputs.layouts,
            "input_data_types": inputs.data_types,
            "input_shapes": inputs.shapes,
            "output_formats": outputs.layouts,
            "output_data_types": outputs.data_types,
            "output_shapes": outputs.shapes,
            "op_state": _STATE if one.blocks or core == AI_CPU else NOT_AVAILABLE,
        }
        for column, word in words.items():
            columns.setdefault(column, []).append(texts.number(word))
        columns.setdefault("blocks", []).append(one.blocks)
    made = {name: _integers(values) for name, values in columns.items()}
    unknown = dict.fromkeys(("attributes", "hf32", "grid", "thread_block"), missing)
    return KernelKinds.filled(len(operators), **made, **unknown, mix_blocks=0)


def type_of(full_name: str) -> str:
    """The type in the name of an operator: its last part up to ``-op``; nothing without one."""
    kind, between, _ = last_part(full_name).rpartition("-op")
    return kind if between else ""


def _operator(name: str, row: Mapping[str, object]) -> Operator:
    tensors = _tensors(row.get("op_info"))
    # kernel_type is the type since 2023-07-03, and was the processor before (framework_raw).
    kind, processor = (
        ("op_type", "kernel_type") if "op_type" in row else ("kernel_type", "task_type")
    )
    return Operator(
        name,
        str(row.get(kind) or "") or type_of(name),
        str(row.get(processor) or ""),
        whole(row.get("block_dim"), 0),
        whole(row.get("graph_id") or row.get("model_id"), NONE),
        tensors["input"],
        tensors["output"],
    )


def whole(value: object, other: int) -> int:
    """A number of 32 bits at most; the other one for what is none."""
    text = str(value)
    return int(text) if is_whole(text) and int(text) < 1 << 32 else other


def is_whole(text: str) -> bool:
    """Whether a text is a number without a sign, of 64 bits at most."""
    return text.isascii() and text.isdecimal() and len(text) <= _DIGITS


def _tensors(value: object) -> dict[str, list[Tensor]]:
    """Inputs and outputs of a cell of ``op_info``, in order of their numbers."""
    found: dict[str, list[Tensor]] = {"input": [], "output": []}
    try:
        every = json.loads(str(value)) if value else {}
    except (ValueError, RecursionError):
        return found
    for key, one in every.items() if isinstance(every, dict) else ():
        side = str(key).partition("_")[0]
        if side in found and isinstance(one, dict):
            found[side].append(_tensor(one))
    return found


def _tensor(cells: Mapping[str, Any]) -> Tensor:
    shape = cells.get("shape", "")
    sizes = ",".join(map(str, shape)) if isinstance(shape, list) else str(shape)
    data_type, layout = (str(cells.get(one, "")) for one in ("data_type", "format"))
    return Tensor(present(layout, "tensor_formats"), present(data_type, "tensor_data_types"), sizes)


def present(name: str, vocabulary: str) -> str:
    """What exporters of today call a format or a type; the name itself where they have none."""
    known = numbered(vocabulary)
    plain = name
    for prefix in _OF_GRAPH_ENGINE:
        plain = plain.removeprefix(prefix)
    own = f"{name.removeprefix(_OF_FRAMEWORK)}{_OWN}"
    choices = (own, name) if plain == name else (plain, name)
    return next((one for one in choices if one in known), name)


def _texts(tensors: Sequence[Tensor]) -> TensorTexts:
    if not tensors:
        return TensorTexts()
    return TensorTexts(
        ";".join(one.format for one in tensors),
        ";".join(one.data_type for one in tensors),
        '"' + ";".join(one.shape for one in tensors) + '"',
    )


def _integers(values: Sequence[int]) -> Integers:
    return np.array(values, np.int64)
