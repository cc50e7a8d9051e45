"""The states that files of a profile can have, by name, as users ask for one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from ascend_spec import catalog, current

from .state import AxisName, names_of

OF_FILES: Final[tuple[AxisName, ...]] = ("revision", "writer", "epoch")
"""The axes on which databases, texts and files of blocks lie."""


@dataclass(frozen=True, slots=True)
class Target:
    """A state of one axis, of the spec in use."""

    axis: AxisName
    name: str


def targets() -> Mapping[str, Target]:
    """By the names of the states, which no two axes share."""
    return {one: Target(axis, one) for axis in OF_FILES for one in names_of(current(), axis)}


def versions() -> Mapping[str, Target]:
    """By SCHEMA_VERSION the newest revision of each."""
    return {one.schema_version: Target("revision", one.id) for one in catalog().revisions}
