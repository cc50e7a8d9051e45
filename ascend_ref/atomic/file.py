"""Files that appear whole or not at all."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from .hidden import hidden_path


def write_atomically(path: Path, text: str) -> None:
    """Write UTF-8 text as :func:`atomic_file` does. Raises ``OSError``."""
    with atomic_file(path) as file:
        file.write(text.encode())


@contextmanager
def atomic_file(path: Path) -> Iterator[BinaryIO]:
    """A file to fill, which becomes ``path`` when the block ends without an exception.

    Until then it has a temporary name next to it. A link is followed, an existing file keeps its
    permissions. What is no regular file (a pipe, ``/dev/stdout``) is written to directly, for
    replacing it would destroy it. Raises ``OSError``.
    """
    target = path.resolve() if path.is_symlink() and not _is_special(path) else path
    if _is_special(target):
        with target.open("wb") as file:
            yield file
        return
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
    temporary = hidden_path(target)
    try:
        with temporary.open("xb") as file:
            yield file
        if mode is not None:
            temporary.chmod(mode)
        temporary.replace(target)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        if error.filename in (None, str(temporary)):  # never the temporary name
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _is_special(path: Path) -> bool:
    return path.exists() and not path.is_file() and not path.is_dir()
