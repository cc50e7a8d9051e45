"""Why a profile cannot be drawn, and the choice of one of several things in it."""

from __future__ import annotations

from collections.abc import Sequence

from ascend_ref.db.display import first_of

LISTED = 20


class CannotDraw(Exception):
    """A profile, a choice in it or this machine has nothing to draw with; the text is one line."""


class NotThere(CannotDraw):
    """The profile has no such rank, device or step; who knows the file names it."""


def chosen(what: str, wanted: int | None, known: Sequence[int]) -> int | None:
    """``wanted``, or the first of the known ones; ``None`` where none is known.

    Raises :class:`NotThere` naming the known ones.
    """
    if wanted is None:
        return known[0] if known else None
    if wanted in known:
        return wanted
    if not known:
        raise NotThere(f"no {what} {wanted}; it does not state any {what}")
    shown = first_of(list(map(str, known)), LISTED)
    expected = f"{'' if len(known) == 1 else 'one of '}{shown}"
    raise NotThere(f"no {what} {wanted}; expected {expected}")
