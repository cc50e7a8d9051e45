"""``ascend-ref shrink``: the smallest profile that still shows a finding."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ascend_ref.cli.guard import CommandError
from ascend_ref.cli.options import STAGED, number, output
from ascend_ref.cli.outputs import room_for
from ascend_ref.cli.progress import progress_bar
from ascend_ref.db.display import show_path

from .choose import RulePatterns, rule_of

MAX_CHECKS = 400
"""Copies that are judged by default; each takes as long as a check of a small profile."""

if TYPE_CHECKING:
    from ..reduction.shrink import Shrunk
    from ..reduction.sought import Sought


@click.command()
@click.argument("profile", type=click.Path(exists=True, path_type=Path), metavar="PROFILE")
@click.option(
    "--rule",
    type=RulePatterns(),
    metavar="RULE[@PLACE]",
    help="It must break this rule, an id or a name, at a place where PROFILE does, or at the given "
    "one of them, and no rule that PROFILE does not break.",
)
@click.option(
    "--command",
    metavar="CMD",
    help="It must make this command end with exit code 0, which runs without a shell; {} in it is "
    "the path of a copy, which else is its last argument.",
)
@number(
    "--max-checks",
    1,
    1_000_000,
    MAX_CHECKS,
    "Copies to judge; then the smallest so far is written.",
)
@output("DIR", STAGED)
def shrink(
    profile: Path,
    rule: str | None,
    command: str | None,
    max_checks: int,
    output: Path,
    force: bool,
) -> int:
    """Write the smallest profile that still shows what PROFILE does.

    PROFILE is a file or a folder; it is only read. Files, tables, rows of databases and CSV files,
    and events of timelines are left out as long as --rule finds the same, or --command ends with
    exit code 0.
    """
    if (rule is None) == (command is None):
        raise click.UsageError("expected either --rule or --command")
    from ..discover import NothingToCheck
    from ..reduction.shrink import NotShown
    from ..reduction.shrink import shrink as shrink_profile  # slow: the checker

    sought, shown = _sought(rule, command)
    with room_for(output, force=force):
        try:
            with progress_bar("shrinking") as advance:
                done = shrink_profile(profile, sought, output, advance, max_checks)
        except (NotShown, NothingToCheck) as problem:
            raise CommandError(str(problem)) from problem
    _print(done, shown)
    return 0


def _sought(rule: str | None, command: str | None) -> tuple[Sought, str]:
    """What is looked for, and words on a profile that shows it."""
    from ..reduction.sought import ByCommand, ByRule

    if command is not None:
        try:
            return ByCommand(command), "the command still ends with exit code 0"
        except ValueError as problem:  # a quote that is not closed
            raise click.UsageError(f"--command: {problem}: {command}") from problem
    name, _, place = (rule or "").partition("@")
    found = rule_of(name)
    return ByRule(found, place or None), f"{found.id} still shown"


def _print(done: Shrunk, shown: str) -> None:
    (rows, left), (files, kept) = done.rows, done.files
    metadata = f", {done.metadata:,} of them texts and metadata" if done.metadata else ""
    click.echo(
        f"{rows:,} → {left:,} rows{metadata}, {files:,} → {kept:,} files; {shown}; "
        f"{done.checks:,} checks"
    )
    for file, parts in done.parts.items():
        counts = ", ".join(f"{name} {count:,}" for name, count in parts.items())
        named = show_path(done.profile / file)
        click.echo(f"  {named}: {counts}" if counts else f"  {named}")
    if done.is_stopped:
        click.echo(f"not the smallest: --max-checks {10 * done.checks} looks further")
    if done.others:
        end = "" if done.is_stopped else ", as the profile does"
        click.echo(f"it breaks {', '.join(done.others)} as well{end}")
