"""The msprof library: what it is given, what it keeps, and what of it reaches the disk."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from ascend_ref.derive.text_hash import name_id
from ascend_spec import ge_catalog, per_spec

from ..life_cycle import Command

RUNTIME, ACL, GE = "RUNTIME", "ASCENDCL", "GE"
FORWARD = (RUNTIME, ACL, GE)
"""Modules in the order in which a start reaches them; a stop does in the other order."""
STARTING = ("INIT", "START", "MODEL_SUBSCRIBE")

Field = int | tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """One record. ``file``: the kind of raw files that it goes into; ``record``: its declaration.

    ``fields`` are those of the record besides the ones that all have.
    """

    function: str
    file: str
    record: str
    level: int
    type: int
    type_name: str
    thread: int
    fields: Mapping[str, Field]


Callback = Callable[[Command], object]


class Library:
    """Takes reports while it runs, keeps them in memory, and writes them when it is flushed.

    ``kept``: what is in memory; ``written``: what is on the disk, in order; ``refused``: what came
    while nothing ran (that it is refused is inferred, no source states it); ``texts``: texts by
    their number.
    """

    def __init__(self) -> None:
        self.kept: list[Report] = []
        self.written: list[Report] = []
        self.refused: list[Report] = []
        self.texts: dict[int, str] = {}
        self.is_running = False
        self._callbacks: dict[str, list[Callback]] = {}
        self._last: Command | None = None

    def register(self, module: str, callback: Callback) -> int:
        """MsprofRegisterCallback: one that comes late is given what was commanded last."""
        known = self._callbacks.setdefault(module, [])
        if callback not in known:
            known.append(callback)
            if self._last is not None and self._last.name in ("INIT", "START"):
                if self._last.name == "START":
                    callback(Command("INIT"))
                callback(self._last)
        return error("NONE")

    def command(self, command: Command) -> None:
        """Command all modules; what they report meanwhile is still taken."""
        order = FORWARD if command.name in STARTING else tuple(reversed(FORWARD))
        self.is_running = self.is_running or command.name == "START"
        self._last = command
        for module in (*order, *(one for one in self._callbacks if one not in FORWARD)):
            for callback in self._callbacks.get(module, ()):
                callback(command)
        if command.name in ("STOP", "FINALIZE"):
            self.flush()
            self.is_running = False

    def report(self, report: Report) -> int:
        """MsprofReportApi and its neighbours."""
        if not self.is_running:
            self.refused.append(report)
            return error("UNINITIALIZE")
        self.kept.append(report)
        return error("NONE")

    def number_of(self, text: str) -> int:
        """MsprofGetHashId."""
        number = name_id(text)
        self.texts.setdefault(number, text)
        return number

    def flush(self) -> None:
        """Write what is in memory, as the threads of the reporters do in turn."""
        self.written += self.kept
        self.kept = []

    def kill(self) -> tuple[Report, ...]:
        """The process ends at once: what was in memory is lost, and returned."""
        lost, self.kept, self.is_running = tuple(self.kept), [], False
        return lost


ErrorName = Literal["NONE", "UNINITIALIZE"]


@per_spec
def error(name: ErrorName) -> int:
    """The number of an error of the library."""
    members = ge_catalog().library_values["library_errors"].members
    return next(int(one.value) for one in members if one.name == name)
