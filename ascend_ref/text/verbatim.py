"""Cells of CSV text with the quotes around them: some writers' texts bring quotes of their own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

QUOTE = ord('"')
STRUCTURAL = b",\n\r"
SPARE = [byte for byte in range(1, 32) if byte not in b"\t\n\r"]
"""Bytes that stand for others while text is taken apart, where it has none of them."""


class NoSpareByte(ValueError):
    """A text has nearly all control characters."""


def protected(text: bytes) -> tuple[bytes, dict[str, str]]:
    """The text with other bytes for quotes and for what is structural between two of them.

    Also what each of these characters stands for. Raises :class:`NoSpareByte`.
    """
    given = np.frombuffer(text, np.uint8)
    quotes = given == QUOTE
    if not quotes.any():
        return text, {}
    present = set(np.unique(given[given < 32]).tolist())
    spare = [byte for byte in SPARE if byte not in present]
    meant = [QUOTE, *STRUCTURAL]
    if len(spare) < len(meant):
        raise NoSpareByte("text with nearly all control characters; expected few of them")
    inside = np.cumsum(quotes) % 2 == 1
    made = given.copy()
    for byte, stand_in in zip(meant, spare, strict=False):
        made[(given == byte) & (inside | quotes)] = stand_in
    pairs = zip(spare, meant, strict=False)
    return made.tobytes(), {chr(stand_in): chr(byte) for stand_in, byte in pairs}


def restored(columns: Sequence[pa.Array], stand_ins: dict[str, str]) -> list[pa.Array]:
    """The columns with what stood there before."""
    found = list(columns)
    for stand_in, meant in stand_ins.items():
        for place, column in enumerate(found):
            if pc.any(pc.match_substring(column, stand_in)).as_py():
                found[place] = pc.replace_substring(column, stand_in, meant)
    return found
