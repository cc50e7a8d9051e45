"""``ascend-ref export``."""

from __future__ import annotations

from pathlib import Path

import click

from ascend_ref.cli.guard import CommandError
from ascend_ref.cli.options import deliverables, output
from ascend_ref.cli.outputs import room_for
from ascend_ref.cli.progress import progress_bar

KINDS = ("csv", "timeline", "documents")


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
    help=f"What to write, of {', '.join(KINDS)} (communication.json and its matrix); repeatable or "
    "separated by commas. By default all that the writer is known for.",
)
@output("DIR")
@click.option(
    "--writer",
    metavar="WRITER",
    help="As this generation of exporters writes (ascend-ref spec list writers); by default the "
    "current one.",
)
def export(
    profile: Path, kinds: tuple[str, ...] | None, output: Path, force: bool, writer: str | None
) -> int:
    """Write the CSV files, timelines and JSON documents of a database.

    DB is a msprof_*.db or ascend_pytorch_profiler_*.db; the analysis.db and the JSON files that lie
    around it are read as well. Of a FOLDER with several databases each is written into a folder of
    its own. Prints the paths of what was written, and a line on what of a database an older WRITER
    does not show.
    """
    from ascend_ref.atomic.folder import staged
    from ascend_ref.db.open import UnreadableDatabase

    from .export import NoDatabase, databases, export_database  # slow: the spec of all files

    try:
        found = databases(profile)
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
    except (NoDatabase, UnreadableDatabase, ValueError) as problem:
        raise CommandError(str(problem)) from None
    for path in written:
        click.echo(str(path))
    for database, loss in losses.items():
        if loss:
            click.echo(f"{database}: {loss}", err=True)
    return 0
