"""An exporter tried on a case: run, compared with the truth, and what was found."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from ..check import check_candidates
from ..difference.files import File
from ..difference.pairing import Difference
from ..engine.candidate import Listing
from ..engine.failure import rule_that_finds
from ..finding import Finding, Verdict
from ..media.text.deliverables import Output, deliverables_in, output_of_folder
from ..options import Options
from ..ruleset import EVERYTHING, Selection
from .case import Case
from .exporters import Exporter, How, Result

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .stages import Stage

Signature = tuple[str, str, str]
"""Feature, rule and place of a failure, by which it is the same one in any case."""

RUN = "run"
"""The feature of findings on an exporter that wrote nothing that could be compared."""

_HOW: Mapping[How, str] = {
    "failed": "failed export",
    "crashed": "crashed export",
    "hung": "hung export",
    "refused": "refused export",
    "broken": "broken protocol",
}


@dataclass(frozen=True, slots=True)
class Failure:
    """One finding, and the feature that it is on: a kind of file, or :data:`RUN`."""

    feature: str
    finding: Finding

    @property
    def signature(self) -> Signature:
        """The same for the same fault of an exporter in any case."""
        return self.feature, self.finding.rule, self.finding.place

    @property
    def fails(self) -> bool:
        """Whether an exporter with it does not conform."""
        return self.finding.verdict in ("violation", "failure")


@dataclass(frozen=True, slots=True)
class Asked:
    """How cases are tried. ``features``: only these files are compared. ``against``: with the files
    of this exporter in place of the truth. ``judged``: ``check`` judges every output, not only one
    in which the comparison finds nothing.
    """

    features: frozenset[str] | None = None
    against: Exporter | None = None
    judged: bool = False

    def of(self, exporter: Exporter) -> frozenset[str] | None:
        """The files of an exporter that are compared."""
        named = [self.features, exporter.features]
        named += [self.against.features] if self.against else []
        known = [one for one in named if one is not None]
        return frozenset.intersection(*known) if known else None


PLAINLY = Asked()


@dataclass(frozen=True, slots=True)
class Tried:
    """What came of a case. ``features``: those that the truth has; ``operators`` of the input."""

    case: Case
    result: Result
    features: tuple[str, ...]
    failures: tuple[Failure, ...]
    operators: int = 0

    @property
    def signatures(self) -> frozenset[Signature]:
        """Those of the failures that count."""
        return frozenset(one.signature for one in self.failures if one.fails)


@contextmanager
def prepared(stage: Stage, case: Case, writer: str | None = None) -> Iterator[Path]:
    """A new folder with ``input`` and ``expected`` of a case, gone at the end.

    ``writer``: the generation of exporters that the truth is written as.
    """
    with TemporaryDirectory(prefix="ascend-ref-conform-") as place:
        folder = Path(place) / "case"
        folder.mkdir()
        stage.make(case, folder, writer)
        yield folder


def try_case(exporter: Exporter, stage: Stage, case: Case, asked: Asked = PLAINLY) -> Tried:
    """Try an exporter on one case."""
    with prepared(stage, case, exporter.writer) as folder:
        return try_folder(exporter, stage, case, folder, asked)


def try_folder(exporter: Exporter, stage: Stage, case: Case, folder: Path, asked: Asked) -> Tried:
    """Try an exporter on the input of a folder; what it writes is left in ``actual``."""
    return compare(exporter, stage, folder, asked, export(exporter, stage, case, folder, asked))


def export(exporter: Exporter, stage: Stage, case: Case, folder: Path, asked: Asked) -> Tried:
    """Only export the input of a folder; the failures are those of exporters that ended badly."""
    result = export_into(exporter, folder, folder / "actual")
    tried = Tried(case, result, (), (), stage.operators(folder))
    if asked.against is not None:
        shutil.rmtree(folder / "expected")
        other = export_into(asked.against, folder, folder / "expected")
        if other.how != "done":
            return replace(tried, failures=tuple(ended_badly(other, asked.against.name)))
    return replace(tried, failures=tuple(ended_badly(result, exporter.name)))


def compare(exporter: Exporter, stage: Stage, folder: Path, asked: Asked, exported: Tried) -> Tried:
    """What came of a case that was exported, as far as it is asked for."""
    if exported.failures or exported.result.how != "done":
        return exported
    wanted = asked.of(exporter)
    truth = asked.against.name if asked.against else "the truth"
    expected = stage.files(folder / "expected")
    there = {one.name for one in expected if wanted is None or one.name in wanted}
    written = stage.files(folder / "actual")
    if not written and there:
        words = "none of its files has a name that readers know"
        nothing = Failure(RUN, finding("nothing exported", exporter.name, words))
        return replace(exported, failures=(nothing,))
    sides = (truth, exporter.name)
    differing = stage.differences(expected, written, wanted, sides)
    found = [failure_of(one, exporter.name) for one in differing]
    is_judged = stage.judged and asked.against is None and (asked.judged or not found)
    if is_judged and _bytes_of(expected) != _bytes_of(written):
        found += _judged(exporter.name, folder, written, wanted)
    return replace(exported, features=tuple(sorted(there)), failures=tuple(found))


def _bytes_of(files: Sequence[File]) -> list[bytes]:
    return [one.path.read_bytes() for one in files]


def ended_badly(result: Result, label: str) -> Iterator[Failure]:
    """The finding on an exporter that did not do what it was asked for; none where it says why."""
    if result.how not in ("done", "skipped"):
        yield Failure(RUN, finding(_HOW[result.how], label, result.words))


def export_into(exporter: Exporter, folder: Path, target: Path) -> Result:
    """Run an exporter on the input of a folder."""
    target.mkdir()
    (source,) = (folder / "input").iterdir()
    return exporter.export(source, target)


def failure_of(one: Difference, label: str) -> Failure:
    """A difference as a finding of the rule for it."""
    rule = rule_that_finds(one.what)
    message = f"{rule.counted(one.count, one.total)}; {one.words}"
    found = rule.finding(label, message, one.count, one.total)
    return Failure(one.feature, replace(found, table=one.place, column=one.column))


def finding(what: str, label: str, words: str, verdict: Verdict | None = None) -> Finding:
    """A finding on an exporter as a whole."""
    rule = rule_that_finds(what)
    message = f"{rule.summary.rstrip('.')}; {words}" if words else rule.summary
    found = rule.finding(label, message)
    return replace(found, verdict=verdict) if verdict else found


def _judged(
    label: str, folder: Path, written: Sequence[File], wanted: frozenset[str] | None
) -> list[Failure]:
    """What ``check`` finds of the files next to the database, and not of the true ones."""
    found = [
        one
        for one in _checked(folder, folder / "actual", wanted, EVERYTHING)
        if one.verdict in ("violation", "failure")
    ]
    if found:
        same = Selection(tuple({one.rule for one in found}))
        known = {_place(one) for one in _checked(folder, folder / "expected", None, same)}
        found = [one for one in found if _place(one) not in known]
    places = {one.place: one.name for one in written}
    return [Failure(places.get(one.table or "", RUN), replace(one, file=label)) for one in found]


def _checked(
    folder: Path, texts: Path, wanted: frozenset[str] | None, rules: Selection
) -> Sequence[Finding]:
    """The findings on text files that stand next to the database of the case."""
    with TemporaryDirectory(prefix="ascend-ref-conform-") as place:
        here = Path(place) / "profile"
        here.mkdir()
        listings = [Listing(one) for one in (texts, *texts.rglob("*")) if one.is_dir()]
        for text in (one for listing in listings for one in deliverables_in(listing)):
            if wanted is None or text.name in wanted:
                shutil.copyfile(text.path, here / text.path.name)
        for path in sorted((folder / "input").rglob("*")):
            if path.suffix == ".db" or path.name.startswith("profiler_"):
                shutil.copyfile(path, here / path.name)
        candidates = []
        for candidate in output_of_folder(Listing(here)):
            if isinstance(candidate.details, Output) and wanted is not None:
                alone = replace(candidate.details, alone=True)
                candidates.append(replace(candidate, details=alone))
            else:
                candidates.append(candidate)
        return check_candidates(candidates, Options(selection=rules, workers=1)).findings


def _place(one: Finding) -> tuple[str, str]:
    return one.rule, one.place
