"""One case that an exporter is tried on: a scenario, its seed and whose profile is written."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import msgspec
import yaml

from ascend_ref.capture.metric_groups import aic_metrics
from ascend_simulator.scenario import RUN, Scenario, ScenarioError, to_document, validate

Output = Literal["pytorch", "msprof"]
OUTPUTS: tuple[Output, ...] = ("pytorch", "msprof")
CASE = "case.yaml"


@dataclass(frozen=True, slots=True)
class Case:
    """``stage``: the name of the stage that is tried. ``output``: whose profile is the input.

    ``calls``: of the outermost host calls of the process, rank after rank, only these are in the
    input, and what they launched; ``None``: all.
    """

    scenario: Scenario
    stage: str = "database-to-text"
    output: Output = "pytorch"
    seed: int = 0
    calls: tuple[int, ...] | None = None

    @property
    def words(self) -> str:
        """The case in a few words."""
        one = self.scenario
        kind = one.model.operator if one.model.kind == "single-operator" else one.model.kind
        faults = "".join(f", {fault.kind}" for fault in one.faults)
        calls = "" if self.calls is None else f", {len(self.calls)} of its host calls"
        return (
            f"{kind} on {one.hardware.product}, {one.parallelism.ranks} ranks, "
            f"{one.schedule.active} steps, level {one.capture.level}, {self.output}{faults}{calls}"
        )

    @property
    def is_possible(self) -> bool:
        """Whether the scenario can be simulated, and a profile of the output can hold it."""
        try:
            validate(self.scenario)
        except ScenarioError:
            return False
        return can_hold(self.scenario, self.output)

    def to_yaml(self) -> str:
        """The case as a document that :func:`read_case` reads back."""
        document: dict[str, Any] = {"stage": self.stage, "output": self.output, "seed": self.seed}
        if self.calls is not None:
            document["calls"] = list(self.calls)
        document["scenario"] = to_document(self.scenario)
        return yaml.safe_dump(document, sort_keys=False, allow_unicode=True)


def can_hold(scenario: Scenario, output: Output) -> bool:
    """Whether a profile of an output can hold what a scenario records."""
    if output == "msprof":
        return scenario.capture.npu
    return scenario.capture.aic_metrics in aic_metrics()


class UnreadableCase(Exception):
    """A folder does not hold a saved failure; the text is one clear line."""


class _Document(msgspec.Struct, forbid_unknown_fields=True):
    stage: str
    output: Output
    seed: int
    scenario: dict[str, Any]
    calls: tuple[int, ...] | None = None


def read_case(path: Path) -> Case:
    """The case of a document. Raises :class:`UnreadableCase`."""
    try:
        found = msgspec.convert(yaml.safe_load(path.read_text(encoding="utf-8")), _Document)
        text = yaml.safe_dump(found.scenario, allow_unicode=True)
        scenario = RUN.parse(text, str(path))
        return Case(scenario, found.stage, found.output, found.seed, found.calls)
    except OSError as problem:
        raise UnreadableCase(f"{path}: {problem.strerror}; expected a saved failure") from None
    except (ValueError, RecursionError, yaml.YAMLError, ScenarioError) as problem:
        line = str(problem).partition("\n")[0]
        raise UnreadableCase(f"{path}: {line}; expected a saved failure") from None
