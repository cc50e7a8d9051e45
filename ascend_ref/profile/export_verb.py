"""``ascend-ref export``."""

from __future__ import annotations

from pathlib import Path

import click

from ascend_ref.cli.guard import CommandError
from ascend_ref.cli.options import REVISION, deliverables, output
from ascend_ref.cli.outputs import room_for
from ascend_ref.cli.progress import progress_bar
from ascend_spec.db.model import Revision

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
@output("DIR")
@click.option(
    "--writer",
    metavar="WRITER",
    help="As this generation of exporters writes (ascend-ref spec list writers); by default the "
    "current one. Of a database.",
)
@click.option(
    "--revision",
    type=REVISION,
    metavar="REVISION",
    help="Schema of the database that is made of raw files; by default the newest.",
)
@click.option("--raw", "of_raw", is_flag=True, help="Read raw files, even next to a database.")
def export(
    profile: Path,
    kinds: tuple[str, ...] | None,
    output: Path,
    force: bool,
    writer: str | None,
    revision: Revision | None,
    of_raw: bool,
) -> int:
    """Write what exporters make of a database, or of raw files.

    DB is a msprof_*.db or ascend_pytorch_profiler_*.db; the analysis.db and the JSON files that lie
    around it are read as well. Of a FOLDER with several databases each is written into a folder of
    its own. Raw files are those of a PROF_* FOLDER, host/data and device_*/data, or of an
    *_ascend_pt FOLDER, which has FRAMEWORK and profiler_info as well. What of them cannot be read
    is stated on stderr and in incomplete.txt; the rest is written.

    Prints the paths of what was written, and a line on what of a database an older WRITER does not
    show. Exit codes: 0 all written, 1 raw files were damaged, 2 nothing could be written.
    """
    from .export import NoDatabase, databases

    try:
        found = [] if of_raw else databases(profile)
    except NoDatabase as problem:
        if not _has_raw_files(profile):
            raise CommandError(str(problem)) from None
        found = []
    if not found:
        if writer is not None:
            raise click.UsageError("--writer is for databases, this is raw data")
        return _export_raw(profile, kinds, output, revision, force=force)
    _require(kinds, OF_DATABASES, "a database")
    if revision is not None:
        raise click.UsageError("--revision is for raw data, this is a database")
    return _export_databases(profile, found, kinds, output, writer, force=force)


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
    output: Path,
    revision: Revision | None,
    *,
    force: bool,
) -> int:
    from ascend_ref.raw import Unreadable
    from ascend_ref.raw.framework.read import find_profiles

    from .raw import PROFILE_KINDS, RAW_KINDS, export_raw  # slow: the spec of all files

    as_of = None if revision is None else revision.id
    try:
        _require(kinds, PROFILE_KINDS if find_profiles(profile) else RAW_KINDS, "raw files")
        with room_for(output, force=force), progress_bar(profile.name) as progress:
            written, damage = export_raw(profile, output, kinds, as_of, progress)
    except (Unreadable, ValueError) as problem:
        raise CommandError(str(problem)) from None
    for path in written:
        click.echo(str(path))
    for line in damage:
        click.echo(line, err=True)
    return 1 if damage else 0


def _export_databases(
    profile: Path,
    found: list[Path],
    kinds: tuple[str, ...] | None,
    output: Path,
    writer: str | None,
    *,
    force: bool,
) -> int:
    from ascend_ref.atomic.folder import staged
    from ascend_ref.db.open import UnreadableDatabase

    from .export import export_database  # slow: the spec of all files

    try:
        with room_for(output, force=force), progress_bar(profile.name) as progress:
            if len(found) == 1:
                written, loss = export_database(found[0], output, kinds, writer, progress)
                losses = {found[0]: loss}
            else:
                losses = {}
                with staged(output) as draft:
                    for one in found:
                        folder = draft / one.relative_to(profile).with_suffix("")
                        _, losses[one] = export_database(one, folder, kinds, writer, progress)
                    names = sorted(one.relative_to(draft) for one in draft.rglob("*.*"))
                written = [output / name for name in names]
    except (UnreadableDatabase, ValueError) as problem:
        raise CommandError(str(problem)) from None
    for path in written:
        click.echo(str(path))
    for database, loss in losses.items():
        if loss:
            click.echo(f"{database}: {loss}", err=True)
    return 0
