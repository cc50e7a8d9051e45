"""Implementations of the functions of ``ge/ge_prof.h`` under test: programs, or objects."""

from __future__ import annotations

import json
import shlex
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

from ascend_ref.cli.guard import describe, one_line
from ascend_simulator.ge.life_cycle import Call, CreateConfig, Environment
from ascend_simulator.ge.life_cycle.wire import (
    WrongLine,
    message_of,
    read_message,
    start_message,
)
from ascend_spec.ge import Reading

from ..exporters import called, program_of, words_of
from ..limits import Limits
from ..line_process import BrokenOff, Late, LineProcess

WRITTEN = 64 << 20
"""Bytes of a file that a program may write; what it writes to stderr is one."""


@dataclass(frozen=True, slots=True)
class Heard:
    """What came of a call. ``words``: why there is no answer.

    ``returns``: a code, ``"config"`` or ``None`` for a pointer. ``collecting``: bits by device,
    ``None`` where the implementation does not state it.
    """

    how: Literal["answered", "skipped", "broken", "late"]
    words: str = ""
    returns: int | str | None = None
    collecting: Mapping[int, int] | None = None


class Session(ABC):
    """An implementation between its start and its end."""

    def start(self, environment: Environment, reading: Reading) -> Heard:
        """Begin a sequence of calls."""
        return self.ask(start_message(environment, reading), ("returned", "skipped"))

    def call(self, call: Call) -> Heard:
        """Make a call."""
        form = "pointer" if isinstance(call, CreateConfig) else "returned"
        return self.ask(message_of(call), (form,))

    @abstractmethod
    def ask(self, message: Mapping[str, Any], forms: tuple[str, ...]) -> Heard:
        """Send a message, whose answer has one of some forms of the protocol."""

    @abstractmethod
    def finish(self) -> Heard:
        """End it; what it does wrong at its end is no answer."""

    @abstractmethod
    def end(self) -> None:
        """End it, whatever it does."""


class Implementation(Protocol):
    """What is tried."""

    @property
    def name(self) -> str:
        """What reports call it."""

    def open(self) -> Session:
        """A session that has not been started."""

    def close(self) -> None:
        """End whatever still runs."""


class NoProgram(ValueError):
    """A command that cannot be started; the text says why."""


class Program:
    """A command that speaks the protocol, started anew for each sequence of calls.

    ``keep``: it is started once, and start begins each sequence in it. Raises :class:`NoProgram`.
    """

    def __init__(self, command: str, limits: Limits, *, keep: bool = False) -> None:
        try:
            first = next(iter(shlex.split(command)), "")
        except ValueError as problem:
            raise NoProgram(f"{command!r} is no command: {problem}") from None
        if not first or program_of(first) is None:
            raise NoProgram(f"{first!r} is no program; expected one of PATH, or a path")
        words = words_of(command)
        self.name = called(words)
        self._limits = limits
        self._keep = keep
        self._process = LineProcess(words, replace(limits, written=WRITTEN))

    def open(self) -> Session:
        """The program, not started yet."""
        return _Spoken(self._process, self._limits, self._keep)

    def close(self) -> None:
        """End it, and remove the folder in which it ran."""
        self._process.close()


class _Spoken(Session):
    def __init__(self, process: LineProcess, limits: Limits, keep: bool) -> None:
        self._process = process
        self._limits = limits
        self._keep = keep
        self._is_sound = True

    def start(self, environment: Environment, reading: Reading) -> Heard:
        try:
            if not self._process.is_running:
                self._process.start()
        except OSError as problem:
            return Heard("broken", describe(problem))
        return super().start(environment, reading)

    def ask(self, message: Mapping[str, Any], forms: tuple[str, ...]) -> Heard:
        heard = self._listen(json.dumps(message).encode(), forms)
        self._is_sound = heard.how in ("answered", "skipped")
        return heard

    def _listen(self, line: bytes, forms: tuple[str, ...]) -> Heard:
        try:
            return heard_of(read_message(self._process.ask(line), forms))
        except Late:
            return Heard("late", f"after {self._limits.seconds:g} s there was no answer")
        except WrongLine as problem:
            return Heard("broken", str(problem))
        except (BrokenOff, OSError) as problem:
            words = str(problem) if isinstance(problem, BrokenOff) else "it reads no more"
            return Heard("broken", one_line(self._process.gone(words)))

    def finish(self) -> Heard:
        if self._keep:
            return Heard("answered")
        try:
            code = self._process.finish()
        except Late:
            return Heard("late", "it did not end at the end of its input")
        except BrokenOff as problem:
            return Heard("broken", str(problem))
        if code:
            return Heard("broken", one_line(self._process.gone(f"it ended with exit code {code}")))
        return Heard("answered")

    def end(self) -> None:
        if not (self._keep and self._is_sound):
            self._process.end()


Answerer = Callable[[Mapping[str, Any]], Mapping[str, Any]]
"""Answers messages of the protocol in this process; the first one is start."""


@dataclass(frozen=True)
class InProcess:
    """An implementation in Python: ``make`` gives a new one for each sequence of calls."""

    name: str
    make: Callable[[], Answerer]

    def open(self) -> Session:
        """A new one."""
        return _InProcess(self.make())

    def close(self) -> None:
        """Nothing is left of it."""


class _InProcess(Session):
    def __init__(self, answer: Answerer) -> None:
        self._answer = answer

    def ask(self, message: Mapping[str, Any], forms: tuple[str, ...]) -> Heard:
        try:
            line = json.dumps(self._answer(message)).encode()
            return heard_of(read_message(line, forms))
        except WrongLine as problem:
            return Heard("broken", str(problem))
        except Exception as problem:
            return Heard("broken", one_line(f"{type(problem).__name__}: {problem}"))

    def finish(self) -> Heard:
        return Heard("answered")

    def end(self) -> None:
        """Nothing is left of it."""


def heard_of(answer: Mapping[str, Any]) -> Heard:
    """An answer that the protocol allows."""
    if "skipped" in answer:
        return Heard("skipped", one_line(answer["skipped"]))
    collecting = answer.get("collecting")
    if collecting is not None:
        collecting = {int(device): int(bits, 16) for device, bits in collecting.items()}
    return Heard("answered", returns=answer["returns"], collecting=collecting)
