"""``ascend-ref ge``."""

from __future__ import annotations

import click

from ascend_ref.tools.graph.verb import trace
from ascend_simulator.ge.verb import run


@click.group()
def ge() -> None:
    """Ask what the graph engine's profiling collects, inserts into graphs and answers to calls."""


ge.add_command(trace)
ge.add_command(run)
