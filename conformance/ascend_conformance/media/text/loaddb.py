"""The database beside text deliverables, as tables of the facts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from ascend_ref.db.open import UnreadableDatabase
from ascend_ref.recorded import Recorded, from_database

from ...compare.sql import quoted
from .folder import Folder
from .rules import TextRule, instances
from .sources import tables_to_compare

DATABASE = -1
"""The number that ``file`` has in the tables of the database."""


def load_database(folder: Folder, path: Path, rules: Iterable[TextRule]) -> None:
    """Copy what the rules read of a database into the schema ``db``.

    A database that cannot be read is left out; it is judged on its own, and that says why.
    """
    try:
        recorded = from_database(path, lenient=True)
        for name in _read_by(folder, rules):
            _copy(folder, recorded, name)
    except (UnreadableDatabase, OSError):
        return
    folder.database = path


def _read_by(folder: Folder, rules: Iterable[TextRule]) -> Sequence[str]:
    """The tables that rules name, agreements only where the folder has what to compare with."""
    needs = set(tables_to_compare(folder.facts, rules))
    needs |= {need for rule in rules for one in instances(rule) for need in one.needs}
    return sorted({need.split(".")[1] for need in needs if need.startswith("db.")})


def _copy(folder: Folder, recorded: Recorded, name: str) -> None:
    try:
        table = recorded.table(name)
    except KeyError:
        return
    if table.num_rows:
        # DuckDB keeps no order of rows, so they are numbered here.
        numbered = table.add_column(0, "row", pa.array(np.arange(table.num_rows)))
        folder.facts.scan(
            "recorded",
            numbered,
            f"CREATE TABLE db.{quoted(name)} AS SELECT {DATABASE} AS file, * FROM recorded",
        )
