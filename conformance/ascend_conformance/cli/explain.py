"""``ascend-ref explain``: the page of whatever a report or a file names."""

from __future__ import annotations

import click

from ascend_ref.cli.console import print_page
from ascend_ref.markdown import Style, page
from ascend_ref.tools.spec.subject import Subject
from ascend_ref.tools.spec.verb import Address


@click.command()
@click.argument("subject", metavar="RULE|ADDRESS", type=Address())
def explain(subject: Subject) -> None:
    """Explain a rule (DB401, or its name), or what spec show shows, with the rules about it."""
    from ascend_conformance.media import load_rules  # slow: every format's rules
    from ascend_conformance.pages import demands

    address = subject.address

    def section(style: Style) -> str:
        return page(subject.section(style), demands(load_rules().values(), style).get(address, ""))

    print_page(section)
