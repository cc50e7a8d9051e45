"""``ascend-ref rules``: list the rules, or try each of them on its own defect."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import click

from ascend_ref.cli.console import print_columns, print_rows
from ascend_ref.cli.options import REVISION
from ascend_ref.db.display import first_of
from ascend_spec.db.model import Revision

from ..finding import OF_FILES
from ..media import load_rules, media, medium_of
from ..ruleset import Selection
from .choose import RulePatterns, patterns

if TYPE_CHECKING:
    from ..ruleset import Rule

SPECIMENS = tuple(dict.fromkeys(one for medium in media().values() for one in medium.specimens))
"""What ``--carrier`` chooses from: kinds of databases, and the files of other media."""

API = "api"
"""What ``--carrier`` calls the answers of a server."""


@click.command()
@click.argument("chosen", nargs=-1, metavar="[RULES]...", type=RulePatterns())
@click.option(
    "--verdict",
    type=click.Choice(OF_FILES),
    help="List those with this verdict only.",
)
@click.option(
    "--self-test",
    is_flag=True,
    help="Break clean profiles for all rules, or for the RULES, and see what fires.",
)
@click.option(
    "--revision",
    "revisions",
    multiple=True,
    type=REVISION,
    metavar="REVISION",
    help="Self-test this revision only; repeatable. By default all of them.",
)
@click.option(
    "--carrier",
    type=click.Choice([*SPECIMENS, API]),
    help="List or self-test the rules of this database only, of visualize_data.bin, of the text "
    "deliverables or (a list only) of the API.",
)
@click.option(
    "--relations", is_flag=True, help="List the relations with what shows them in each medium."
)
@click.option(
    "--ledger",
    is_flag=True,
    help="List what each rule, relation and rule of changes is held to: places, break, legal "
    "cases, count and place of what it finds, and in which media; at last the sums.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def rules(
    chosen: tuple[str, ...],
    verdict: str | None,
    self_test: bool,
    revisions: tuple[Revision, ...],
    carrier: str | None,
    relations: bool,
    ledger: bool,
    as_json: bool,
) -> int:
    """List the rules, all or the RULES of these ids, beginnings of ids or names; with --self-test
    prove that each one of them is found for its own defect only: rules DB401 --self-test.
    """
    wanted = Selection(patterns(chosen))
    found = [
        rule
        for rule in load_rules().values()
        if wanted.wants(rule)
        and verdict in (None, rule.verdict)
        and (carrier is None or _is_of(rule, carrier))
    ]
    if self_test:
        from .selftest import run_and_print

        named = [rule.id for rule in found] if chosen or verdict else None
        untried = [rule.id for rule in found if not medium_of(rule).specimens]
        if not found:
            raise click.UsageError("--self-test: --verdict and --carrier leave none of these rules")
        if carrier == API or (named and untried):
            raise click.UsageError(
                f"--self-test does not try {first_of(untried, 5)}; "
                "expected rules for databases, visualize_data.bin or text deliverables"
            )
        at = tuple(one.id for one in revisions) or None
        specimens = SPECIMENS if carrier is None else (carrier,)
        return run_and_print(at, specimens, named, as_json=as_json)
    if revisions:
        raise click.UsageError("--revision is for --self-test")
    if relations:
        return _print_relations(as_json)
    if ledger:
        whole = not (chosen or verdict or carrier)
        return _print_ledger(None if whole else {rule.id for rule in found}, as_json)
    rows = [(rule.id, rule.verdict, rule.name, rule.summary) for rule in found]
    print_rows(("rule", "verdict", "name", "finds"), rows, as_json=as_json)
    return 0


def _is_of(rule: Rule[Any], carrier: str) -> bool:
    """Whether a rule judges what ``--carrier`` names."""
    return carrier == rule.medium or carrier in media()[rule.medium].specimens_of(rule)


def _print_relations(as_json: bool) -> int:
    """Each relation with the media in which it is judged."""
    from ..engine.relations.media import MEDIA, judged_in
    from ..engine.relations.rule import load_relations

    rows: list[tuple[str, ...]] = []
    for relation in load_relations().values():
        places = judged_in(relation)
        shown = (" + ".join(dict.fromkeys(places.get(medium, ()))) for medium in MEDIA)
        rows.append((relation.id, relation.name, *shown))
    print_rows(("rule", "name", *MEDIA), rows, as_json=as_json)
    return 0


def _print_ledger(chosen: Collection[str] | None, as_json: bool) -> int:
    """What the chosen rules, or all with those of changes, are held to; and the sums."""
    from ..ledger import COUNTED, HEADERS, counts, ledger, rows

    listed = [one for one in ledger() if chosen is None or one.id in chosen]
    sums = counts(listed)
    if as_json:
        rules = [one.document() for one in listed]
        click.echo(json.dumps({"counts": sums, "rules": rules}, indent=2))
        return 0
    print_columns(HEADERS, rows(listed))
    click.echo()
    of_each = [(name, *map(str, numbers.values())) for name, numbers in sums.items()]
    print_columns(("of", *COUNTED), of_each)
    return 0
