"""What is written never replaces what exists, unless the user says so."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from ascend_ref.atomic import hidden_path


def refuse_existing(path: Path, *, force: bool) -> None:
    """Refuse a file that exists, unless forced; what is no regular file is written to as it is.

    Raises ``click.UsageError``.
    """
    if path.is_file() and not force:
        raise click.UsageError(f"{path} exists already; --force replaces it")


@contextmanager
def room_for(folder: Path, *, force: bool) -> Iterator[None]:
    """Room for a new folder: one that exists is refused, or when forced replaced at the end.

    Until the block has ended without an exception the old folder is kept, and comes back if it
    has not. Raises ``click.UsageError``.
    """
    if not os.path.lexists(folder):
        yield
        return
    if not force:
        raise click.UsageError(f"{folder} exists already; --force replaces it")
    if folder.is_symlink() or not folder.is_dir():
        raise click.UsageError(f"{folder} is no folder; expected a new one")
    if Path.cwd().is_relative_to(folder.resolve()):
        raise click.UsageError(f"{folder} holds the current folder; expected another one")
    aside = hidden_path(folder.resolve(), "old")
    folder.rename(aside)
    try:
        yield
    except BaseException:
        if not folder.exists():
            aside.rename(folder)
        raise
    shutil.rmtree(aside)
