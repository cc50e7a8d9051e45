"""``ascend-ref export``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ascend_ref.cli.guard import CommandError
from ascend_ref.cli.options import REVISION, STAGED, deliverables, output
from ascend_ref.cli.outputs import room_for
from ascend_ref.cli.progress import progress_bar
from ascend_spec.db.model import Revision

if TYPE_CHECKING:
    from ascend_ref.explain import Account

    from .raw import RawExported

OF_DATABASES = ("csv", "timeline", "documents")
OF_RAW = ("db", "csv", "timeline")
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
    f"matrix), of raw files {', '.join(OF_RAW)}; repeatable or separated by commas. By default all "
    "of them that the writer is known for.",
)
@output("DIR", f"{STAGED} With --explain it may be left out; then nothing is kept.", required=False)
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
@click.option(
    "--explain",
    "explained",
    is_flag=True,
    help="State why each table, CSV file and layer that raw files can become is there or absent.",
)
@click.option("--json", "as_json", is_flag=True, help="With --explain: print JSON.")
def export(
    profile: Path,
    kinds: tuple[str, ...] | None,
    output: Path | None,
    force: bool,
    writer: str | None,
    revision: Revision | None,
    of_raw: bool,
    explained: bool,
    as_json: bool,
) -> int:
    """Write what exporters make of a database, or of raw files.

    DB is a msprof_*.db or ascend_pytorch_profiler_*.db; the analysis.db and the JSON files that lie
    around it are read as well. Of a FOLDER with several databases each is written into a folder of
    its own. Raw files are those of a PROF_* FOLDER, host/data and device_*/data. What of them
    cannot be read is stated on stderr and in incomplete.txt; the rest is written.

    With --explain: the raw files that each thing is made of, whether they were found and how many
    records were read, the switches that collect it, and the products that have it.

    Prints the paths of what was written, and a line on what of a database an older WRITER does not
    show. Exit codes: 0 all written, 1 raw files were damaged, 2 nothing could be written.
    """
    from .export import NoDatabase, databases

    if as_json and not explained:
        raise click.UsageError("--json is for --explain")
    if output is None and not explained:
        raise click.UsageError("Missing option '-o' / '--output'.")
    try:
        found = [] if of_raw else databases(profile)
    except NoDatabase as problem:
        if not _has_raw_files(profile):
            raise CommandError(str(problem)) from None
        found = []
    if not found:
        _require(kinds, OF_RAW, "raw files")
        if writer is not None:
            raise click.UsageError("--writer is for databases, this is raw data")
        if explained:
            return _explain_raw(profile, kinds, output, revision, force=force, as_json=as_json)
        assert output is not None  # noqa: S101 - see above
        return _export_raw(profile, kinds, output, revision, force=force)
    if explained or output is None:
        raise click.UsageError("--explain is for raw data, this is a database")
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
        return any(one.side != "framework" for one in find_folders(profile))
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
    exported = _exported(profile, kinds, output, revision, force=force)
    for path in exported.files:
        click.echo(str(path))
    for line in exported.damage:
        click.echo(line, err=True)
    return 1 if exported.damage else 0


def _exported(
    profile: Path,
    kinds: tuple[str, ...] | None,
    output: Path,
    revision: Revision | None,
    *,
    force: bool,
    explained: bool = False,
) -> RawExported:
    from ascend_ref.raw import Unreadable

    from .raw import export_raw  # slow: the spec of all files

    as_of = None if revision is None else revision.id
    try:
        with room_for(output, force=force), progress_bar(profile.name) as progress:
            return export_raw(profile, output, kinds, as_of, progress, explained=explained)
    except (Unreadable, ValueError) as problem:
        raise CommandError(str(problem)) from None


def _explain_raw(
    profile: Path,
    kinds: tuple[str, ...] | None,
    output: Path | None,
    revision: Revision | None,
    *,
    force: bool,
    as_json: bool,
) -> int:
    """Export, state the accounts, and keep what was written only where a folder was named."""
    from tempfile import TemporaryDirectory

    if output is None:
        with TemporaryDirectory(prefix="ascend-ref-export-") as place:
            folder = Path(place) / "exported"
            exported = _exported(profile, kinds, folder, revision, force=force, explained=True)
    else:
        exported = _exported(profile, kinds, output, revision, force=force, explained=True)
    _state_accounts(exported.accounts, as_json=as_json)
    for line in exported.damage:
        click.echo(line, err=True)
    return 1 if exported.damage else 0


def _state_accounts(accounts: Sequence[Account], *, as_json: bool) -> None:
    from ascend_ref.explain import as_document, as_text

    if as_json:
        click.echo(json.dumps([as_document(one) for one in accounts], indent=2))
        return
    for one in accounts:
        for line in as_text(one):
            click.echo(line)


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
