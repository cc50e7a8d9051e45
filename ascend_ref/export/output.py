"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path


def write_atomically(path: Path, text: str) -> None:
    """Write UTF-8 text under a temporary name beside ``path`` and rename it into place.

    A link is followed, an existing file keeps its permissions. What is no regular file (a pipe,
    ``/dev/stdout``) is written to directly, for replacing it would destroy it. Raises ``OSError``.
    """
    target = path.resolve() if path.is_symlink() and not _is_special(path) else path
    if _is_special(target):
        target.write_text(text, encoding="utf-8")
        return
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
    temporary = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with temporary.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
        if mode is not None:
            temporary.chmod(mode)
        temporary.replace(target)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror, str(path)) from error  # not the temporary name
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _is_special(path: Path) -> bool:
    return path.exists() and not path.is_file() and not path.is_dir()
