"""Raw files of JSON."""

from __future__ import annotations

from collections.abc import Callable
from json import JSONDecodeError
from pathlib import Path
from typing import Any, TypeVar

from ascend_ref.raw.damage import Damage, Damaged
from ascend_ref.raw.json_text import load_json

LARGEST = 1 << 26
"""Bytes of a document; a larger one is damage."""

MOST = 1 << 63
"""No number is as great as this."""

Found = TypeVar("Found")


class Malformed(ValueError):
    """A document is none of its kind; it says what is otherwise, and where."""


def read_document(path: Path, take: Callable[[Any], Found], damage: Damaged) -> Found | None:
    """What is taken from a document; ``None`` where it cannot be, which is stated in ``damage``.

    ``take`` raises ``ValueError``, ``TypeError`` or ``OverflowError`` for what it cannot take.
    """
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
        if len(content) > LARGEST:
            raise Malformed(f"more than {LARGEST:,} bytes")
        return take(load_json(content.decode()))
    except JSONDecodeError as problem:
        text = f"no document of JSON: {problem.msg}"
        damage.append(Damage(path, text, len(problem.doc[: problem.pos].encode())))
    except (ValueError, TypeError, OverflowError, RecursionError) as problem:
        damage.append(Damage(path, f"a document that is otherwise: {problem}"))
    except OSError as error:
        damage.append(Damage(path, error.strerror or str(error)))
    return None


def is_number(value: Any) -> bool:
    """Whether a value is a number of less than 64 bits."""
    is_one = isinstance(value, (int, float)) and not isinstance(value, bool)
    return is_one and abs(value) < MOST
