"""The operators of a specimen, as its document lists them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from ascend_spec.core import parse

from .world import Row

DEFAULTS = {
    "attributes": "N/A",
    "op_state": "dynamic",
    "hf32": "NO",
    "grid": "N/A",
    "thread_block": "N/A",
    "mix_blocks": 0,
}


@dataclass(frozen=True, slots=True)
class Operator:
    """An operator of the framework and its kernel.

    row: of KernelKinds. task_type: TASK.taskType. subtask: it runs inside an FFTS+ task.
    """

    framework: str
    api: str
    task_type: str
    row: Row
    subtask: bool = False


@cache
def _documents() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = parse(
        files(__package__).joinpath("kernels.yaml").read_text(encoding="utf-8")
    )
    return found


def known_operators() -> list[Operator]:
    """The operators of the document."""
    return [_operator(document) for document in _documents()]


def named_operator(name: str) -> Operator:
    """A vector operator that carries a text of the caller in all its names."""
    names = {
        "framework": f"custom::{name}",
        "api": f"aclnn{name}",
        "name": f"aclnn{name}_{name}_Relu",
    }
    return _operator(_documents()[0] | names)


def _operator(document: Mapping[str, Any]) -> Operator:
    """Format, data type and shape of its only output are those of the first input."""
    columns = {**DEFAULTS, **document}
    for side in ("formats", "data_types", "shapes"):
        first = columns[f"input_{side}"].strip('"').partition(";")[0]
        columns[f"output_{side}"] = f'"{first}"' if side == "shapes" else first
    own = {
        name: columns.pop(name)
        for name in ("framework", "api", "task_type", "subtask")
        if name in columns
    }
    return Operator(row=Row(columns), **own)
