"""Operators as the files of the framework describe them, and what output calls them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ascend_spec import mindspore_catalog, per_spec
from ascend_spec.mindspore import ALONE_FROM

SUBGRAPHS = ("Default", "Gradients")
"""First parts of full names that are subgraphs (mindspore-profiler 2.4)."""

UNKNOWN = "UNKNOWN"
"""What output shows for a number that the parsers do not know."""

Row: TypeAlias = Mapping[str, object]
"""Cells of ``framework_raw`` by column; those that are missing are empty."""


@dataclass(frozen=True, slots=True)
class Framework:
    """What the framework says of a run.

    ``names``: full names of operators by the key of their task. ``points``: of those at which a
    step has a point, by its tag. ``rows``: of ``framework_raw``.
    """

    names: Mapping[str, str]
    points: Mapping[int, str]
    rows: Sequence[Row]


def key_of(way: str, stream: int | str, task: int | str) -> str:
    """The key of a task (task_key)."""
    if way == "task" or (way == "task-from-25000" and int(task) >= ALONE_FROM):
        return str(task)
    return f"{stream}_{task}"


def subgraph_of(full_name: str) -> str | None:
    """The subgraph in a full name, ``None`` where it has none."""
    first = full_name.split("/", 1)[0]
    return first if first in SUBGRAPHS else None


def last_part(full_name: str) -> str:
    """What stands behind the last slash."""
    return full_name.rpartition("/")[2]


def name_of(vocabulary: str, number: int) -> str:
    """What output shows for a number of a vocabulary."""
    return known_name(vocabulary, number) or UNKNOWN


def known_name(vocabulary: str, number: int) -> str | None:
    """The same; ``None`` for a number that it does not have."""
    return names_of(vocabulary).get(number)


@per_spec
def names_of(vocabulary: str) -> Mapping[int, str]:
    """What output shows for each number of a vocabulary."""
    members = mindspore_catalog().vocabularies[vocabulary].members
    return {int(one.value): str(one.label or one.name) for one in members}
