"""Where the checker itself fails: one finding of the file, and everything else is judged."""

from __future__ import annotations

import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import Any

import apsw

from ascend_ref.db.display import clip, printable
from ascend_ref.execution.interrupts import raise_if_dropped
from ascend_spec import per_spec

from ..finding import Finding
from ..ruleset import Rule, rules_in
from .work import NoAnswer

SHOWN = 300
"""Characters of an error that are shown."""

PACKAGES = ("ascend_conformance", "ascend_ref", "ascend_spec")

OF_THE_FILE = (
    apsw.CorruptError,
    apsw.IOError,
    apsw.InterruptError,
    apsw.NotADBError,
    MemoryError,
    OSError,
    UnicodeDecodeError,
)
"""What no single rule is to blame for: the file is damaged, or the machine has no more to give."""


@dataclass
class Failures:
    """The rules that failed on one file, each with the place and reason of its first failure.

    ``fatal``: further errors that no rule is to blame for.
    """

    fatal: tuple[type[Exception], ...] = ()
    of: dict[str, str] = field(default_factory=dict)

    @contextmanager
    def of_rule(self, rule: Rule[Any], place: str = "") -> Iterator[None]:
        """What is evaluated inside may fail; errors of the file are raised all the same."""
        try:
            yield
        except NoAnswer:
            raise
        except Exception as problem:
            raise_if_dropped(problem)
            if self.is_of_the_file(problem):
                raise
            where = f" at {place}" if place else ""
            message = f"{rule.id} {rule.name} could not be evaluated{where}: {reason(problem)}"
            self.of.setdefault(rule.id, message)

    def is_of_the_file(self, problem: Exception) -> bool:
        """Whether no rule is to blame for an error."""
        return isinstance(problem, (*OF_THE_FILE, *self.fatal))

    def findings(self, file: str) -> list[Finding]:
        """One finding for each rule that failed, in the order of their ids."""
        rule = rule_that_finds("rule")
        return [_finding(rule, file, self.of[name], name) for name in sorted(self.of)]


def file_failure(file: str, problem: Exception) -> Finding:
    """The finding on a file that could not be judged at all."""
    return _finding(rule_that_finds("file"), file, f"could not be judged: {reason(problem)}", None)


def reason(problem: Exception) -> str:
    """What went wrong, and where in this program, in one line."""
    said = str(problem).strip().partition("\n")[0]
    what = f"{type(problem).__name__}: {said}" if said else type(problem).__name__
    where = _place(problem.__traceback__)
    return f"{clip(printable(what), SHOWN)}{f' ({where})' if where else ''}"


def _place(trace: TracebackType | None) -> str:
    """Module and line of the innermost frame that is ours."""
    for frame in reversed(traceback.extract_tb(trace)):
        parts = Path(frame.filename).with_suffix("").parts
        for package in PACKAGES:
            if package in parts:
                module = ".".join(parts[len(parts) - 1 - parts[::-1].index(package) :])
                return f"{module}, line {frame.lineno}"
    return ""


@per_spec
def own_rules() -> Mapping[str, Rule[str]]:
    """The rules that no single search answers; of each, what it finds is its search."""
    return rules_in("any", lambda document: str(document["finds"]))


def rule_that_finds(what: str) -> Rule[str]:
    """The one of :func:`own_rules` that finds this."""
    return next(rule for rule in own_rules().values() if rule.search == what)


def _finding(rule: Rule[str], file: str, message: str, place: str | None) -> Finding:
    return replace(rule.finding(file, message), column=place)
