"""Failures that are known, each with a reason: the file that ``--expected`` names."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec
import yaml

from ascend_ref.cli.guard import one_line

from .trial import RUN, Failure


class UnreadableExpected(Exception):
    """The file cannot be read; the text is one clear line."""


@dataclass(frozen=True, slots=True)
class Expected:
    """A failure that is known. All but ``rule`` and ``reason`` are patterns in which ``*`` stands
    for anything; ``rule`` is an id or a name. ``seldom``: not every run shows it, so that nothing
    follows where none does.
    """

    rule: str
    reason: str
    exporter: str = "*"
    stage: str = "*"
    feature: str = "*"
    place: str = "*"
    seldom: bool = False

    @property
    def words(self) -> str:
        """What it names."""
        return " ".join(one for one in (self.feature, self.rule, self.place) if one != "*")

    def is_for(self, exporter: str, stage: str) -> bool:
        """Whether it is about an exporter at a stage."""
        return fnmatchcase(exporter, self.exporter) and fnmatchcase(stage, self.stage)

    def is_tried(self, features: Collection[str]) -> bool:
        """Whether one of the files was tried that it is about."""
        return any(fnmatchcase(one, self.feature) for one in (*features, RUN))

    def names(self, exporter: str, stage: str, failure: Failure) -> bool:
        """Whether it names a failure of an exporter at a stage."""
        return (
            self.is_for(exporter, stage)
            and self.rule in (failure.finding.rule, failure.finding.name)
            and fnmatchcase(failure.feature, self.feature)
            and fnmatchcase(failure.finding.place, self.place)
        )


class _Document(msgspec.Struct, forbid_unknown_fields=True):
    expected: list[Expected]


def read_expected(path: Path) -> list[Expected]:
    """The entries of a file. Raises :class:`UnreadableExpected`."""
    wanted = "expected a YAML file with a list expected, each entry with rule and reason"
    try:
        text = path.read_text(encoding="utf-8-sig")
        found = msgspec.convert(yaml.safe_load(text), _Document).expected
    except OSError as problem:
        raise UnreadableExpected(f"{path}: {problem.strerror}; {wanted}") from None
    except (ValueError, RecursionError, yaml.YAMLError) as problem:
        raise UnreadableExpected(f"{path}: {one_line(str(problem))}; {wanted}") from None
    empty = next((one for one in found if not one.reason.strip()), None)
    if empty is not None:
        raise UnreadableExpected(f"{path}: the entry for {empty.words} has no reason; {wanted}")
    return found
