"""Making foreign text safe to show: one line, no control characters, no endless values."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

CLIP = 80
"""Characters of a foreign value that are shown."""


def printable(text: str) -> str:
    r"""The text on one line: every unprintable character (control, lone surrogate) as an escape."""
    if text.isprintable():
        return text
    return "".join(
        mark if mark.isprintable() else mark.encode("unicode_escape").decode("ascii")
        for mark in text
    )


def clip(text: str, length: int = CLIP) -> str:
    """The text, cut to ``length`` characters with an ellipsis as the last of them."""
    return text if len(text) <= length else text[: length - 1] + "…"


def first_of(names: Sequence[str], most: int) -> str:
    """``a, b and 3 more``: the first names, and how many there are beyond ``most``."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def show_path(path: Path) -> str:
    r"""A file name for messages; bytes that are not UTF-8 appear as ``\xff``."""
    return printable(os.fsencode(path).decode("utf-8", "backslashreplace"))
