"""``ascend-ref ge``."""

from __future__ import annotations

import click

from ascend_ref.tools.graph.verb import trace
from ascend_ref.tools.profiling_options.verb import explain
from ascend_simulator.ge.verb import run

from .life_cycle import conform_life_cycle, life_cycle


@click.group()
def ge() -> None:
    """Ask what the graph engine's profiling collects, inserts into graphs and answers to calls."""


for _verb in (explain, trace, run, conform_life_cycle, life_cycle):
    ge.add_command(_verb)
