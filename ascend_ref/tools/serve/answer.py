"""What a command is asked, and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ascend_spec import api_catalog

from .blocks import Blocks
from .timeline import Timeline

Body = dict[str, Any]
Params = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a command could not be carried out; ``code`` is one of the spec's error codes."""

    code: int
    message: str


@dataclass(frozen=True, slots=True)
class Answer:
    """The outcome of a command. A failed one has a body too, with empty values."""

    body: Body
    result: bool = True
    error: Failure | None = None


def failure(name: str, message: str | None = None) -> Failure:
    """The failure of a name in the spec's error codes, with its own text or another."""
    known = api_catalog().errors[name]
    return Failure(known.code, known.message if message is None else message)


@dataclass(frozen=True, slots=True)
class Question:
    """An open file, and what a client wants to know of it.

    ``params`` are the parameters that count, see :mod:`.params`; ``baseline`` is there where it is
    asked for and set. Times of parameters and answers count from ``origin``, the start that
    parse/success stated.
    """

    blocks: Blocks
    params: Params
    baseline: Blocks | None
    read_timeline: Callable[[], Timeline]
    payloads: Sequence[memoryview]
    origin: int

    @property
    def timeline(self) -> Timeline:
        """The timeline of the file, which is read when it is first asked for."""
        return self.read_timeline()
