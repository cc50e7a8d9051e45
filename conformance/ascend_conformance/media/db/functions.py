"""SQL functions of our own, for what SQLite cannot express."""

from __future__ import annotations

import apsw


def register(connection: apsw.Connection) -> None:
    """Give the connection our functions; their names carry the prefix that its lock lets pass."""
    encoding = str(connection.pragma("encoding"))

    def is_valid(*contents: apsw.SQLiteValue) -> bool:
        """Whether a BLOB is valid text. Called only for texts with a character beyond ASCII."""
        (content,) = contents
        if not isinstance(content, bytes):
            return True
        try:
            content.decode(encoding)
        except UnicodeDecodeError:
            return False
        return True

    connection.create_scalar_function("ascend_is_valid", is_valid, 1, deterministic=True)
