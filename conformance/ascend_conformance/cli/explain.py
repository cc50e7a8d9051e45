"""``ascend-ref explain``: the page of a rule, table, column, enum or erratum."""

from __future__ import annotations

import click

from ascend_ref.cli.console import print_page
from ascend_ref.cli.suggest import unknown
from ascend_ref.tools.spec.lookup import find, names
from ascend_spec import catalog

from ..pages import rule_page
from ..ruleset import Rule, load_rules


@click.command()
@click.argument("name", metavar="RULE|TABLE[.COLUMN]|ENUM|ERRATUM")
def explain(name: str) -> None:
    """Explain a rule, a table, a column, an enum or an erratum."""
    facts = catalog()
    rule = _rule(name)
    if rule is not None:
        print_page(lambda style: rule_page(facts, rule, style))
        return
    render = find(facts, name)
    if render is None:
        rules = [text for rule in load_rules().values() for text in (rule.id, rule.name)]
        raise click.UsageError(unknown("name", name, [*rules, *names(facts)]))
    print_page(render)


def _rule(name: str) -> Rule | None:
    wanted = name.casefold()
    return next(
        (rule for rule in load_rules().values() if wanted in (rule.id.casefold(), rule.name)), None
    )
