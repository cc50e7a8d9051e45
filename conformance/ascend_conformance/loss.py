"""What a finding shows to be lost: likely at which stage, and for what cause."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from .finding import Finding, Scalar

Part = Literal["head", "tail", "middle", "all"]
"""Which part of a window is lost."""

WORDS: Mapping[str, str] = {
    "head": "the first of the window",
    "tail": "the last of the window",
    "middle": "inside the window",
    "all": "all of them",
}


@dataclass(frozen=True, slots=True)
class Cause:
    """Where something was likely lost, and why."""

    stage: str
    cause: str


@dataclass(frozen=True, slots=True)
class Loss:
    """What is lost where a rule finds something. ``parts``: other causes by part of the window.

    ``along``: the value of a relation, ``alias.column``, along which the parts are found. ``of``:
    the findings that show a loss are those whose context says ``of`` what; by that, what is lost,
    or the same of all (``lost``).
    """

    lost: str
    likely: Cause
    along: str | None = None
    parts: Mapping[str, Cause] = field(default_factory=dict)
    of: Mapping[str, str] | None = None

    @property
    def is_certain(self) -> bool:
        """Whether every finding of the rule shows a loss."""
        return self.of is None

    def explained(self, finding: Finding) -> Finding:
        """The finding with the part of the window, the stage and the likely cause."""
        lost, of = self.lost, str(finding.context.get("of", ""))
        if self.of is not None:
            lost = self.of.get(of, self.lost)
            if not of or not lost:
                return finding
        part = finding.context.get("part")
        likely = self.parts.get(str(part), self.likely)
        words = f"; {_window(finding.context)}" if part else ""
        cause = likely.cause.replace("{of}", of)
        return replace(
            finding,
            message=f"{finding.message}{words}; likely cause: {cause} ({likely.stage})",
            context={**finding.context, "lost": lost, "stage": likely.stage},
        )


OF_A_SIDE = Loss(
    "rows",
    Cause("export", "rows of {of} were left out, or lost, after they had been recorded"),
    of={},
)
"""The loss of an agreement: rows of one side stand alone, and none of the other."""


def loss_of(stated: Mapping[str, Any] | None) -> Loss | None:
    """The loss of a rule document."""
    if stated is None:
        return None
    parts = {part: Cause(**stated[part]) for part in WORDS if part in stated}
    likely = Cause(stated["stage"], stated["cause"])
    lost = stated.get("lost", "")
    return Loss(lost, likely, stated.get("along"), parts, stated.get("of"))


def part_of_window(bad: tuple[int, int], good: tuple[int | None, int | None]) -> Part:
    """Which part the times of bad rows are, first and last, by those of the good ones."""
    first, last = good
    if first is None or last is None:
        return "all"
    if bad[1] < first:
        return "head"
    return "tail" if bad[0] > last else "middle"


def window_of(bad: tuple[int, int], good: tuple[int | None, int | None]) -> Mapping[str, Scalar]:
    """Part and times, in ns from the first row of all, as the context of a finding."""
    begin = bad[0] if good[0] is None else min(bad[0], good[0])
    end = bad[1] if good[1] is None else max(bad[1], good[1])
    return {
        "part": part_of_window(bad, good),
        "from_ns": bad[0] - begin,
        "to_ns": bad[1] - begin,
        "window_ns": end - begin,
    }


def _window(context: Mapping[str, Scalar]) -> str:
    first, last, whole = (
        f"{float(context[name] or 0) / 1e6:.3f}" for name in ("from_ns", "to_ns", "window_ns")
    )
    return f"{WORDS[str(context['part'])]}, {first} to {last} ms of {whole} ms"
