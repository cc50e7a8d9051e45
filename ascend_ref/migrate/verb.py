"""``ascend-ref migrate``."""

from __future__ import annotations

import json
from pathlib import Path

import click

from ascend_ref.cli.guard import CommandError
from ascend_ref.cli.options import STAGED, output
from ascend_ref.cli.outputs import room_for
from ascend_ref.cli.progress import progress_bar
from ascend_ref.states import Target
from ascend_ref.states.asked import STATE


@click.command()
@click.argument("profile", type=click.Path(exists=True, path_type=Path), metavar="PROFILE")
@click.option(
    "--to",
    "targets",
    type=STATE,
    multiple=True,
    required=True,
    metavar="REVISION",
    help="What it is to be, older or newer than it is: a revision of the schema for databases "
    "(ascend-ref spec list revisions), or the newest one of a SCHEMA_VERSION; a writer for CSV "
    "files, timelines and JSON documents (ascend-ref spec list writers); an epoch for "
    "visualize_data.bin (ascend-ref spec list epochs). Repeatable, one of each.",
)
@output("DIR", STAGED)
@click.option("--json", "as_json", is_flag=True, help="Print the account as JSON.")
def migrate(
    profile: Path, targets: tuple[Target, ...], output: Path, force: bool, as_json: bool
) -> int:
    """Write PROFILE as one of another revision, writer or epoch, and state what that loses.

    PROFILE is a file or a folder; it is only read. Databases are written again: columns that were
    renamed go on under their other names, types are converted, ids of enums follow the names of
    their members, columns that appear hold what stands for nothing; what only this file has is
    kept. CSV files get the columns, header texts and forms of numbers of their writer, timelines
    its layers, names, arguments and numbers, JSON documents its keys, files of blocks the tables
    and names of their epoch. All other files are copied.

    What was done stands in migration.json next to the profile: each place, how many cells or rows
    it concerns, and how many do not come back. Exit codes: 0 all comes back, 1 something does not,
    or was asked for and copied as it is, 2 not migrated.
    """
    axes = [one.axis for one in targets]
    if len({*axes}) < len(axes):
        twice = next(one for one in axes if axes.count(one) > 1)
        raise click.UsageError(f"--to names two states of one kind ({twice}); expected one")
    from .profile import NotMigrated, migrate_profile  # slow: the spec of all files

    try:
        with room_for(output, force=force), progress_bar(profile.name) as progress:
            account = migrate_profile(profile, targets, output, progress)
    except NotMigrated as problem:
        raise CommandError(str(problem)) from None
    if as_json:
        click.echo(json.dumps(account.document(), indent=2))
    else:
        for line in account.lines():
            click.echo(line)
    return 0 if account.is_whole else 1
