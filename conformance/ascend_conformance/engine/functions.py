"""SQL functions of our own, for what SQLite cannot ask."""

from __future__ import annotations

import apsw


def register(connection: apsw.Connection) -> None:
    """Give the connection our functions; their names carry the prefix that its lock lets pass."""
    connection.create_scalar_function("ascend_is_utf8", _is_utf8, 1, deterministic=True)


def _is_utf8(*contents: apsw.SQLiteValue) -> bool:
    """Whether a BLOB is valid UTF-8. Called only for texts with a character beyond ASCII."""
    (content,) = contents
    if not isinstance(content, bytes):
        return True
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
