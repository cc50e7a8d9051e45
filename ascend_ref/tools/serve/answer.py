"""What a command answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ascend_spec import api_catalog

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
