"""A text of options, where a word may be it or the name of its file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ascend_ref.cli.guard import CommandError

if TYPE_CHECKING:
    from .check import Problem

MOST_BYTES = 16 << 20
"""Of a file of options; the graph engine keeps 2,047."""
MOST_PROBLEMS = 3
LONGEST_NAME = 60
"""Of what a message repeats of a word that is no name."""


def read_options(word: str) -> str:
    """A text that begins as JSON does, or what the file of this name holds.

    Bytes that are no UTF-8 are as Python has them in names (surrogateescape). Raises ``OSError``,
    :class:`.CommandError` for a file of more than MOST_BYTES.
    """
    if not word.strip() or word.lstrip()[:1] in '{["':
        return word
    try:
        with Path(word).open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except ValueError:  # a NUL, or half of a surrogate pair
        raise CommandError(
            f"{word[:LONGEST_NAME]!a}: is no name of a file; expected options in JSON or a file"
        ) from None
    if len(content) > MOST_BYTES:
        raise CommandError(
            f"{word}: has more than {MOST_BYTES >> 20} MiB; expected options in JSON"
        )
    return content.decode("utf-8", "surrogateescape")


def refusal(problems: Sequence[Problem]) -> str:
    """Why options are refused, in one line: the first reasons, and how many others there are."""
    shown = "; ".join(map(str, problems[:MOST_PROBLEMS]))
    more = len(problems) - MOST_PROBLEMS
    return f"{shown}; and {more} more" if more > 0 else shown
