"""The stages at which exporters are tried; another stage is another row."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from ..difference import cluster_database
from ..difference.files import texts_below
from ..difference.pairing import Difference
from ..difference.texts import differences
from . import (
    database_to_text,
    framework_to_profile,
    ranks_to_cluster,
    raw_to_database,
    raw_to_text,
)
from .case import Case

Files = Sequence[Any]
"""Files, or tables of one, each with path, name and place; every stage has its own kind."""
Compare = Callable[[Files, Files, Collection[str] | None, tuple[str, str]], list[Difference]]


@dataclass(frozen=True, slots=True)
class Stage:
    """What exporters of one kind get and write.

    ``can_be_drawn``: whether a case says all that is true of it. ``make`` fills a folder with
    ``input``, which holds one folder for the exporter, and ``expected``, as a generation of
    exporters writes it where one is named. ``files`` are those of a folder that are compared;
    ``differences`` what two sets of them do not agree in. ``reference``: our own exporter.
    ``operators`` in the input of a folder. ``judged``: whether ``check`` has rules for what is
    written. ``ranks`` of a case that is drawn, at most.
    """

    name: str
    summary: str
    can_be_drawn: Callable[[Case], bool]
    make: Callable[[Case, Path, str | None], None]
    files: Callable[[Path], Files]
    differences: Compare
    reference: Callable[[Path, Path], object]
    operators: Callable[[Path], int]
    judged: bool
    ranks: int = 2


def _files(folder: Path) -> Files:
    return list(texts_below(folder))


STAGES: Mapping[str, Stage] = {
    one.name: one
    for one in (
        Stage(
            "database-to-text",
            "A database of msprof or of torch_npu to CSV files, timelines and JSON documents.",
            database_to_text.can_be_drawn,
            database_to_text.make,
            _files,
            partial(differences, of_database=True),
            database_to_text.reference,
            database_to_text.operators,
            judged=True,
        ),
        Stage(
            "raw-to-text",
            "The raw files of a PROF_* folder to CSV files and timelines.",
            raw_to_text.can_be_drawn,
            raw_to_text.make,
            _files,
            raw_to_text.differences,
            raw_to_text.reference,
            raw_to_text.operators,
            judged=False,
        ),
        Stage(
            "raw-to-database",
            "The raw files of a PROF_* folder to msprof_*.db.",
            raw_to_text.can_be_drawn,
            raw_to_database.make,
            raw_to_database.files,
            raw_to_database.differences,
            raw_to_database.reference,
            raw_to_text.operators,
            judged=False,
        ),
        Stage(
            "ranks-to-cluster",
            "The databases of all ranks to cluster_analysis.db.",
            ranks_to_cluster.can_be_drawn,
            ranks_to_cluster.make,
            cluster_database.files,
            cluster_database.differences,
            ranks_to_cluster.reference,
            database_to_text.operators,
            judged=False,
            ranks=ranks_to_cluster.RANKS,
        ),
        Stage(
            "framework-to-profile",
            "The raw files of the framework and of its device to databases and texts.",
            framework_to_profile.can_be_drawn,
            framework_to_profile.make,
            framework_to_profile.files,
            framework_to_profile.differences,
            framework_to_profile.reference,
            raw_to_text.operators,
            judged=False,
        ),
    )
}
