"""Which ranks form which groups: tensor parallel ranks fastest, then data, then pipeline."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ascend_ref.capture import Integers

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
