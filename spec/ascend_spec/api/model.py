"""What the documents of this folder say, as immutable objects: facts, no behaviour.

``since`` is the id of the first generation with the fact, ``None`` where it always stood.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Generation:
    """One state of the API."""

    id: str
    summary: str


@dataclass(frozen=True, slots=True)
class Command:
    """What a client may ask, and where its parameters and the answer's body are described.

    ``params`` and ``body`` name definitions, for :meth:`InsightCatalog.schema`. ``blocks``: the
    block types of the file that the answer is taken from.
    """

    name: str
    module: str
    summary: str
    params: str
    body: str
    blocks: tuple[int, ...]
    since: str | None = None

    @property
    def in_seed(self) -> bool:
        """Whether the documents know the command."""
        return self.since is None


@dataclass(frozen=True, slots=True)
class Event:
    """What a server may report unasked; ``body`` names the definition of its body."""

    name: str
    module: str
    summary: str
    body: str
    since: str | None = None


@dataclass(frozen=True, slots=True)
class ErrorCode:
    """A code of ``response.error`` with the text that our own server sends.

    ``answers``: the commands that are answered with it, as patterns (``unit/*``).
    """

    code: int
    name: str
    message: str
    answers: tuple[str, ...]
    source: tuple[str, ...]
