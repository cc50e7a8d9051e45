"""``ascend-ref export``."""

from __future__ import annotations

import json
from contextlib import ExitStack
from importlib.metadata import entry_points
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from ascend_ref.cli.guard import CommandError
from ascend_ref.cli.options import REVISION, STAGED, WORKERS, deliverables, output
from ascend_ref.cli.outputs import room_for
from ascend_ref.cli.progress import progress_bar
from ascend_ref.cli.shell import EXPORTS_FOR
from ascend_ref.execution import open_executor
from ascend_spec.db.model import Revision

if TYPE_CHECKING:
    from .raw import RawExported

OF_DATABASES = ("csv", "timeline", "documents")
KINDS = ("db", "csv", "timeline", "documents")


def _kinds(_: click.Context, __: click.Parameter, texts: tuple[str, ...]) -> tuple[str, ...] | None:
    names = deliverables(texts, KINDS)
    return tuple(kind for kind in KINDS if kind in names) or None


@click.command()
@click.argument("profile", metavar="DB|FOLDER", type=click.Path(path_type=Path))
@click.option(
    "--as",
    "kinds",
    multiple=True,
    callback=_kinds,
    metavar="DELIVERABLES",
    help=f"What to write: of a database {', '.join(OF_DATABASES)} (communication.json and its "
    f"matrix), of raw files {', '.join(KINDS)}, of PROF_* alone no documents; repeatable or "
    "separated by commas. By default all of them that the writer is known for.",
)
@output("DIR", f"{STAGED} With --explain it may be left out; then nothing is kept.", required=False)
@click.option(
    "--writer",
    metavar="WRITER",
    help="As this generation of exporters writes (ascend-ref spec list writers); by default the "
    "current one. Of a database, or of PROF_*.",
)
@click.option(
    "--revision",
    type=REVISION,
    metavar="REVISION",
    help="Schema of the database that is made of raw files; by default the newest.",
)
@click.option(
    "--workers",
    type=WORKERS,
    default=1,
    show_default=True,
    help="Processes that export several profiles or databases; each needs memory of its own.",
)
@click.option("--raw", "of_raw", is_flag=True, help="Read raw files, even next to a database.")
@click.option(
    "--explain",
    "explained",
    is_flag=True,
    help="State why each table, CSV file and layer that raw files can become is there or absent.",
)
@click.option("--json", "as_json", is_flag=True, help="With --explain: print JSON.")
@click.option(
    "--for",
    "reader",
    metavar="READER",
    help="Write what this reader shows right, and state what it still loses: about-tracing, hta, "
    "insight or perfetto, of one version behind @ (who-reads names what they lose of a profile).",
)
def export(
    profile: Path,
    kinds: tuple[str, ...] | None,
    output: Path | None,
    force: bool,
    writer: str | None,
    revision: Revision | None,
    workers: int,
    of_raw: bool,
    explained: bool,
    as_json: bool,
    reader: str | None,
) -> int:
    """Write what exporters make of a database, or of raw files.

    DB is a msprof_*.db or ascend_pytorch_profiler_*.db; the analysis.db and the JSON files that lie
    around it are read as well. Of a FOLDER with several databases each is written into a folder of
    its own. Raw files are those of a PROF_* FOLDER, host/data and device_*/data, or of an
    *_ascend_pt FOLDER, which has FRAMEWORK and profiler_info as well. What of them cannot be read
    is stated on stderr and in incomplete.txt; the rest is written.

    With --explain: the raw files that each thing is made of, whether they were found and how many
    records were read, the switches that collect it, and the products that have it.

    With --for the files of a profile are written again for one reader. Timelines, which are made of
    a database where there are none, count their times from the first second, put slices that
    overlap on lanes of their own, and number arrows, processes and threads as it reads them; for
    insight databases are migrated to the newest schema.

    Prints the paths of what was written, and a line on what of a database an older WRITER does not
    show. Exit codes: 0 all written, 1 raw files were damaged, 2 nothing could be written.
    """
    from .export import NoDatabase, databases

    if as_json and not explained:
        raise click.UsageError("--json is for --explain")
    if output is None and not (explained and reader is None):
        raise click.UsageError("Missing option '-o' / '--output'.")
    if reader is not None and output is not None:
        return _export_for(profile, reader, output, force=force)
    try:
        found = [] if of_raw else databases(profile)
    except NoDatabase as problem:
        if not _has_raw_files(profile):
            raise CommandError(str(problem)) from None
        found = []
    if not found:
        exported = _export_raw(
            profile, kinds, output, writer, revision, workers, force=force, explained=explained
        )
        return _state(exported, explained=explained, as_json=as_json)
    if explained or output is None:
        raise click.UsageError(
            "--explain is for raw data, this is a database; --raw reads raw files next to it"
        )
    _require(kinds, OF_DATABASES, "a database")
    if revision is not None:
        raise click.UsageError("--revision is for raw data, this is a database")
    return _export_databases(profile, found, kinds, output, writer, workers, force=force)


def _export_for(profile: Path, reader: str, output: Path, *, force: bool) -> int:
    """By the package that knows what readers do."""
    context = click.get_current_context()
    mine = {"profile", "reader", "output", "force"}
    others = [one for one in context.params if one not in mine]
    if any(context.get_parameter_source(one) is not ParameterSource.DEFAULT for one in others):
        raise click.UsageError("--for takes no other options than -o and --force")
    if not profile.exists():
        raise CommandError(f"{profile}: no such file or folder; expected a profile")
    (entry,) = entry_points(group=EXPORTS_FOR)
    code: int = entry.load()(profile, reader, output, force=force)
    return code


def _require(kinds: tuple[str, ...] | None, known: tuple[str, ...], what: str) -> None:
    for kind in kinds or ():
        if kind not in known:
            raise click.UsageError(f"{kind} is not made of {what}; expected {', '.join(known)}")


def _has_raw_files(profile: Path) -> bool:
    from ascend_ref.raw import Unreadable, find_folders

    try:
        return bool(find_folders(profile))
    except Unreadable:
        return False


def _export_raw(
    profile: Path,
    kinds: tuple[str, ...] | None,
    output: Path | None,
    writer: str | None,
    revision: Revision | None,
    workers: int,
    *,
    force: bool,
    explained: bool,
) -> RawExported:
    """What is written without a folder for it is not kept."""
    from ascend_ref.raw import Unreadable
    from ascend_ref.raw.framework.read import find_profiles

    from .raw import PROFILE_KINDS, RAW_KINDS, export_raw  # slow: the spec of all files

    as_of = None if revision is None else revision.id
    try:
        is_profile = bool(find_profiles(profile))
        _require(kinds, PROFILE_KINDS if is_profile else RAW_KINDS, "raw files")
        if writer is not None and is_profile:
            raise click.UsageError("--writer is for databases and PROF_*, this is *_ascend_pt")
        with ExitStack() as held:
            folder = output or Path(held.enter_context(TemporaryDirectory()), "exported")
            held.enter_context(room_for(folder, force=force))
            executor = held.enter_context(open_executor(workers))
            progress = held.enter_context(progress_bar(profile.name))
            return export_raw(
                *(profile, folder, kinds, as_of, progress),
                writer=writer,
                explained=explained,
                executor=executor,
            )
    except (Unreadable, ValueError) as problem:
        raise CommandError(str(problem)) from None


def _state(exported: RawExported, *, explained: bool, as_json: bool) -> int:
    """Print the paths, or the accounts in their place, and what was damaged; the exit code."""
    from ascend_ref.explain import as_document, as_text

    if as_json:
        click.echo(json.dumps([as_document(one) for one in exported.accounts], indent=2))
    elif explained:
        for one in exported.accounts:
            for line in as_text(one):
                click.echo(line)
    else:
        for path in exported.files:
            click.echo(str(path))
    for line in exported.damage:
        click.echo(line, err=True)
    return 1 if exported.damage else 0


def _export_databases(
    profile: Path,
    found: list[Path],
    kinds: tuple[str, ...] | None,
    output: Path,
    writer: str | None,
    workers: int,
    *,
    force: bool,
) -> int:
    from ascend_ref.db.open import UnreadableDatabase

    from .export import export_databases  # slow: the spec of all files

    try:
        with (
            room_for(output, force=force),
            open_executor(workers) as executor,
            progress_bar(profile.name) as progress,
        ):
            written, losses = export_databases(
                found, profile, output, kinds, writer, progress, executor
            )
    except (UnreadableDatabase, ValueError) as problem:
        raise CommandError(str(problem)) from None
    for path in written:
        click.echo(str(path))
    for database, loss in losses.items():
        click.echo(f"{database}: {loss}", err=True)
    return 0
