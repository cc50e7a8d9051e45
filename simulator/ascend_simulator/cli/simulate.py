"""Placeholder during development."""

import click


@click.command()
def simulate() -> None:
    """Simulate."""
