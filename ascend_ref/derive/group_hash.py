"""The hash by which analysis.db and operator names call a communication group."""

from __future__ import annotations

WORD = 1 << 32


def group_hash(name: str) -> str:
    """The 64-bit hash of a group's readable name, as decimal text.

    Two 32-bit accumulators over the character codes, with the multipliers 29 and 131. Source:
    consumers.md 2.1.5, formula of msprof-analyze, confirmed on four rank folders; the last three
    digits stand in names such as ``hcom_allReduce__865_0_1``.
    """
    high = low = 0
    for character in name:
        high = (29 * high + ord(character)) % WORD
        low = (131 * low + ord(character)) % WORD
    return str(high * WORD + low)
