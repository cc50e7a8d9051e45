"""Which ranks form which groups: tensor parallel ranks fastest, then data, then pipeline.

Names of groups and operators are formed as HCCL does (db-schema.md 7.5).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

import numpy as np

from ascend_ref.capture import Integers
from ascend_ref.derive.group_hash import group_hash

from ..choices import Parallelism
from ..program.model import Dimension


@dataclass(frozen=True, slots=True)
class Tokens:
    """How a rank's experts share the tokens, so that none is lost and none is new.

    draw: number of the draw, which two neighbours in a group of experts have in common. mirrored:
    this one of the two gets what the other leaves. even: it has no neighbour, and gets its share.
    """

    draw: int
    mirrored: bool
    even: bool


@dataclass(frozen=True, slots=True)
class Layout:
    """Places of all ranks (Megatron's order: rank = tensor + T x (data + D x stage))."""

    parallelism: Parallelism

    @property
    def ranks_per_stage(self) -> int:
        """Ranks that run the same program."""
        return self.parallelism.ranks // self.parallelism.pipeline

    def stage(self, rank: int) -> int:
        """Pipeline stage of a rank."""
        return rank // self.ranks_per_stage

    def tokens(self, rank: int) -> Tokens:
        """Which tokens the experts of a rank get: tensor parallel ranks the same."""
        data, expert = rank // self.parallelism.tensor, self.parallelism.expert
        place = data % self.parallelism.data % expert
        return Tokens(data - place % 2, place % 2 == 1, place == expert - 1 and expert % 2 == 1)

    def stage_ranks(self, stage: int) -> Integers:
        """Global ranks of a stage, ascending."""
        return np.arange(self.ranks_per_stage, dtype=np.int64) + stage * self.ranks_per_stage

    def groups(self, dimension: Dimension) -> Integers:
        """Every group of a dimension as one row of ascending global ranks; shape (groups, size)."""
        ranks = self.parallelism.ranks
        tensor, data, expert = (
            self.parallelism.tensor,
            self.parallelism.data,
            self.parallelism.expert,
        )
        grid = np.arange(ranks, dtype=np.int64).reshape(self.parallelism.pipeline, data, tensor)
        if dimension == "world":
            return grid.reshape(1, ranks)
        if dimension == "tp":
            return grid.reshape(-1, tensor)
        if dimension == "pp":
            return grid.reshape(self.parallelism.pipeline, -1).T.copy()
        across = grid.transpose(0, 2, 1)
        if dimension == "dp":
            return across.reshape(-1, data).copy()
        if dimension == "ep":
            return across.reshape(-1, expert).copy()
        same_experts = across.reshape(-1, data // expert, expert).transpose(0, 2, 1)
        return same_experts.reshape(-1, data // expert).copy()

    def group_of(self, rank: int, dimension: Dimension) -> Integers:
        """The group of a rank, ascending global ranks."""
        groups = self.groups(dimension)
        row: Integers = groups[np.flatnonzero((groups == rank).any(axis=1))[0]]
        return row


PURPOSES: dict[Dimension, str] = {
    "world": "default_group",
    "dp": "dp",
    "tp": "tp",
    "pp": "pp",
    "ep": "exp",
    "edp": "edp",
}
"""Names that Megatron gives its groups, as readers expect them."""
MOST_GROUPS = 900
"""Of the thousand names that three digits can distinguish; close to it the search gets long."""


def group_names(
    layout: Layout, dimensions: Iterable[Dimension], moment: int
) -> dict[tuple[Dimension, tuple[int, ...]], str]:
    """A readable name for every group, by (dimension, its ranks).

    ``moment``: when the first group was made, microseconds. Operators are distinguished by the last
    three digits of the hash of their group. Where a thousand is enough, no two groups share them,
    else no two of one rank: a later moment is taken until they differ.
    """
    members = [
        (dimension, tuple(row.tolist()))
        for dimension in dimensions
        for row in layout.groups(dimension)
    ]
    names: dict[tuple[Dimension, tuple[int, ...]], str] = {}
    digits_of: dict[int, set[str]] = {}
    for dimension, ranks in members:
        owners = ranks if len(members) > MOST_GROUPS else (0,)
        used = set().union(*(digits_of.get(owner, set()) for owner in owners))
        while True:
            name = f"10.0.{ranks[0] // 8}.{5 + ranks[0] % 8}%eth0_60000_0_{moment}"
            moment += 1_009
            if digits(name) not in used:
                break
        for owner in owners:
            digits_of.setdefault(owner, set()).add(digits(name))
        names[dimension, ranks] = name
    return names


@cache
def digits(group: str) -> str:
    """The three digits that stand for a group in the names of its operators."""
    return group_hash(group)[-3:].zfill(3)


def operator_names(kind: str, group: str, indexes: Iterable[int]) -> list[str]:
    """``hcom_allReduce__865_0_1``: kind, digits of the group, index in the group, iteration."""
    own = digits(group)
    return [f"hcom_{kind}__{own}_{index}_1" for index in indexes]
