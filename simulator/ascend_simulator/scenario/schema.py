"""The published JSON Schema of a scenario, and what it says of single fields."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from ascend_spec.core import parse

from .document import Path

SECTIONS = ("hardware", "model", "parallelism", "schedule", "capture")


@cache
def scenario_schema() -> dict[str, Any]:
    """The schema (2020-12); nobody may change it."""
    text = (files(__package__) / "scenario.schema.yaml").read_text(encoding="utf-8")
    schema: dict[str, Any] = parse(text)
    return schema


def fields(section: str) -> Mapping[str, Mapping[str, Any]]:
    """The schemas of a section's fields, by name; ``fault`` is the section of one fault."""
    found: Mapping[str, Mapping[str, Any]] = scenario_schema()["$defs"][section]["properties"]
    return found


def schema_at(path: Path) -> Mapping[str, Any]:
    """The schema of the value at a path that exists in it."""
    at: Mapping[str, Any] = scenario_schema()
    for part in path:
        at = at["items"] if isinstance(part, int) else at["properties"][part]
        if "$ref" in at:
            at = scenario_schema()["$defs"][at["$ref"].rpartition("/")[2]]
    return at


@cache
def read_by(section: str, kind: str) -> tuple[str, ...]:
    """The fields that a kind of model (or of ``fault``) reads, its kind among them."""
    return next(
        tuple(branch["then"]["propertyNames"]["enum"])
        for branch in scenario_schema()["$defs"][section]["allOf"]
        if kind in branch["if"]["properties"]["kind"]["enum"]
    )
