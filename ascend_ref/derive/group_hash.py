"""The hash by which analysis.db and operator names call a communication group."""

from __future__ import annotations

from .text_hash import text_hash


def group_hash(name: str) -> str:
    """The 64-bit hash of a group's readable name, as decimal text.

    It goes over the codes of the characters. Source: consumers.md 2.1.5, formula of msprof-analyze,
    confirmed on four rank folders; the last three digits stand in names such as
    ``hcom_allReduce__865_0_1``.
    """
    return str(text_hash(map(ord, name)))
