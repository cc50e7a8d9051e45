"""``ascend-ref diff``: what differs between two of a kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click
from click.shell_completion import CompletionItem

from ascend_ref.cli.guard import CommandError

from ..ruleset import Rule, Selection
from .choose import RulePatterns, patterns
from .reporting import Judging, judged


def change_rules() -> Mapping[str, Rule[Any]]:
    """The rules of changes by id."""
    from ..schema.findings import reported_rules  # slow: msgspec

    return reported_rules()


class StateName(click.ParamType[str]):
    """A state of a spec, by its name, as a draft or as the folder of a working copy."""

    name = "state"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """The states that begin so, and files and folders."""
        from ascend_ref.states import AXES, names_of
        from ascend_spec import current

        known = [name for axis in AXES for name in names_of(current(), axis)]
        found = [CompletionItem(one) for one in known if one.startswith(incomplete)]
        return found or [CompletionItem(incomplete, type="file")]


@click.group(no_args_is_help=False)
def diff() -> None:
    """Show what differs between two states of the formats."""


@diff.command()
@click.argument("old", type=StateName(), metavar="A")
@click.argument("new", type=StateName(), metavar="B")
@judged
@click.option(
    "--select",
    type=RulePatterns(change_rules),
    multiple=True,
    metavar="RULES",
    help="Only these rules of changes: ids, beginnings of ids (CHG1) or names, separated by "
    "commas.",
)
@click.option(
    "--ignore",
    type=RulePatterns(change_rules),
    multiple=True,
    metavar="RULES",
    help="Leave these rules out.",
)
def spec(
    old: str, new: str, judging: Judging, select: tuple[str, ...], ignore: tuple[str, ...]
) -> int:
    """Show what changed from state A of the formats to state B, and whom it breaks.

    A state is a revision of the databases or a day (1.2.0-2026-07, 2026-06-17), a writer of texts
    (cpp-2025, or cpp@2026-06-23 on a day), an epoch of visualize_data.bin (E2), a generation of the
    API (upstream) or of MindSpore's profiler (G3), or a working copy of the spec: DIR, which is its
    newest state, or DIR@STATE. Each change has a rule that names it
    (ascend-ref explain CHG134), and is a violation if it breaks somebody, advice if SCHEMA_VERSION
    admits that, a note if it breaks nobody.

    Exit codes: 0 nothing breaks unannounced, 1 findings at or above --fail-on, 2 no such states.
    """
    from ascend_ref.states import find_state

    from ..schema.findings import report_between

    selection = Selection(patterns(select, change_rules), patterns(ignore, change_rules))
    try:
        report = report_between(find_state(old), find_state(new), selection)
    except ValueError as error:  # SpecError and StateError are
        raise CommandError(str(error)) from error
    return judging.answer(report, change_rules())
