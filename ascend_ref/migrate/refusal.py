"""What a file is not migrated for."""

from __future__ import annotations


class Refusal(Exception):
    """A file cannot be one of the target; the text is the reason, without its name."""
