"""One of several: the one asked for, or the first."""

from __future__ import annotations

from collections.abc import Sequence

from ascend_ref.derive.steps import StepRange

from .errors import NotThere

LISTED = 20


def chosen(what: str, wanted: int | None, known: Sequence[int]) -> int | None:
    """``wanted``, or the first of the known ones; ``None`` where none is known.

    Raises :class:`NotThere` naming the known ones.
    """
    if wanted is None:
        return known[0] if known else None
    if wanted not in known:
        raise NotThere(f"no {what} {wanted}; {_expected(what, known)}")
    return wanted


def chosen_step(wanted: int | None, steps: Sequence[StepRange]) -> StepRange:
    """The step of this number, or the first one. Raises :class:`NotThere` naming the steps."""
    known = [step.number for step in steps if step.number is not None]
    number = chosen("step", wanted, known)
    return next(step for step in steps if step.number == number)


def _expected(what: str, known: Sequence[int]) -> str:
    if not known:
        return f"it does not tell any {what}"
    shown = ", ".join(map(str, known[:LISTED]))
    more = f" and {len(known) - LISTED} more" if len(known) > LISTED else ""
    return f"expected {'' if len(known) == 1 else 'one of '}{shown}{more}"
