"""JSON pointers (RFC 6901): tokens and their escapes.

A *place* is a pointer in which ``*`` stands for every index of a list and every key of a map:
``/core_memory_map/*/soc``. The document itself is the empty text.
"""

from __future__ import annotations

from collections.abc import Iterable

ANY = "*"


def escaped(key: str) -> str:
    """A key as a token of a pointer."""
    return key.replace("~", "~0").replace("/", "~1")


def unescaped(token: str) -> str:
    """The key that a token of a pointer names."""
    return token.replace("~1", "/").replace("~0", "~")


def pointer_of(keys: Iterable[str | int]) -> str:
    """The pointer that these keys and indices make."""
    return "".join(f"/{key}" if isinstance(key, int) else f"/{escaped(key)}" for key in keys)


def keys_of(pointer: str) -> list[str]:
    """The keys that a pointer is made of; an index is a key of digits."""
    return [unescaped(token) for token in pointer.split("/")[1:]]


def place_of(keys: Iterable[str | int]) -> str:
    """The place of the value that these keys and indices lead to."""
    return "".join(f"/{ANY}" if isinstance(key, int) else f"/{escaped(key)}" for key in keys)
