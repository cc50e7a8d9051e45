"""What the proposers of MindSpore's viewer advise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from ascend_spec.core import Grade

Kind = Literal["advice", "note"]
Passed = Literal["list", "texts", "by-name", "each-by-name", "alone"]
"""How the viewer has arguments: in a list, in one of texts, by name, in a list of such, or the only
one as it is.
"""


OWN = "own-"
"""What the key of a rule begins with that is of this project, and that no viewer has."""


@dataclass(frozen=True, slots=True)
class ProposalInput:
    """A number or text that a proposal rests on."""

    summary: str
    unit: str | None = None


@dataclass(frozen=True, slots=True)
class Proposal:
    """One rule of a proposer.

    ``key``: under which the viewer has it, inside ``group`` where there is one, with ``arguments``,
    names of inputs and thresholds, ``passed`` in one of the ways; of a rule of this project it
    begins with :data:`OWN`. ``kind``: whether it is a reason to do something. ``needs``: analysers
    that it asks. ``when``: it holds, in words. ``text``: what it says, with names of inputs and
    thresholds in braces.
    """

    proposal: str
    proposer: str
    key: str
    when: str
    text: str
    source: tuple[str, ...]
    grade: Grade
    needs: tuple[str, ...] = ()
    inputs: Mapping[str, ProposalInput] = field(default_factory=dict)
    thresholds: Mapping[str, int | float] = field(default_factory=dict)
    arguments: tuple[str, ...] = ()
    passed: Passed = "list"
    group: str | None = None
    kind: Kind = "advice"

    @property
    def own(self) -> bool:
        """Whether it is a rule of this project, that no viewer has; such are asked by the name of
        their proposer alone.
        """
        return self.key.startswith(OWN)
