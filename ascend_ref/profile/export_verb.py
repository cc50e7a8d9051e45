"""``ascend-ref export``."""

from __future__ import annotations

from pathlib import Path

import click

from ascend_ref.cli.guard import CommandError
from ascend_ref.cli.progress import progress_bar
from ascend_ref.cli.suggest import unknown

KINDS = ("csv", "timeline", "documents")


def _kinds(_: click.Context, __: click.Parameter, texts: tuple[str, ...]) -> tuple[str, ...]:
    names = [name.strip() for text in texts for name in text.split(",") if name.strip()]
    for name in names:
        if name not in KINDS:
            raise click.BadParameter(unknown("kind", name, KINDS))
    if texts and not names:
        raise click.BadParameter(f"names nothing; expected {', '.join(KINDS)}")
    return tuple(kind for kind in KINDS if kind in names) or KINDS


@click.command()
@click.argument("database", metavar="DB", type=click.Path(path_type=Path))
@click.option(
    "--to",
    "kinds",
    multiple=True,
    callback=_kinds,
    metavar="KINDS",
    help=f"What to write, of {', '.join(KINDS)} (communication.json and its matrix); repeatable or "
    "separated by commas. By default all.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    required=True,
    metavar="DIR",
    help="The folder to write; it must not exist, and appears only when all is written.",
)
@click.option(
    "--writer",
    metavar="WRITER",
    help="As this generation of exporters writes (ascend-ref spec list writers); by default the "
    "current one.",
)
def export(database: Path, kinds: tuple[str, ...], output: Path, writer: str | None) -> int:
    """Write the CSV files, timelines and JSON documents of a database.

    DB is a msprof_*.db or ascend_pytorch_profiler_*.db; the analysis.db and the JSON files that lie
    around it are read as well. Prints the paths of what was written.
    """
    from ascend_ref.db.open import UnreadableDatabase

    from .export import export_database  # slow: the spec of all files

    try:
        with progress_bar(database.name) as progress:
            written = export_database(database, output, kinds, writer, progress)
    except FileExistsError:
        raise CommandError(f"{output}: exists already; expected a new folder") from None
    except (UnreadableDatabase, ValueError) as problem:
        raise CommandError(str(problem)) from None
    for path in written:
        click.echo(str(path))
    return 0
