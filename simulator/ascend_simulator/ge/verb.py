"""``ascend-ref ge run``: execute a graph with the tasks of its training trace."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ascend_ref.cli.guard import CommandError, one_line
from ascend_ref.cli.options import STAGED, number, output
from ascend_ref.cli.outputs import room_for
from ascend_ref.cli.progress import progress_bar

if TYPE_CHECKING:
    from ascend_spec.db.model import Reading
    from ascend_spec.ge import ExecutorName

MOST_ITERATIONS = 100_000


@click.command("run")
@click.argument("graph", required=False, type=click.Path(path_type=Path))
@click.option("--example", is_flag=True, help="Take a small graph that comes along, not a GRAPH.")
@click.option("--fp-point", default="", metavar="NAME", help="The forward pass begins here.")
@click.option("--bp-point", default="", metavar="NAME", help="The backward pass ends here.")
@click.option(
    "--reading",
    type=click.Choice(["observed", "documented"]),
    default="observed",
    show_default=True,
    help="As the graph engine inserts tasks, or as the document says.",
)
@click.option(
    "--executor",
    type=click.Choice(["static", "queues", "hybrid", "v2"]),
    help="What runs the tasks; by default static, v2 for a graph with unknown shapes.",
)
@number("--iterations", 1, MOST_ITERATIONS, 5, "So often the graph runs.")
@number("--seed", 0, None, 0, "Chooses how long tasks last.")
@click.option("--product", default="A2", show_default=True, metavar="PRODUCT", help="On this one.")
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
    from ascend_ref.ge.trace import Asked, UnusableGraph, insert  # slow: the spec
    from ascend_ref.ge.trace.example import graph_of_words

    from .record import PRODUCTS, write_run

    if product not in PRODUCTS:
        raise click.UsageError(unknown("product", product, PRODUCTS))
    try:
        with room_for(output, force=force), progress_bar("ge run"):
            found = graph_of_words(graph, example=example)
            insertion = insert(found, Asked(fp_point, bp_point, reading, executor=executor))
            written = write_run(insertion, output, iterations, seed, product)
    except (UnusableGraph, ValueError) as problem:
        raise CommandError(one_line(str(problem))) from None
    click.echo(str(written))
