"""What keeps a ``visualize_data.bin`` from being read or written."""

from __future__ import annotations


class Unreadable(Exception):
    """Not a block file at all, or one that cannot be opened; the text is one clear line."""


class MalformedPayload(Exception):
    """A payload that is no JSON text. ``offset`` is the byte in the payload that shows it."""

    def __init__(self, offset: int, reason: str) -> None:
        super().__init__(f"byte {offset:,}: {reason}")
        self.offset = offset
        self.reason = reason
