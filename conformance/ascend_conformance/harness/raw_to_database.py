"""The stage from the raw files of a process to its database."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from ascend_ref.profile.raw import export_raw

from ..difference import databases
from ..difference.files import DatabaseTable, tables_below
from .case import Case
from .raw_to_text import make_raw

FORMATS = ("raw", "msprof-db")


def make(case: Case, folder: Path, writer: str | None = None) -> None:
    """Simulate a case: its raw files below ``input``, what is true of them below ``expected``.

    As for texts; there is one generation of ``writer``.
    """
    make_raw(case, folder, FORMATS, lambda below: {one.path for one in tables_below(below)})


def files(folder: Path) -> Sequence[DatabaseTable]:
    """The tables with rows of the databases in a folder and below."""
    return list(tables_below(folder))


def reference(source: Path, target: Path) -> None:
    """Our own export of raw files."""
    export_raw(source, target / "database", ("db",))


differences = partial(databases.differences, output="msprof")
"""The comparison of tables by meaning."""
