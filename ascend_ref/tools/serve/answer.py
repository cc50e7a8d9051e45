"""What a command is asked, and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ascend_spec import api_catalog
from ascend_spec.api import ErrorCode

from .blocks import Blocks
from .timeline import Timeline

Body = dict[str, Any]
Params = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """The outcome of a command. A failed one has a body too, with empty values."""

    body: Body
    result: bool = True
    error: ErrorCode | None = None


def failure(name: str, message: str | None = None) -> ErrorCode:
    """Why a command could not be carried out: a code of the spec, with its text or another."""
    known = api_catalog().errors[name]
    return known if message is None else replace(known, message=message)


@dataclass(frozen=True, slots=True)
class Question:
    """An open file, and what a client wants to know of it.

    ``params`` are the parameters that count, see :mod:`.schemas`; ``baseline`` is there where it is
    asked for and set; ``timeline`` reads the timeline when it is first asked for. Times of
    parameters and answers count from ``origin``, the start that parse/success stated.
    """

    blocks: Blocks
    params: Params
    baseline: Blocks | None
    timeline: Callable[[], Timeline]
    payloads: Sequence[memoryview]
    origin: int
