"""``ascend-ref damage``: a copy of a profile with one fault that is known."""

from __future__ import annotations

from pathlib import Path

import click

from ascend_ref.cli.guard import CommandError
from ascend_ref.cli.options import STAGED, output
from ascend_ref.cli.outputs import room_for
from ascend_ref.cli.progress import progress_bar
from ascend_ref.db.display import show_path

from .choose import RulePatterns, rule_of

SHOWN = 5
"""Changes that are printed; truth.json has more."""


@click.command()
@click.argument("profile", type=click.Path(exists=True, path_type=Path), metavar="PROFILE")
@click.argument("rule", type=RulePatterns(), metavar="RULE[@PLACE]")
@output("DIR", STAGED)
def damage(profile: Path, rule: str, output: Path, force: bool) -> int:
    """Copy PROFILE into a new folder with one fault: what RULE is there to find.

    PROFILE is a file or a folder; it is only read. RULE is an id or a name, and PLACE one that
    check shows (DB203@TASK.taskType); without it the first that can be broken. What was done, and
    what check finds of it, stands in truth.json next to the copy.
    """
    name, _, place = rule.partition("@")
    chosen = rule_of(name)
    with room_for(output, force=force):
        from ..damage import NotDamaged
        from ..damage import damage as damage_profile  # slow: the checker
        from ..discover import NothingToCheck

        try:
            with progress_bar("copying") as copied:
                done = damage_profile(profile, chosen, output, place or None, copied)
        except (NotDamaged, NothingToCheck) as problem:
            raise CommandError(str(problem)) from problem
    click.echo(f"{show_path(done.profile)}: {chosen.id} {chosen.name}")
    for change in done.changes[:SHOWN]:
        click.echo(f"  {change.words}")
    if len(done.changes) > SHOWN:
        click.echo(f"  and {len(done.changes) - SHOWN:,} more")
    click.echo(f"what was done is in {show_path(output / 'truth.json')}")
    return 0
