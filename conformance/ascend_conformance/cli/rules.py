"""``ascend-ref rules``: list the rules, or try each of them on its own defect."""

from __future__ import annotations

import json
from typing import Any

import click

from ascend_ref.cli.console import print_columns
from ascend_spec import catalog

from ..media import load_rules, media
from ..ruleset import Rule

SPECIMENS = tuple(one for medium in media().values() for one in medium.specimens)
"""What ``--carrier`` chooses from: kinds of databases, and the files of other media."""


@click.command()
@click.option("--self-test", is_flag=True, help="Break clean profiles and see what fires.")
@click.option(
    "--revision",
    "revisions",
    multiple=True,
    metavar="REVISION",
    help="Self-test this revision only; repeatable. By default all of them.",
)
@click.option(
    "--carrier",
    type=click.Choice(SPECIMENS),
    help="Self-test this database only, or the visualize_data.bin, or the text deliverables.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def rules(self_test: bool, revisions: tuple[str, ...], carrier: str | None, as_json: bool) -> int:
    """List the rules; with --self-test prove that each one wakes for its own defect only."""
    if self_test:
        from .selftest import run_and_print

        chosen = tuple(_revision(name) for name in revisions) or None
        specimens = SPECIMENS if carrier is None else (carrier,)
        return run_and_print(chosen, specimens, as_json=as_json)
    found = load_rules().values()
    if as_json:
        click.echo(json.dumps([_row(rule) for rule in found], indent=2))
    else:
        headers = ("rule", "verdict", "name", "finds")
        print_columns(headers, [tuple(_row(rule).values()) for rule in found])
    return 0


def _row(rule: Rule[Any]) -> dict[str, str]:
    return {"rule": rule.id, "verdict": rule.verdict, "name": rule.name, "finds": rule.summary}


def _revision(name: str) -> str:
    try:
        return catalog().revision(name).id
    except KeyError as error:
        raise click.UsageError(str(error.args[0])) from None
