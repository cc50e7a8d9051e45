"""What MindSpore's viewer can be asked over HTTP: requests, their arguments, answers, refusals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ascend_spec.core import DAYS, Bounds, Grade

PREFIX = "/v1/mindinsight/"
"""What the paths of all requests begin with."""

LAST_VIEWED = "G3m"
"""The last generation whose files the viewer reads."""

CONDITIONS = ("filter_condition", "sort_condition", "group_condition")
"""Keys of the condition of a query."""

OPERATORS = ("in", "not_in", "partial_match_str_in")
"""How the cells of a column are compared with values."""

SORTS = ("ascending", "descending")
MOST_ROWS = 100
"""Of a page."""

MOST_PAGES = 1_000_000
"""The largest number of a page, the first being 0."""

DEVICE_TEXT = "[0-9]{1,9}"
DEVICES_TEXT = f"{DEVICE_TEXT}(,{DEVICE_TEXT})*"
NUMBER_TEXT = "[0-9]{1,18}"
NUMBERS_TEXT = f"{NUMBER_TEXT}(,{NUMBER_TEXT})*"
"""How devices and whole numbers, one and several of them, are written where they are text."""

FLAGS = {"true": True, "false": False}
"""How what is so or not is written where it is text."""

Verb = Literal["GET", "POST"]
ArgumentPlace = Literal["query", "body"]
ArgumentForm = Literal[
    "folder",
    "device",
    "devices",
    "number",
    "numbers",
    "flag",
    "word",
    "analyser",
    "filter",
    "sort",
    "page",
]
"""``folder``: a path below the served folder; ``device``: its number, as text; ``devices``: some
with commas between them; ``number``: whole, from 0 on; ``numbers``: some, as devices; ``flag``:
true or false; ``analyser``: the name of one whose answers
have rows; the others are conditions of a query.
"""


@dataclass(frozen=True, slots=True)
class Argument(Bounds):
    """One argument of a request. ``refusal``: how it is refused where it is missing or wrong.

    ``words``: all values of a word. ``otherwise``: what holds without it.
    """

    name: str
    place: ArgumentPlace
    form: ArgumentForm
    summary: str
    needed: bool = False
    words: tuple[str, ...] = ()
    otherwise: Any = None
    refusal: str = "parameter-value"


@dataclass(frozen=True, slots=True)
class Refusal:
    """One way in which requests are refused.

    ``code``: ``error_code`` of the body; ``status``: that of HTTP; ``message``: how ``error_msg``
    begins.
    """

    refusal: str
    code: str
    status: int
    message: str
    source: tuple[str, ...]
    grade: Grade


@dataclass(frozen=True, slots=True)
class DatedVerb(Bounds):
    """The method of a request in some days."""

    verb: Verb


@dataclass(frozen=True, slots=True)
class Request(Bounds):
    """One request.

    ``request``: its path below :data:`PREFIX`. ``analysers``: those that answer it. ``switches``:
    of the first of these, as the request sets them; an argument with the name of a switch is that
    switch. ``proposers``: those whose proposals it has, in order. ``body``: the definition of that
    of its answer, empty where it is not described. ``refusals``: beyond those that every request
    has. ``reason``: why it is not answered.
    """

    request: str
    methods: tuple[DatedVerb, ...]
    summary: str
    source: tuple[str, ...]
    grade: Grade
    body: str = ""
    arguments: tuple[Argument, ...] = ()
    analysers: tuple[str, ...] = ()
    switches: Mapping[str, Any] = field(default_factory=dict)
    proposers: tuple[str, ...] = ()
    refusals: tuple[str, ...] = ()
    note: str | None = None
    reason: str | None = None
    errata: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        """The path of its URL."""
        return f"{PREFIX}{self.request}"

    @property
    def is_answered(self) -> bool:
        """Whether there is more to say about it than a reason."""
        return self.reason is None

    def method_on(self, day: str) -> Verb | None:
        """Its method on a day; ``None`` where there is no such request."""
        if not DAYS.in_force(self, day):
            return None
        return next(one.verb for one in self.methods if DAYS.in_force(one, day))

    def refused_with(self, refusal: str) -> str:
        """How the request refuses a condition: some do not know columns apart from sorting."""
        return "sort" if refusal == "no-column" and refusal not in self.refusals else refusal

    def arguments_on(self, day: str, place: ArgumentPlace | None = None) -> tuple[Argument, ...]:
        """The arguments of a day, in all places or in one."""
        return tuple(
            one for one in self.arguments if place in (None, one.place) and DAYS.in_force(one, day)
        )
