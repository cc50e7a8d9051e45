"""Why a profile cannot be drawn."""

from __future__ import annotations


class CannotDraw(Exception):
    """A profile, a choice in it or this machine has nothing to draw with; the text is one line."""


class NotThere(CannotDraw):
    """The profile has no such rank, device or step; who knows the file names it."""
