"""Names of what is not finished: hidden, unguessable, and known again after a run was killed."""

from __future__ import annotations

import re
import secrets
from pathlib import Path
from typing import Literal, TypeAlias

Left: TypeAlias = Literal["partial", "old"]
"""A draft, or what a replacement had put aside."""

_LEFT = re.compile(r"\..+\.[0-9a-f]{8,16}\.(partial|old)", re.DOTALL)
_SHOWN = 50
"""Characters of the name that the hidden one keeps: a name may have 255 bytes."""


def hidden_path(target: Path, kind: Left = "partial") -> Path:
    """A new name next to ``target``, in the same folder, so that a rename is atomic.

    It holds no process id: in containers that share a folder two runs may have the same.
    """
    return target.with_name(f".{target.name[:_SHOWN]}.{secrets.token_hex(8)}.{kind}")


def is_hidden(name: str) -> bool:
    """Whether a file or folder of this name is not searched for profiles."""
    return name.startswith(".")


def left_behind(path: Path) -> Path | None:
    """The outermost draft, or folder put aside, that a path is or stands in, if it does."""
    whole = path.absolute()
    above = (*reversed(whole.parents), whole)
    return next((one for one in above if _LEFT.fullmatch(one.name)), None)
