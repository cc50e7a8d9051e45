"""What a proposer is, and what it proposes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from ascend_spec import mindspore_catalog
from ascend_spec.mindspore import Proposal

Ask: TypeAlias = Callable[[str, Any], Mapping[str, Any]]
"""Asks an analyser by name, with a filter."""

Numbers: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Proposed:
    """A rule that holds, with the numbers that it rests on, its thresholds among them."""

    rule: Proposal
    numbers: Numbers

    @property
    def text(self) -> str:
        """What it says."""
        return self.rule.text.format(**self.numbers)

    @property
    def arguments(self) -> Any:
        """What the viewer has under the key: ``None`` where the text has no numbers."""
        names = self.rule.arguments
        match self.rule.passed:
            case "by-name" | "each-by-name":
                return {name: self.numbers[name] for name in names}
            case "alone":
                return self.numbers[names[0]]
            case "texts":
                return [str(self.numbers[name]) for name in names]
        return [self.numbers[name] for name in names] or None

    @property
    def others(self) -> Numbers:
        """What the viewer has under names of its own: numbers that are no inputs."""
        known = self.rule.inputs.keys() | self.rule.thresholds.keys()
        return {name: one for name, one in self.numbers.items() if name not in known}


class Proposer(ABC):
    """Asks analysers, and nothing else, for the numbers of the rules of one name."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.skipped: dict[str, str] = {}
        """Rules that could not be asked, with the reason, of what was analysed last."""

    def rules(self) -> list[Proposal]:
        """Its rules, in order."""
        return [one for one in mindspore_catalog().proposals.values() if one.proposer == self.name]

    def rule(self, name: str) -> Proposal:
        """One of them."""
        return mindspore_catalog().proposals[name]

    def analyze(self, ask: Ask) -> list[Proposed]:
        """The rules that hold, in their order."""
        self.skipped.clear()
        found = list(self.holding(ask))
        return [
            Proposed(one, {**numbers, **one.thresholds})
            for one in self.rules()
            for name, numbers in found
            if name == one.proposal
        ]

    @abstractmethod
    def holding(self, ask: Ask) -> Iterator[tuple[str, Numbers]]:
        """The names of the rules that hold, with the numbers of their inputs."""
