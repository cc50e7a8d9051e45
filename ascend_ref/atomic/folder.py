"""A folder that appears complete, or not at all."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .hidden import hidden_path

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Errors of writing, which name no file."""


@contextmanager
def staged(target: Path) -> Iterator[Path]:
    """An empty folder to fill, which becomes ``target`` when the block ends without an exception.

    Until then it has a hidden name next to it, which our readers do not take for a profile; then it
    is gone. Raises ``FileExistsError`` for a target that exists; it is never touched. An
    ``OSError`` names the target, not the hidden folder.
    """
    _require_absent(target)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except FileExistsError as problem:  # a file where a folder should be
        raise NotADirectoryError(
            errno.ENOTDIR, os.strerror(errno.ENOTDIR), problem.filename
        ) from None
    draft = hidden_path(target)
    try:
        draft.mkdir()
        yield draft
        _require_absent(target)
        draft.rename(target)
    except OSError as problem:
        _name_target(problem, draft, target)
        raise
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _require_absent(target: Path) -> None:
    if target.exists() or target.is_symlink():
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target))


def _name_target(problem: OSError, draft: Path, target: Path) -> None:
    named, hidden = problem.filename, str(draft)
    if isinstance(named, str) and named.startswith(hidden):
        problem.filename = f"{target}{named[len(hidden) :]}"
    elif named is None and problem.errno in FULL:
        problem.filename = str(target)
