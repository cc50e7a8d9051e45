"""Text deliverables from a database, and the databases of a folder."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple, TypeAlias

from ascend_ref.atomic import staged
from ascend_ref.below import files_below
from ascend_ref.db.carrier import carrier_of_name
from ascend_ref.documents import write_documents
from ascend_ref.execution import Executor, InProcess
from ascend_ref.recorded import Recorded, from_database
from ascend_ref.text.write import tables_in_csv_files, write_csv_files
from ascend_ref.timeline.write import tables_in_timelines, write_timeline, writes_timelines

Progress: TypeAlias = Callable[[int, int, str], None]

WRITERS: Mapping[str, Callable[[Recorded, Path, str | None], list[Path]]] = {
    "csv": lambda recorded, folder, writer: write_csv_files(recorded, folder, writer=writer),
    "timeline": lambda recorded, folder, writer: write_timeline(recorded, folder, writer=writer),
    "documents": lambda recorded, folder, _: write_documents(recorded, folder),
}
"""What can be written: CSV files; timelines; communication.json and communication_matrix.json."""


class Exported(NamedTuple):
    """files: what was written. loss: a sentence on what of the database no file shows, if any."""

    files: list[Path]
    loss: str | None


def export_database(
    database: Path,
    folder: Path,
    kinds: Collection[str] | None = None,
    writer: str | None = None,
    progress: Progress | None = None,
) -> Exported:
    """Write the text deliverables of a database into the new ``folder``.

    kinds: of :data:`WRITERS`; None: all whose form is known of the writer. writer: a generation of
    exporters (spec: text/writers.yaml), by default the current one of the database's output and
    product family. ``folder`` appears complete or not at all.

    Raises ``UnreadableDatabase`` for a file that is no profile, ``ValueError`` for a writer that
    does not write its output, ``FileExistsError`` for a folder that exists, ``OSError``.
    """
    recorded = from_database(database)
    loss = _loss(recorded, writer) if kinds is None and writer is not None else None
    if kinds is None:
        has_timelines = writes_timelines(recorded.output, writer)
        kinds = [kind for kind in WRITERS if kind != "timeline" or has_timelines]
    written: list[Path] = []
    with staged(folder) as draft:
        for done, kind in enumerate(kinds):
            if progress:
                progress(done, len(kinds), kind)
            written += WRITERS[kind](recorded, draft, writer)
        names = [path.relative_to(draft) for path in written]
    return Exported([folder / name for name in names], loss)


class ExportedEach(NamedTuple):
    """files: what was written. losses: as of :class:`Exported`, of each database that has one."""

    files: list[Path]
    losses: dict[Path, str]


def export_databases(
    found: Sequence[Path],
    source: Path,
    folder: Path,
    kinds: Collection[str] | None = None,
    writer: str | None = None,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> ExportedEach:
    """Write the text deliverables of databases below ``source`` into the new ``folder``.

    Of several each gets a folder of its own, where it lies below ``source``. executor: where they
    are written, by default one after the other in this process; it does not change a byte. Other
    arguments and errors as of :func:`export_database`, and ``WorkerLost``.
    """
    if len(found) == 1:
        files, loss = export_database(found[0], folder, kinds, writer, progress)
        return ExportedEach(files, {found[0]: loss} if loss else {})
    losses = {}
    with staged(folder) as draft:
        items = [(one, draft / one.relative_to(source).with_suffix("")) for one in found]
        with closing((executor or InProcess()).map(_export, (kinds, writer), items)) as results:
            for done, loss in enumerate(results, start=1):
                database = found[done - 1]
                if progress:
                    progress(done, len(found), f"{database.name} exported")
                if loss:
                    losses[database] = loss
        names = sorted(one.relative_to(draft) for one in draft.rglob("*") if one.is_file())
    return ExportedEach([folder / name for name in names], losses)


def _export(
    wanted: tuple[Collection[str] | None, str | None], places: tuple[Path, Path]
) -> str | None:
    """Write those of one database into a folder; the loss."""
    return export_database(*places, *wanted).loss


def _loss(recorded: Recorded, writer: str) -> str | None:
    """What today's exporters show of a database, and the files of a writer do not."""
    shown = tables_in_csv_files(recorded, writer)
    has_timelines = writes_timelines(recorded.output, writer)
    if has_timelines:
        shown |= tables_in_timelines(recorded, writer)
    today = tables_in_csv_files(recorded, None) | tables_in_timelines(recorded, None)
    lost = sorted((today - shown).intersection(recorded.tables))
    parts = [] if has_timelines else ["no timeline (its form is not known)"]
    parts += [f"nothing of {', '.join(lost)}"] if lost else []
    return f"as {writer}: {' and '.join(parts)}" if parts else None


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
