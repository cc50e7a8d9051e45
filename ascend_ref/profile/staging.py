"""A folder that appears complete, or not at all."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def staged(target: Path) -> Iterator[Path]:
    """An empty folder to fill, which becomes ``target`` when the block ends without an exception.

    Until then it has a hidden name beside it, which no reader takes for a profile; afterwards it is
    gone. Raises ``FileExistsError`` for a target that exists; it is never touched.
    """
    _require_absent(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    # No process id: in containers it is the same again after a run that was killed.
    draft = target.with_name(f".{target.name}.{secrets.token_hex(4)}.partial")
    try:
        draft.mkdir()
        yield draft
        _require_absent(target)
        draft.rename(target)
    finally:
        if draft.exists():
            shutil.rmtree(draft)


def _require_absent(target: Path) -> None:
    if target.exists() or target.is_symlink():
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target))
