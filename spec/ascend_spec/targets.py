"""Every state of every axis by its name, as users ask for one: revisions, writers, epochs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from .spec import bin_catalog, catalog, text_catalog

Axis = Literal["revision", "writer", "epoch"]


@dataclass(frozen=True, slots=True)
class Target:
    """A state of one axis: a revision, a writer of texts, an epoch of blocks."""

    axis: Axis
    name: str


def targets() -> Mapping[str, Target]:
    """By the ids of the states, which no two axes share."""
    return {
        **{one.id: Target("revision", one.id) for one in catalog().revisions},
        **{one: Target("writer", one) for one in text_catalog().writers},
        **{one.id: Target("epoch", one.id) for one in bin_catalog().epochs},
    }


def versions() -> Mapping[str, Target]:
    """By SCHEMA_VERSION the newest revision of each."""
    return {one.schema_version: Target("revision", one.id) for one in catalog().revisions}
