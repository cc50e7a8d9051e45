"""Cases that an exporter is tried on to shrink its failures: what is compared again is not exported
again where it is small, and no case is that has no file for the failure to be in.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from ascend_simulator.scenario import ScenarioError

from ..engine.failure import rule_that_finds
from .case import Case
from .exporters import Exporter, Function
from .stages import Stage
from .trial import RUN, Asked, Signature, Tried, compare, export, prepared

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Self


LATE = 30
"""Exports for the failures of an exporter: after them one that few operators show is left so."""


KEPT = 40
"""Cases of one operator whose files are kept, as they may be looked at again: 1 MB each."""


@dataclass
class _Prepared:
    """The files of a case; ``exported``: what came of the export, where there was one."""

    folder: Path
    files: ExitStack
    exported: Tried | None = None


class Looked(NamedTuple):
    """What of a case is looked at: one kind of file, ``None``: all of them; and ``judged``:
    ``check`` looks at whatever is written.
    """

    feature: str | None
    judged: bool


@dataclass
class Attempts:
    """What is known of cases, by their text. ``exports``: how often one was compared, which takes
    as long as the export, or longer.
    """

    exporter: Exporter
    stage: Stage
    asked: Asked
    exports: int = 0
    _features: dict[str, frozenset[str]] = field(default_factory=dict)
    _shown: dict[tuple[str, Looked], frozenset[Signature]] = field(default_factory=dict)
    _smallest: dict[Signature, tuple[int, int, Case]] = field(default_factory=dict)
    _kept: dict[str, _Prepared] = field(default_factory=dict)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for one in self._kept.values():
            one.files.close()
        self._kept.clear()

    def features(self, case: Case) -> frozenset[str]:
        """The kinds of files that there are to write of a possible case; it takes no export."""
        known = case.to_yaml()
        if known not in self._features:
            try:
                with self._prepared(case, known):
                    pass
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
                with self._prepared(case, known) as one:
                    if needed is not None and needed not in self._features[known]:
                        return frozenset()
                    self._shown[known, looked] = self._tried(case, one, looked)
            except ScenarioError:
                self._features[known] = frozenset()
                self._shown[known, looked] = frozenset()
        return self._shown.get((known, looked), frozenset())

    @contextmanager
    def _prepared(self, case: Case, known: str) -> Iterator[_Prepared]:
        """The files of a case: those of one operator stay for the next time."""
        one = self._kept.pop(known, None)
        if one is None:
            files = ExitStack()
            folder = files.enter_context(prepared(self.stage, case, self.exporter.writer))
            one = _Prepared(folder, files)
            expected = self.stage.files(folder / "expected")
            self._features[known] = frozenset(file.name for file in expected)
        try:
            yield one
        finally:
            if case.scenario.model.kind == "single-operator":
                self._kept[known] = one
            else:
                one.files.close()
            if len(self._kept) > KEPT:
                self._kept.pop(next(iter(self._kept))).files.close()

    def _tried(self, case: Case, one: _Prepared, looked: Looked) -> frozenset[Signature]:
        stage, asked = self.stage, replace(self.asked, judged=looked.judged)
        if looked.feature is not None:
            stage = replace(stage, judged=False)
            asked = replace(asked, features=frozenset((looked.feature,)))
        self.exports += 1
        tried = self._compared(case, one, stage, asked)
        shown = frozenset(failure.signature for failure in tried.failures)
        size = tried.operators, len(case.to_yaml()), case
        for signature in shown:
            self._smallest[signature] = min(
                self._smallest.get(signature, size), size, key=lambda known: known[:2]
            )
        return shown

    def _compared(self, case: Case, one: _Prepared, stage: Stage, asked: Asked) -> Tried:
        if one.exported is None:
            one.exported = export(self.exporter, stage, case, one.folder, asked)
        return compare(self.exporter, stage, one.folder, asked, one.exported)

    @contextmanager
    def tried(self, case: Case) -> Iterator[tuple[Tried, Path]]:
        """All that came of a case, which is judged, too, and its folder as it is after that."""
        with self._prepared(case, case.to_yaml()) as one:
            yield (
                self._compared(case, one, self.stage, replace(self.asked, judged=True)),
                one.folder,
            )

    def smallest(self, signature: Signature) -> Case | None:
        """The smallest case tried so far that shows a failure."""
        known = self._smallest.get(signature)
        return known[2] if known else None


class Sought:
    """A failure that smaller cases are tried for, with so many exports more at most."""

    def __init__(self, attempts: Attempts, signature: Signature, most: int) -> None:
        self._attempts = attempts
        self._signature = signature
        self._each = most
        self.renew()
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

    def renew(self) -> None:
        """Allow as many exports again."""
        self._most = self._attempts.exports + self._each

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
