"""``ascend-ref spec refresh``: the spec against the public sources of exporters and viewers."""

from __future__ import annotations

from pathlib import Path

import click

from ascend_ref.cli.guard import CommandError
from ascend_ref.cli.progress import progress_bar

from ..ruleset import Selection
from .choose import patterns, selecting
from .diff import StateName, change_rules
from .reporting import Judging, judged


@click.command()
@click.argument(
    "checkout", type=click.Path(exists=True, file_okay=False, path_type=Path), metavar="CHECKOUT"
)
@click.option(
    "--at",
    type=StateName(),
    metavar="REVISION|DAY",
    help="The state of the spec that the sources are held against; by default the newest.",
)
@judged
@selecting("rules of changes", "CHG1", change_rules)
def refresh(
    checkout: Path,
    at: str | None,
    judging: Judging,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
) -> int:
    """Show what the spec lacks of the sources in CHECKOUT, or says otherwise.

    CHECKOUT is a working tree of Ascend/msprof, Ascend/pytorch or Ascend/msinsight. Its sources are
    read and never run. Each difference is the change that leads from the spec to the source, named
    by its rule (ascend-ref explain CHG131).

    Exit codes: 0 spec and sources agree, 1 they differ, 2 no such sources.
    """
    from ascend_ref.states import State, find_state
    from ascend_spec import current

    from ..refresh import Unreadable
    from ..refresh.reporting import report_of
    from ..refresh.sources import read_checkout

    selection = Selection(patterns(select, change_rules), patterns(ignore, change_rules))
    try:
        state = State(current(), "the spec") if at is None else find_state(at)
        with progress_bar("reading sources"):
            report = report_of(read_checkout(checkout), state, selection)
    except (Unreadable, ValueError) as error:  # SpecError and StateError are ValueErrors
        raise CommandError(str(error)) from error
    return judging.answer(report, change_rules())
