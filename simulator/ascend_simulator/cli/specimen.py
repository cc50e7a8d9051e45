"""``ascend-ref specimen``: write a small, self-consistent profile."""

from __future__ import annotations

from pathlib import Path

import click

from ascend_ref.cli.outputs import room_for
from ascend_spec import catalog
from ascend_spec.db.model import Revision


def _known_revision(_: click.Context, __: click.Parameter, name: str | None) -> Revision:
    if name is None:
        return catalog().revisions[-1]
    try:
        return catalog().revision(name)
    except KeyError as error:
        raise click.BadParameter(str(error.args[0])) from None


@click.command()
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    required=True,
    metavar="DIR",
    help="The folder to write; it appears only when all is written.",
)
@click.option("--force", is_flag=True, help="Replace a folder that exists.")
@click.option(
    "--carrier",
    type=click.Choice(("pytorch", "msprof")),
    default="pytorch",
    show_default=True,
    help="Whose directories to write: one per rank with pytorch, one in all with msprof.",
)
@click.option(
    "--revision",
    callback=_known_revision,
    help="A revision of the schema, or a SCHEMA_VERSION; by default the newest.",
)
@click.option(
    "--ranks",
    type=click.IntRange(1, 64),
    default=2,
    show_default=True,
    help="Size of the communication group; with pytorch also the number of folders.",
)
@click.option(
    "--steps",
    type=click.IntRange(1, 100),
    default=2,
    show_default=True,
    help="Training steps.",
)
@click.option(
    "--operators",
    type=click.IntRange(1, 1000),
    default=6,
    show_default=True,
    help="Compute operators per step.",
)
@click.option(
    "--level",
    type=click.IntRange(0, 2),
    default=2,
    show_default=True,
    help="Profiler level: what is collected of each operator.",
)
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Another number gives other durations and sizes.",
)
def specimen(
    output: Path,
    *,
    force: bool,
    carrier: str,
    revision: Revision,
    ranks: int,
    steps: int,
    operators: int,
    level: int,
    seed: int,
) -> int:
    """Write a small profile with rows in every table, and print the folders that were written.

    The same options always give the same profile.
    """
    from ascend_ref.atomic.folder import staged

    from ..specimen import Shape, write_msprof_folder, write_rank_folder  # slow: numpy, pyarrow

    write = write_rank_folder if carrier == "pytorch" else write_msprof_folder
    with room_for(output, force=force), staged(output) as draft:
        written = [
            write(
                draft,
                revision.id,
                Shape(
                    seed=seed, steps=steps, ranks=ranks, rank=rank, operators=operators, level=level
                ),
            ).relative_to(draft)
            for rank in range(ranks if carrier == "pytorch" else 1)
        ]
    for path in written:
        click.echo(str(output / path))
    return 0
