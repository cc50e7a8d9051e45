"""What ``ascend-ref export --for`` does."""

from __future__ import annotations

from pathlib import Path

import click

from ascend_ref.cli.guard import CommandError
from ascend_ref.cli.outputs import room_for
from ascend_ref.cli.progress import progress_bar


def export_for(profile: Path, reader: str, output: Path, *, force: bool) -> int:
    """Write a profile for a reader, print the paths, and on stderr what is still lost.

    Exit codes: 0 the reader shows all of it, 1 it does not, or a file was damaged.
    """
    from ascend_ref.db.open import UnreadableDatabase

    from ..consumers.choosing import NoSuchReader
    from ..consumers.fitting.fit import NotFitted, fit
    from ..consumers.showing import lines
    from ..discover import NothingToCheck

    try:
        with room_for(output, force=force), progress_bar(profile.name) as progress:
            fitted = fit(profile, reader, output, progress)
    except (NotFitted, NoSuchReader, NothingToCheck, UnreadableDatabase) as problem:
        raise CommandError(str(problem)) from None
    for path in fitted.files:
        click.echo(str(path))
    for line in fitted.refused:
        click.echo(line, err=True)
    lossy = [answer for answer in fitted.answers if answer.loses]
    for line in lines(lossy, details=False):
        click.echo(line, err=True)
    return 0 if fitted.is_whole else 1
