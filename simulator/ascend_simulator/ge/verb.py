"""``ascend-ref ge run``: execute a graph with the tasks of its training trace."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ascend_ref.cli.guard import CommandError, one_line
from ascend_ref.cli.options import STAGED, number, output
from ascend_ref.cli.outputs import room_for
from ascend_ref.cli.progress import progress_bar
from ascend_ref.tools.graph.options import graph_and_points, inserted

if TYPE_CHECKING:
    from ascend_spec.db.model import Reading
    from ascend_spec.ge import ExecutorName

MOST_ITERATIONS = 100_000


@click.command("run")
@graph_and_points
@number("--iterations", 1, MOST_ITERATIONS, 5, "How many iterations the device runs.")
@number("--seed", 0, None, 0, "Chooses how long tasks last.")
@click.option(
    "--product", default="A2", show_default=True, metavar="PRODUCT", help="Whose device runs it."
)
@output("DIR", STAGED)
def run(
    graph: Path | None,
    *,
    example: bool,
    fp_point: str,
    bp_point: str,
    reading: Reading,
    executor: ExecutorName | None,
    iterations: int,
    seed: int,
    product: str,
    output: Path,
    force: bool,
) -> None:
    """Execute GRAPH with its inserted tasks on a simulated device; write its raw files into DIR.

    GRAPH as for ascend-ref ge trace. What of the points the device notes lies in ts_track, of which
    ascend-ref export makes the step trace. The same graph and seed give the same bytes.
    """
    from ascend_ref.cli.suggest import unknown
    from ascend_ref.ge.trace import Asked  # slow: the spec

    from .record import PRODUCTS, write_run

    if product not in PRODUCTS:
        raise click.UsageError(unknown("product", product, PRODUCTS))
    with room_for(output, force=force), progress_bar("ge run"):
        asked = Asked(fp_point, bp_point, reading, executor=executor)
        insertion = inserted(graph, asked, example=example)
        try:
            written = write_run(insertion, output, iterations, seed, product)
        except ValueError as problem:
            raise CommandError(one_line(str(problem))) from None
    click.echo(str(written))
