"""Names and texts as SQL."""

from __future__ import annotations


def quoted(name: str) -> str:
    """An identifier; whatever stands in a file's header may be one."""
    return '"' + name.replace('"', '""') + '"'


def text_literal(text: str) -> str:
    """A text as SQL."""
    return "'" + text.replace("'", "''") + "'"
