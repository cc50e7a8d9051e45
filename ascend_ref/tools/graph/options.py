"""Options of what inserts tasks into graphs: which graph, and how."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import click

from ascend_ref.cli.guard import CommandError, one_line
from ascend_ref.cli.options import AnyVerb
from ascend_spec.db.model import Reading
from ascend_spec.ge import ExecutorName

if TYPE_CHECKING:
    from ascend_ref.ge.trace import Asked, Insertion

_OPTIONS: tuple[Callable[[AnyVerb], AnyVerb], ...] = (
    click.argument("graph", required=False, type=click.Path(path_type=Path)),
    click.option(
        "--example", is_flag=True, help="Take a small graph that comes along, not a GRAPH."
    ),
    click.option("--fp-point", default="", metavar="NAME", help="The forward pass begins here."),
    click.option("--bp-point", default="", metavar="NAME", help="The backward pass ends here."),
    click.option(
        "--reading",
        type=click.Choice(get_args(Reading)),
        default="observed",
        show_default=True,
        help="As the graph engine does it, or as the document says; errata state the differences.",
    ),
    click.option(
        "--executor",
        type=click.Choice(get_args(ExecutorName)),
        help="What runs the tasks; by default static, v2 for a graph with unknown shapes.",
    ),
)


def graph_and_points(verb: AnyVerb) -> AnyVerb:
    """A GRAPH or the example, the points, the reading and the executor."""
    for add in reversed(_OPTIONS):
        verb = add(verb)
    return verb


def inserted(graph: Path | None, asked: Asked, *, example: bool) -> Insertion:
    """What is inserted into a graph, or into the example.

    Raises :class:`.CommandError` for what is no graph, and one that the executor does not run.
    """
    from ascend_ref.ge.trace import UnusableGraph, insert
    from ascend_ref.ge.trace.example import graph_of_words

    try:
        return insert(graph_of_words(graph, example=example), asked)
    except (UnusableGraph, ValueError) as problem:
        raise CommandError(one_line(str(problem))) from None
