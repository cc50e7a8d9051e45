"""``ascend-ref ge trace``: the tasks that are inserted into a graph for its training trace."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ascend_ref.cli.guard import CommandError, one_line
from ascend_ref.cli.options import output
from ascend_ref.cli.outputs import refuse_existing
from ascend_ref.cli.progress import progress_bar

from .options import graph_and_points, inserted

if TYPE_CHECKING:
    from ascend_ref.ge.trace import Insertion
    from ascend_ref.ge.trace.insert import Profiling
    from ascend_spec.db.model import Reading
    from ascend_spec.ge import ExecutorName


@click.command()
@graph_and_points
@click.option(
    "--profiling",
    type=click.Choice(["training-trace", "on", "initialised", "off"]),
    default="training-trace",
    show_default=True,
    help="What of the profiling is on while the graph is compiled.",
)
@click.option("--json", "as_json", is_flag=True, help="Print all tasks as JSON.")
@click.option(
    "--plot",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Draw the streams with the inserted tasks: FILE.svg, FILE.png or FILE.pdf.",
)
@output("FILE", "Write all tasks as JSON into FILE.", required=False)
def trace(
    graph: Path | None,
    *,
    example: bool,
    fp_point: str,
    bp_point: str,
    reading: Reading,
    profiling: Profiling,
    executor: ExecutorName | None,
    as_json: bool,
    plot: Path | None,
    output: Path | None,
    force: bool,
) -> None:
    """Show the tasks that are inserted into GRAPH for its training trace.

    GRAPH is JSON (see: ascend-ref spec export ge-schema/graph), a model of ONNX (*.onnx), or a dump
    of the graph engine: ge_proto_*.txt and ge_onnx_*.pbtxt as text, *.pb and *.bin packed. Points
    that are not named are found. What may surprise is stated on stderr.
    """
    from ascend_ref.ge.trace import Asked  # slow: the spec

    for path in filter(None, (output, plot)):
        refuse_existing(path, force=force)
    with progress_bar("ge trace"):
        asked = Asked(fp_point, bp_point, reading, profiling, executor)
        insertion = inserted(graph, asked, example=example)
    _show(insertion, as_json=as_json, output=output, plot=plot)


def _show(insertion: Insertion, *, as_json: bool, output: Path | None, plot: Path | None) -> None:
    import json

    from ascend_ref.atomic import write_atomically
    from ascend_ref.ge.trace.show import document_of, lines_of, remarks

    if as_json or output is not None:
        text = json.dumps(document_of(insertion)) + "\n"
        if output is not None:
            write_atomically(output, text)
        if as_json:
            click.echo(text, nl=False)
    if plot is not None:
        _draw(insertion, plot)
    if not as_json:
        for line in lines_of(insertion):
            click.echo(line)
    for line in remarks(insertion):
        click.echo(one_line(line), err=True)


def _draw(insertion: Insertion, path: Path) -> None:
    from io import BytesIO

    from ascend_ref.atomic import atomic_file

    from ..plot.draw import format_of
    from ..plot.errors import CannotDraw

    try:
        form = format_of(path)
    except CannotDraw as problem:
        raise CommandError(str(problem)) from None
    from .picture import paint  # slow: matplotlib

    sheet = BytesIO()
    paint(insertion, sheet, form)
    with atomic_file(path) as file:
        file.write(sheet.getvalue())
