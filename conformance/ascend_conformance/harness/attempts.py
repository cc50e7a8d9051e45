"""Cases that an exporter is tried on to shrink its failures: none is exported twice, and none that
has no file for the failure to be in.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ascend_simulator.scenario import ScenarioError

from ..engine.failure import rule_that_finds
from .case import Case
from .exporters import Exporter
from .stages import Stage
from .trial import RUN, Asked, Signature, prepared, try_case


@dataclass
class Attempts:
    """What is known of cases, by their text. ``exports``: how often the exporter ran."""

    exporter: Exporter
    stage: Stage
    asked: Asked
    exports: int = 0
    _features: dict[str, frozenset[str]] = field(default_factory=dict)
    _shown: dict[tuple[str, bool], frozenset[Signature]] = field(default_factory=dict)

    def features(self, case: Case) -> frozenset[str]:
        """The kinds of files that there are to write of a possible case; it takes no export."""
        known = case.to_yaml()
        if known not in self._features:
            try:
                with prepared(self.stage, case, self.exporter.writer) as folder:
                    files = self.stage.files(folder / "expected")
                    self._features[known] = frozenset(one.name for one in files)
            except ScenarioError:  # its memory, which only the simulation knows
                self._features[known] = frozenset()
        return self._features[known]

    def shown(self, case: Case, judged: bool, most: int) -> frozenset[Signature]:
        """The failures that the exporter shows, none where that takes more than so many exports in
        all. ``judged``: ``check`` looks at whatever is written.
        """
        known = case.to_yaml(), judged
        if known not in self._shown and self.exports < most:
            self.exports += 1
            try:
                tried = try_case(
                    self.exporter, self.stage, case, replace(self.asked, judged=judged)
                )
                self._shown[known] = frozenset(one.signature for one in tried.failures)
            except ScenarioError:
                self._shown[known] = frozenset()
        return self._shown.get(known, frozenset())


class Sought:
    """A failure that smaller cases are tried for, with so many exports more at most."""

    def __init__(self, attempts: Attempts, signature: Signature, most: int) -> None:
        self._attempts = attempts
        self._signature = signature
        self._most = attempts.exports + most
        feature, rule, _ = signature
        # What the truth has no file for, or what is compared with another exporter.
        free = feature == RUN or rule == rule_that_finds("added file").id
        self._feature = None if free or attempts.asked.against else feature
        # What only check finds is looked for with it.
        self._judged = attempts.asked.judged or not rule.startswith("CFM")

    def can_show(self, case: Case) -> bool:
        """Whether a case is possible, and there is a file for the failure to be in."""
        if not case.is_possible or not self._attempts.stage.can_be_drawn(case):
            return False
        return self._feature is None or self._feature in self._attempts.features(case)

    def shows(self, case: Case) -> bool:
        """Whether a case shows the failure; none does any more when all exports are used up."""
        if self._attempts.exports >= self._most or not self.can_show(case):
            return False
        return self._signature in self._attempts.shown(case, self._judged, self._most)
