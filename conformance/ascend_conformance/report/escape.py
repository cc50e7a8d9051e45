"""Texts and numbers out of a judged file, made harmless for people and for JSON readers.

A profile is untrusted: its names may hold terminal escapes, line breaks, bidirectional overrides,
lone surrogates (SQLite does not check UTF-8) or ten thousand characters.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

from ascend_conformance.finding import Scalar

ELLIPSIS = "..."
JsonObject = dict[str, Any]

LINE_WIDTH = 120
"""Of laid-out JSON."""

# Drawn as nothing, or as nothing but space, although str.isprintable() lets them pass: fillers,
# vowel inherents, variation selectors, the empty Braille cell.
_INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)


def visible(text: str, limit: int) -> str:
    """``text`` on one line of at most ``limit`` (>= 4) characters, all of which can be seen.

    Whatever would not show becomes ``\\n``, ``\\x1b``, ``\\u202e``…; a longer text ends in ``...``.
    """
    head = text[: limit + 1]
    if not _is_seen(head):
        head = "".join(char if _is_seen(char) else _escaped(char) for char in head)
    return head if len(head) <= limit else head[: limit - len(ELLIPSIS)] + ELLIPSIS


def exact(text: str, limit: int) -> str:
    """``text`` as it is, cut to ``limit`` characters; lone surrogates are spelled ``\\udc80``."""
    cut = text if len(text) <= limit else text[: limit - len(ELLIPSIS)] + ELLIPSIS
    return cut.encode("utf-8", "backslashreplace").decode("utf-8")


def scalar_text(value: Scalar, limit: int) -> str:
    """A database value for people: texts in quotes, so that ``"12"`` differs from ``12``."""
    if value is None:
        return "NULL"
    if isinstance(value, str):
        return '"' + visible(value, limit).replace('"', '\\"') + '"'
    return repr(value)


def scalar_json(value: Scalar, limit: int) -> Scalar:
    """A database value for JSON, which has no NaN and no infinities: these become texts."""
    if isinstance(value, str):
        return exact(value, limit)
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def json_text(document: Any, width: int | None = None) -> str:
    """Strict JSON whose characters all show, so that printing it cannot drive a terminal.

    On one line, or laid out in lines of about ``width``: whatever fits into one stays on one.
    """
    text = _compact(document) if width is None else _laid_out(document, width, "")
    lines = text.split("\n")
    return "\n".join(line if _is_seen(line) else _json_escaped(line) for line in lines)


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _laid_out(value: Any, width: int, margin: str) -> str:
    compact = _compact(value)
    if not value or not isinstance(value, (dict, list)) or len(margin + compact) <= width:
        return compact
    inner = f"{margin} "
    if isinstance(value, dict):
        parts = [f"{_compact(key)}: {_laid_out(one, width, inner)}" for key, one in value.items()]
    else:
        parts = [_laid_out(one, width, inner) for one in value]
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    body = f",\n{inner}".join(parts)
    return f"{opening}\n{inner}{body}\n{margin}{closing}"


def _json_escaped(line: str) -> str:
    return line.translate(
        {ord(char): json.dumps(char)[1:-1] for char in set(line) if not _is_seen(char)}
    )


def _is_seen(text: str) -> bool:
    return text.isprintable() and not _INVISIBLE.search(text)


def _escaped(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")
