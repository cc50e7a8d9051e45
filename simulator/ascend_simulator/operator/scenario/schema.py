"""The published JSON Schema of a kernel's scenario, and what it says of single fields."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from ascend_spec.core import parse

from ...scenario.document import Path

SECTIONS = ("operator", "device", "tiling", "conditions", "capture")


@cache
def kernel_schema() -> dict[str, Any]:
    """The schema (2020-12); nobody may change it."""
    text = (files(__package__) / "kernel.schema.yaml").read_text(encoding="utf-8")
    schema: dict[str, Any] = parse(text)
    return schema


def schema_at(path: Path) -> Mapping[str, Any]:
    """The schema of the value at a path that exists in it."""
    at: Mapping[str, Any] = kernel_schema()
    for part in path:
        at = at["items"] if isinstance(part, int) else at["properties"][part]
        if "$ref" in at:
            at = kernel_schema()["$defs"][at["$ref"].rpartition("/")[2]]
    return at
