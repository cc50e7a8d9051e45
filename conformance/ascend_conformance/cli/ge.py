"""``ascend-ref ge``."""

from __future__ import annotations

import click

from ascend_ref.ge.options.verb import explain

from .life_cycle import conform_life_cycle, life_cycle


@click.group()
def ge() -> None:
    """Ask what the graph engine's profiling collects, inserts into graphs and answers to calls."""


for _verb in (explain, conform_life_cycle, life_cycle):
    ge.add_command(_verb)
