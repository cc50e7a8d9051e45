"""Text deliverables from a database, and the databases of a folder."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path

from ascend_ref.atomic import staged
from ascend_ref.below import files_below
from ascend_ref.db.carrier import carrier_of_name
from ascend_ref.documents import write_documents
from ascend_ref.recorded import Recorded, from_database
from ascend_ref.text import write_csv_files
from ascend_ref.timeline import write_timeline

Progress = Callable[[int, int, str], None]

WRITERS: Mapping[str, Callable[[Recorded, Path, str | None], list[Path]]] = {
    "csv": lambda recorded, folder, writer: write_csv_files(recorded, folder, writer=writer),
    "timeline": lambda recorded, folder, writer: write_timeline(recorded, folder, writer=writer),
    "documents": lambda recorded, folder, _: write_documents(recorded, folder),
}
"""What can be written: CSV files; timelines; communication.json and communication_matrix.json."""


def export_database(
    database: Path,
    folder: Path,
    kinds: Collection[str] = tuple(WRITERS),
    writer: str | None = None,
    progress: Progress | None = None,
) -> list[Path]:
    """Write the text deliverables of a database into the new ``folder``; returns their paths.

    kinds: of :data:`WRITERS`. writer: a generation of exporters (spec: text/writers.yaml), by
    default the current one of the database's output and product family. ``folder`` appears
    complete or not at all.

    Raises ``UnreadableDatabase`` for a file that is no profile, ``ValueError`` for a writer that
    does not write its output, ``FileExistsError`` for a folder that exists, ``OSError``.
    """
    recorded = from_database(database)
    written: list[Path] = []
    with staged(folder) as draft:
        for done, kind in enumerate(kinds):
            if progress:
                progress(done, len(kinds), kind)
            written += WRITERS[kind](recorded, draft, writer)
        names = [path.relative_to(draft) for path in written]
    return [folder / name for name in names]


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
