"""``ascend-ref specimen``: write a small, self-consistent profile."""

from __future__ import annotations

from pathlib import Path

import click

from ascend_ref.cli.options import REVISION, number, output
from ascend_ref.cli.outputs import room_for
from ascend_spec import catalog
from ascend_spec.db.model import Carrier, Revision


@click.command()
@output("DIR")
@click.option(
    "--carrier",
    type=click.Choice(("pytorch", "msprof")),
    default="pytorch",
    show_default=True,
    help="Whose directories to write: one per rank with pytorch, one in all with msprof.",
)
@click.option(
    "--revision",
    type=REVISION,
    help="A revision of the schema, or a SCHEMA_VERSION; by default the newest.",
)
@number(
    "--ranks", 1, 64, 2, "Size of the communication group; with pytorch also the number of folders."
)
@number("--steps", 1, 100, 2, "Training steps.")
@number("--operators", 1, 1000, 6, "Compute operators per step.")
@number("--level", 0, 2, 2, "Profiler level: what is collected of each operator.")
@number("--seed", 0, None, 0, "Another number gives other durations and sizes.")
def specimen(
    output: Path,
    *,
    force: bool,
    carrier: Carrier,
    revision: Revision | None,
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

    from ..specimen import Shape, write_specimen  # slow: numpy, pyarrow

    as_of = (revision or catalog().revisions[-1]).id
    shape = Shape(seed=seed, steps=steps, ranks=ranks, operators=operators, level=level)
    with room_for(output, force=force), staged(output) as draft:
        found = write_specimen(draft, as_of, carrier, shape)
        written = [path.relative_to(draft) for path in found]
    for path in written:
        click.echo(str(output / path))
    return 0
