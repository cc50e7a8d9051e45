"""Several ranks in one folder: how they work together, and their numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ascend_ref.raw.damage import Damage
from ascend_spec import mindspore_catalog
from ascend_spec.mindspore import PARALLEL_MODES

from .files import DEVICE, Folder

CLUSTER_TABLES = ("ascend_cluster_analyse", "gpu_cluster_analyse")
DATA, MODEL, PIPELINE = PARALLEL_MODES
RANK = "rank_id"
"""Column of the number of a rank."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """How ranks work together, as the names of their files have it.

    ``table``: the kind of these files, ``None`` where there is none.
    """

    table: str | None = None
    mode: str = DATA
    stages: int = 1
    ranks: int = 1

    def stage_of(self, rank: int) -> int:
        """The stage of a rank, from 1."""
        return int(rank / (self.ranks / self.stages)) + 1 if self.ranks and self.stages else 1

    def path(self, folder: Folder) -> Path | None:
        """The file of a rank; ``None`` where there is none."""
        if self.table is None:
            return None
        form = mindspore_catalog().tables[self.table].names[-1].form
        parts = {"parallel": self.mode, "stages": self.stages, "ranks": self.ranks}
        return folder.file(form.of(**parts, device=folder.device))


def find_cluster(folder: Folder, tables: tuple[str, ...] = CLUSTER_TABLES) -> Cluster:
    """That of a folder; of several, which is damage, the one that most files are of."""
    counts: dict[Cluster, int] = {}
    for table in tables:
        for _, parts in folder.named(table):
            one = Cluster(table, parts["parallel"], int(parts["stages"]), int(parts["ranks"]))
            counts[one] = counts.get(one, 0) + 1
    if not counts:
        return Cluster()
    found = max(counts, key=lambda one: (counts[one], one.ranks, one.mode))
    if len(counts) > 1:
        taken = f"{found.mode}, {found.stages} stages, {found.ranks} ranks"
        text = f"files of {len(counts)} ways to work together; taken: {taken}"
        folder.damage.append(Damage(folder.path, text, kind=found.table))
    return found


def rank_of(folder: Folder) -> int:
    """The number of the rank of a folder."""
    return int(folder.device)


def absent(folder: Folder, table: str, what: str = "") -> None:
    """Note that a rank has no file of a table, or that something in it is not there."""
    path = folder.find(table)
    name = mindspore_catalog().tables[table].names[-1].form.template
    text = what or f"no {name.replace(f'{{{DEVICE}}}', folder.device)}"
    folder.damage.append(Damage(path or folder.path, text, kind=table))


def number(value: Any) -> float | None:
    """A number of JSON or a text of one; ``None`` for anything else, and for what has no size."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return None
    return found if math.isfinite(found) else None


def mapping(value: Any) -> Mapping[str, Any]:
    """An object of JSON; an empty one in place of anything else."""
    return value if isinstance(value, Mapping) else {}
