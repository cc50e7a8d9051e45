"""Cases that an exporter is tried on to shrink its failures: none is exported twice, and none that
has no file for the failure to be in.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from ascend_simulator.scenario import ScenarioError

from ..engine.failure import rule_that_finds
from .case import Case
from .exporters import Exporter, Function
from .stages import Stage
from .trial import RUN, Asked, Signature, prepared, try_folder

if TYPE_CHECKING:
    from pathlib import Path


LATE = 40
"""Exports for the failures of an exporter: after them one that few operators show is left so."""


class Looked(NamedTuple):
    """What of a case is looked at: one kind of file, ``None``: all of them; and ``judged``:
    ``check`` looks at whatever is written.
    """

    feature: str | None
    judged: bool


@dataclass
class Attempts:
    """What is known of cases, by their text. ``exports``: how often the exporter ran."""

    exporter: Exporter
    stage: Stage
    asked: Asked
    exports: int = 0
    _features: dict[str, frozenset[str]] = field(default_factory=dict)
    _shown: dict[tuple[str, Looked], frozenset[Signature]] = field(default_factory=dict)
    _smallest: dict[Signature, tuple[int, int, Case]] = field(default_factory=dict)

    def features(self, case: Case) -> frozenset[str]:
        """The kinds of files that there are to write of a possible case; it takes no export."""
        known = case.to_yaml()
        if known not in self._features:
            try:
                with prepared(self.stage, case, self.exporter.writer) as folder:
                    self._features[known] = self._expected(folder)
            except ScenarioError:  # its memory, which only the simulation knows
                self._features[known] = frozenset()
        return self._features[known]

    def shown(
        self, case: Case, looked: Looked, needed: str | None, most: int
    ) -> frozenset[Signature]:
        """The failures that the exporter shows where it is looked; none where there is no file of
        the kind that is needed, or where that takes more than so many exports in all.
        """
        known = case.to_yaml()
        if needed is not None and needed not in self._features.get(known, (needed,)):
            return frozenset()
        if (known, looked) not in self._shown and self.exports < most:
            try:
                with prepared(self.stage, case, self.exporter.writer) as folder:
                    self._features[known] = self._expected(folder)
                    if needed is not None and needed not in self._features[known]:
                        return frozenset()
                    self._shown[known, looked] = self._tried(case, folder, looked)
            except ScenarioError:
                self._features[known] = frozenset()
                self._shown[known, looked] = frozenset()
        return self._shown.get((known, looked), frozenset())

    def _expected(self, folder: Path) -> frozenset[str]:
        return frozenset(one.name for one in self.stage.files(folder / "expected"))

    def _tried(self, case: Case, folder: Path, looked: Looked) -> frozenset[Signature]:
        self.exports += 1
        stage, asked = self.stage, replace(self.asked, judged=looked.judged)
        if looked.feature is not None:
            stage = replace(stage, judged=False)
            asked = replace(asked, features=frozenset((looked.feature,)))
        tried = try_folder(self.exporter, stage, case, folder, asked)
        shown = frozenset(one.signature for one in tried.failures)
        size = tried.operators, len(case.to_yaml()), case
        for one in shown:
            self._smallest[one] = min(
                self._smallest.get(one, size), size, key=lambda known: known[:2]
            )
        return shown

    def smallest(self, signature: Signature) -> Case | None:
        """The smallest case tried so far that shows a failure."""
        known = self._smallest.get(signature)
        return known[2] if known else None


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
        judged = attempts.asked.judged or not rule.startswith("CFM")
        # Comparing takes longer than an export within this process; one of another process is
        # compared as a whole, so that no other failure takes it again.
        is_quick = isinstance(attempts.exporter, Function)
        self._looked = Looked(self._feature if is_quick and not judged else None, judged)

    @property
    def is_late(self) -> bool:
        """Whether the exporter ran often enough to leave a small case as it is."""
        return self._attempts.exports >= LATE

    def smallest(self) -> Case | None:
        """The smallest case that shows the failure, of those that were tried before."""
        return self._attempts.smallest(self._signature)

    def can_show(self, case: Case) -> bool:
        """Whether a case is possible, and there is a file for the failure to be in."""
        return self._can_be_tried(case) and (
            self._feature is None or self._feature in self._attempts.features(case)
        )

    def shows(self, case: Case) -> bool:
        """Whether a case shows the failure; none does any more when all exports are used up."""
        if self._attempts.exports >= self._most or not self._can_be_tried(case):
            return False
        shown = self._attempts.shown(case, self._looked, self._feature, self._most)
        return self._signature in shown

    def _can_be_tried(self, case: Case) -> bool:
        return case.is_possible and self._attempts.stage.can_be_drawn(case)
