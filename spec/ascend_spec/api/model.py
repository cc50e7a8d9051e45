"""What the documents of this folder say, as immutable objects: facts, no behaviour.

``since`` is the id of the first generation with the fact, ``None`` where it was always there.
"""

from __future__ import annotations

from dataclasses import dataclass

from ascend_spec.core import Bounds, Grade


@dataclass(frozen=True, slots=True)
class Generation:
    """One state of the API."""

    id: str
    summary: str


@dataclass(frozen=True, slots=True)
class Command(Bounds):
    """What a client may ask, and where its parameters and the answer's body are described.

    ``params`` and ``body`` name definitions, for :meth:`ApiCatalog.schema`. ``blocks``: the
    block types of the file that the answer is taken from.
    """

    name: str
    module: str
    summary: str
    params: str
    body: str
    blocks: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Event(Bounds):
    """What a server may report unasked; ``body`` names the definition of its body."""

    name: str
    module: str
    summary: str
    body: str


@dataclass(frozen=True, slots=True)
class ErrorCode:
    """A code of ``response.error`` with the text that our own server sends.

    ``answers``: the commands that are answered with it, as patterns (``unit/*``).
    """

    code: int
    name: str
    message: str
    answers: tuple[str, ...]
    grade: Grade
    source: tuple[str, ...]
