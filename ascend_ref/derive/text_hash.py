"""The hash by which records refer to texts.

Two 32-bit numbers roll over the text, with the multipliers 29 and 131; the first is the upper half
of the result. Source: ge-profiling 5.7, confirmed on the six entries of a real dictionary.
"""

from __future__ import annotations

from collections.abc import Iterable

WORD = 1 << 32

NO_TEXT = (1 << 64) - 1
"""What stands for the empty text."""


def text_hash(codes: Iterable[int]) -> int:
    """The hash of a text that is given as numbers."""
    high = low = 0
    for code in codes:
        high = (29 * high + code) % WORD
        low = (131 * low + code) % WORD
    return high * WORD + low


def small_device_hash(codes: Iterable[int]) -> int:
    """The hash as the collector of small devices has it.

    Both numbers have 64 bits, and the second is not cut before the two are joined, so that texts of
    more than four characters of ASCII have other numbers as a rule.
    """
    high = low = 0
    for code in codes:
        high = (29 * high + code) % (WORD * WORD)
        low = (131 * low + code) % (WORD * WORD)
    return high * WORD % (WORD * WORD) | low


def name_id(text: str, *, signed: bool = True, small_device: bool = False) -> int:
    """The number of a text in ``hash_dic``.

    ``signed``: whether bytes from 0x80 on count as negative, as they do on x86-64 and do not on
    aarch64. Texts of ASCII alone have the same number on both. ``small_device``: whether the
    collector of small devices made it (:func:`small_device_hash`).
    """
    data = text.encode()
    codes = memoryview(data).cast("b") if signed else data
    make = small_device_hash if small_device else text_hash
    return make(codes) if data else NO_TEXT
