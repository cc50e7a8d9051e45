"""Side files of JSON: their values, and how a text spells them.

Collectors write a document in one line without blanks or a line end (raw-prof 3); files that came
another way may have both. What of a text its value does not hold is kept apart, so that the same
bytes are written again, also where a value was changed in between.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+')
_SIGNS = frozenset("{}[]:,")


@dataclass(frozen=True, slots=True)
class Spelling:
    """How a text spells a value: its signs, texts and numbers, and the blanks around them.

    ``blanks``: what stands in front of each token, and behind the last one.
    """

    tokens: tuple[str, ...]
    blanks: tuple[str, ...]


def load_json(content: bytes | str) -> Any:
    """The value of a JSON text.

    Raises ``ValueError`` for what is none, for numbers that no float holds and halves of
    characters; ``RecursionError`` for one that is too deep.
    """
    found = json.loads(content, parse_constant=_refuse, parse_float=_finite)
    _dump(found).encode()  # half a character is no text
    return found


def decode_json(content: bytes) -> tuple[Any, Spelling]:
    """The value of a JSON text of UTF-8, and what :func:`encode_json` needs for the same bytes.

    Raises as :func:`load_json`; ``ValueError`` also for a key that comes twice in an object, of
    which a value holds one alone.
    """
    text = content.decode()
    value = load_json(text)
    json.loads(text, object_pairs_hook=_distinct)
    found = list(_TOKEN.finditer(text))
    ends = [0, *(one.end() for one in found)]
    starts = [*(one.start() for one in found), len(text)]
    blanks = tuple(text[end:start] for end, start in zip(ends, starts, strict=True))
    return value, Spelling(tuple(one[0] for one in found), blanks)


def encode_json(value: Any, spelling: Spelling | None = None) -> bytes:
    """A JSON text as collectors write it, or spelled as another one of the same shape was.

    Raises ``ValueError`` where the value has other members than that text.
    """
    text = _dump(value)
    if spelling is None:
        return text.encode()
    tokens = _TOKEN.findall(text)
    if list(map(_sign, tokens)) != list(map(_sign, spelling.tokens)):
        raise ValueError("the value has other members than the text whose spelling it is to have")
    spelled = map(_spelled, tokens, spelling.tokens)
    pairs = zip(spelling.blanks, (*spelled, ""), strict=True)
    return "".join(blank + token for blank, token in pairs).encode()


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _sign(token: str) -> str:
    return token if token in _SIGNS else ""


def _spelled(token: str, known: str) -> str:
    """The known spelling where it is one of the same value; 1 is none of 1.0."""
    if token == known or repr(json.loads(token)) != repr(json.loads(known)):
        return token
    return known


def _distinct(pairs: Sequence[tuple[str, Any]]) -> None:
    keys = [key for key, _ in pairs]
    if len(keys) > len(set(keys)):
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {twice!r} comes twice")


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no number of JSON")


def _finite(text: str) -> float:
    found = float(text)
    if math.isinf(found):
        raise ValueError(f"{text} is too large")
    return found
