"""Expectations: what must be in a recording, as a document states it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Literal

from ascend_simulator.documents import Problem, ScenarioKind
from ascend_simulator.documents.schema import ScenarioSchema, read_schema

Timed = Literal["kernels", "communication", "host calls", "framework calls"]
"""What can be expected of each step."""
Content = Literal[Timed, "steps", "links", "shapes", "counters", "memory", "samples"]

MOST_RANKS = 100_000


@dataclass(frozen=True)
class Expectation:
    """What must be there. ``ranks``: as in ``0-7, 12``; empty: those that are there.

    ``contents``: of each rank, in any of its files; ``every_step``: in each step of each rank;
    ``steps``: how many of them at least; ``files``: names in the output folder of each rank.
    """

    name: str = "expectation"
    summary: str = ""
    ranks: str = ""
    steps: int = 0
    contents: tuple[Content, ...] = ()
    every_step: tuple[Timed, ...] = ()
    files: tuple[str, ...] = ()

    @property
    def numbers(self) -> tuple[int, ...]:
        """The ranks that must be there."""
        found: set[int] = set()
        for part in filter(None, self.ranks.replace(" ", "").split(",")):
            first, _, last = part.partition("-")
            found.update(range(int(first), int(last or first) + 1))
        return tuple(sorted(found))


def _problems(expectation: Expectation) -> Iterable[Problem]:
    for part in filter(None, expectation.ranks.replace(" ", "").split(",")):
        first, _, last = part.partition("-")
        if int(last or first) < int(first) or int(last or first) >= MOST_RANKS:
            yield ("ranks",), f"has {part}; expected ranks that rise, below {MOST_RANKS:,}"


@cache
def _schema() -> ScenarioSchema:
    return read_schema(__package__, "expectation.schema.yaml", Expectation)


EXPECTATIONS = ScenarioKind(
    Expectation, _schema, __package__, _problems, "expectation", "ascend-ref check --help"
)


def read_expectation(text: str) -> Expectation:
    """A file, where the text has a dot or a slash, else a preset.

    Raises :class:`.ScenarioError`, ``OSError``.
    """
    is_file = "." in text or "/" in text
    return EXPECTATIONS.load(text) if is_file else EXPECTATIONS.preset(text)
