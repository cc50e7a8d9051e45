"""JSON texts with some values changed, and all other bytes as they were."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ascend_ref.json_place import JsonText, Member

INDENT = b" " * 4
"""What a writer that breaks lines puts in front of what is inside."""


class ChangedText(JsonText):
    """A sound JSON text, and how its values are spelled when they are others."""

    def joined(self, at: int, members: Sequence[Member], texts: Sequence[bytes | None]) -> bytes:
        """A container with other texts for its members; ``None`` for one that goes."""
        return self._joined(at, members, [one for one in texts if one is not None])

    def _joined(self, at: int, members: Sequence[Member], texts: Sequence[bytes]) -> bytes:
        content, end = self.content, self.end(at)
        if not members:
            return content[at : at + 1] + b", ".join(texts) + content[end - 1 : end]
        lead = content[at : members[0].start]
        tail = content[members[-1].end : end]
        if not texts:
            return content[at : at + 1] + content[end - 1 : end]
        return lead + self.gap(at, members).join(texts) + tail

    def gap(self, at: int, members: Sequence[Member]) -> bytes:
        """What stands between two members."""
        if len(members) > 1:
            return self.content[members[0].end : members[1].start]
        lead = self.content[at + 1 : members[0].start] if members else b""
        return b"," + (lead or b" ")

    def added(self, at: int, members: Sequence[Member], key: str, value: Any) -> bytes:
        """The text of a further member of an object, spelled as the others are."""
        gap = self.gap(at, members)
        _, broken, indent = gap.rpartition(b"\n")
        text = json.dumps(value, indent=len(INDENT) if broken else None)
        spelled = text.replace("\n", "\n" + indent.decode()) if broken else text
        colon = b": "
        if members:
            first = members[0]
            name = self.content[first.start : self.end(first.start)]
            colon = self.content[first.start + len(name) : first.value]
        return json.dumps(key).encode() + colon + spelled.encode()

    def renamed(self, member: Member, key: str, text: bytes) -> bytes:
        """The text of a member with another key and value."""
        own = self.end(member.start)
        return json.dumps(key).encode() + self.content[own : member.value] + text

    def listed(self, at: int, text: bytes) -> bytes:
        """A list of one value in the place of a value, broken into lines where the object is."""
        line = self.content[self.content.rfind(b"\n", 0, at) + 1 : at]
        indent = line[: len(line) - len(line.lstrip(b" \t"))]
        if not indent or b"{" in line:
            return b"[" + text + b"]"
        return b"[\n" + indent + INDENT + text + b"\n" + indent + b"]"
