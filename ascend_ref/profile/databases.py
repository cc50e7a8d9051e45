"""The databases of profiles in a folder."""

from __future__ import annotations

from pathlib import Path

from ascend_ref.below import files_below
from ascend_ref.db.carrier import carrier_of_name


class NoDatabase(Exception):
    """A folder holds no database of a profiler; the message says what is expected."""


def databases(path: Path) -> list[Path]:
    """A file itself; in a folder the databases of the framework's profiler by their names, or where
    there are none those of msprof, which are parts of the others.

    Raises :class:`NoDatabase`, ``OSError``.
    """
    if not path.is_dir():
        return [path]
    found = {
        carrier: [one for one in files_below(path) if carrier_of_name(one.name)[0] == carrier]
        for carrier in ("pytorch", "msprof")
    }
    chosen = found["pytorch"] or found["msprof"]
    if not chosen:
        expected = "ascend_pytorch_profiler_*.db or msprof_*.db"
        raise NoDatabase(f"{path}: no database in this folder; expected {expected}")
    return chosen
