"""Names of communication groups and operators, as HCCL forms them (db-schema.md 7.5)."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from ascend_ref.capture import Integers
from ascend_ref.derive.group_hash import group_hash

from ..program.model import Dimension
from .layout import Layout

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


def operator_names(kind: str, group: str, indexes: Integers) -> list[str]:
    """``hcom_allReduce__865_0_1``: kind, digits of the group, index in the group, iteration."""
    own = digits(group)
    return [f"hcom_{kind}__{own}_{index}_1" for index in indexes.tolist()]
