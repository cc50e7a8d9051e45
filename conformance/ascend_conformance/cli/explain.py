"""``ascend-ref explain``: the page of whatever a report or a file names."""

from __future__ import annotations

import click

from ascend_ref.cli.console import print_page
from ascend_ref.tools.spec.subject import Subject
from ascend_ref.tools.spec.verb import Address


@click.command()
@click.argument("subject", metavar="RULE|ADDRESS", type=Address())
def explain(subject: Subject) -> None:
    """Explain a rule (DB401, or its name), or what spec show shows."""
    print_page(subject.section)
