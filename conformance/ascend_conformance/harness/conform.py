"""Exporters tried on many cases; each failure shrunk, and saved as a folder that replays it."""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ascend_ref import __version__
from ascend_ref.atomic import staged
from ascend_simulator.scenario import ScenarioError

from ..engine.failure import rule_that_finds
from ..finding import FileReport, Finding, Report, Skipped
from ..media import load_rules
from ..report import FORMATS
from .attempts import Attempts, Sought
from .case import CASE, Case, UnreadableCase, read_case
from .expected import Expected
from .exporters import Exporter
from .shrinking import shrink
from .stages import Stage
from .trial import PLAINLY, RUN, Asked, Failure, Signature, Tried, try_case, try_folder

Progress = Callable[[int, int, str], None]

MOST = 90
"""Exports that one failure may take to be shrunk, and again to leave few calls of its case."""
FEW = 4
"""Operators of a case that is the smallest one for all that it shows."""
REPLAY = "replay.json"
FINDINGS = "findings.json"


@dataclass(frozen=True, slots=True)
class Shown:
    """A failure with the smallest case that shows it. ``folder``: where that is saved."""

    failure: Failure
    tried: Tried
    folder: Path | None = None


@dataclass
class Outcome:
    """What came of an exporter. ``features``: how many cases had each file to write; ``skipped``:
    reasons that the exporter gave. ``shown``: every failure once; ``expected``: those that a list
    names, with its reason.
    """

    exporter: Exporter
    cases: int = 0
    features: dict[str, int] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)
    shown: list[Shown] = field(default_factory=list)
    expected: list[tuple[Failure, str]] = field(default_factory=list)
    absent: list[Finding] = field(default_factory=list)

    @property
    def fails(self) -> bool:
        """Whether there is a failure that was not expected, or an expected one did not come."""
        return bool(self.absent) or any(one.failure.fails for one in self.shown)


def conform(
    exporter: Exporter,
    stage: Stage,
    cases: Sequence[Case],
    asked: Asked = PLAINLY,
    expected: Sequence[Expected] = (),
    out: Path | None = None,
    progress: Progress | None = None,
    most: int = MOST,
    enough: int | None = None,
) -> Outcome:
    """Try an exporter on cases, shrink each failure, and save it below ``out``.

    ``most``: exports that it may take to shrink one failure. ``enough``: failing cases after which
    no further one is tried.
    """
    outcome = Outcome(exporter)
    failing: list[Tried] = []
    for done, case in enumerate(cases):
        if progress:
            progress(done, len(cases), case.words)
        try:
            tried = try_case(exporter, stage, case, asked)
        except ScenarioError:  # more memory than its NPU has, which only the simulation knows
            continue
        outcome.cases += 1
        for feature in tried.features:
            outcome.features[feature] = outcome.features.get(feature, 0) + 1
        if tried.result.how == "skipped" and tried.result.words not in outcome.skipped:
            outcome.skipped.append(tried.result.words)
        failing += [tried] if tried.failures else []
        if len(failing) == enough:
            break
    with Attempts(exporter, stage, asked) as attempts:
        _explain(outcome, attempts, failing, expected, out, progress, most)
    if outcome.cases:
        _miss(outcome, stage, expected)
    return outcome


def _explain(
    outcome: Outcome,
    attempts: Attempts,
    failing: Sequence[Tried],
    expected: Sequence[Expected],
    out: Path | None,
    progress: Progress | None,
    most: int,
) -> None:
    """Shrink what failed: every failure that a small case shows as well is one with it."""
    known: set[Signature] = set()
    stage = attempts.stage
    for tried in failing:
        for failure in tried.failures:
            if failure.signature in known:
                continue
            listed = _listed(failure, outcome.exporter, stage, expected)
            if listed is not None:
                known.add(failure.signature)
                outcome.expected.append((failure, listed.reason))
                continue
            if progress:
                progress(len(known), len(known) + 1, f"shrinking {' '.join(failure.signature)}")
            wanted = failure.signature
            small = shrink(tried.case, Sought(attempts, wanted, most)) if most else tried.case
            for shown in _saved(outcome, attempts, small, wanted, out):
                reason = _listed(shown.failure, outcome.exporter, stage, expected)
                signature = shown.failure.signature
                is_own = signature == wanted or not most or shown.tried.operators <= FEW
                if signature in known or not is_own:
                    continue
                known.add(signature)
                if reason is not None:
                    outcome.expected.append((shown.failure, reason.reason))
                else:
                    outcome.shown.append(shown)
            if wanted not in known:  # an exporter that does not do the same each time
                known.add(wanted)
                outcome.shown.append(Shown(_with_case(failure, tried, None), tried))


def _saved(
    outcome: Outcome, attempts: Attempts, case: Case, wanted: Signature, out: Path | None
) -> Iterator[Shown]:
    """The failures of the smallest case, which is saved where a folder is given."""
    name = "-".join([f"{len(outcome.shown) + 1:03d}", *filter(None, (wanted[1], wanted[0]))])
    target = None if out is None else out / outcome.exporter.name / name
    with attempts.tried(case) as (tried, folder):
        if target is not None:
            target.parent.mkdir(parents=True, exist_ok=True)
            with staged(target) as draft:
                shutil.copytree(folder, draft, dirs_exist_ok=True)
                (draft / CASE).write_text(case.to_yaml(), encoding="utf-8")
            _write_replay(outcome.exporter, attempts.stage, attempts.asked, tried, target)
    for one in sorted(tried.failures, key=lambda one: one.signature != wanted):
        yield Shown(_with_case(one, tried, target), tried, target)


def _with_case(one: Failure, tried: Tried, folder: Path | None) -> Failure:
    where = "" if folder is None else f"; replay: ascend-ref conform --replay {_quoted(folder)}"
    small = f"{tried.operators} operators: {tried.case.words}"
    message = f"{one.finding.message} [{small}{where}]"
    return replace(one, finding=replace(one.finding, message=message))


def _quoted(path: Path) -> str:
    return shlex.quote(str(path))


def _write_replay(
    exporter: Exporter, stage: Stage, asked: Asked, tried: Tried, target: Path
) -> None:
    """What ``--replay`` needs, and the findings, next to input, expected and actual."""
    features = asked.of(exporter)
    document = {
        "command": f"ascend-ref conform --replay {_quoted(target)}",
        "exporter": exporter.text,
        "stage": stage.name,
        "against": asked.against.text if asked.against else None,
        "features": None if features is None else sorted(features),
        "operators": tried.operators,
        "case": tried.case.words,
    }
    (target / REPLAY).write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    findings = tuple(one.finding for one in tried.failures)
    report = Report((FileReport(exporter.name, None, findings),), __version__, "observed")
    text = FORMATS["json"](report, load_rules())
    (target / FINDINGS).write_text(text, encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Saved:
    """A saved failure: its case, and how it was found."""

    folder: Path
    case: Case
    exporter: str
    against: str | None
    features: frozenset[str] | None


def read_saved(folder: Path) -> Saved:
    """A failure that was saved. Raises :class:`.UnreadableCase`."""
    case = read_case(folder / CASE)
    path = folder / REPLAY
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        features = document["features"]
        if not isinstance(document["exporter"], str) or not (folder / "input").is_dir():
            raise ValueError("no exporter or no input")
        return Saved(
            folder,
            case,
            document["exporter"],
            document["against"],
            None if features is None else frozenset(features),
        )
    except OSError as problem:
        raise UnreadableCase(f"{path}: {problem.strerror}; expected a saved failure") from None
    except (ValueError, KeyError, TypeError, RecursionError) as problem:
        raise UnreadableCase(f"{path}: {problem}; expected a saved failure") from None


def replay(saved: Saved, exporter: Exporter, stage: Stage, asked: Asked) -> Outcome:
    """Try an exporter on the input of a saved failure, which is not changed."""
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(prefix="ascend-ref-conform-") as place:
        folder = Path(place) / "case"
        folder.mkdir()
        for part in ("input", "expected"):
            shutil.copytree(saved.folder / part, folder / part)
        tried = try_folder(exporter, stage, saved.case, folder, replace(asked, judged=True))
    shown = [Shown(_with_case(one, tried, None), tried) for one in tried.failures]
    features = dict.fromkeys(tried.features, 1)
    skipped = [tried.result.words] if tried.result.how == "skipped" else []
    return Outcome(exporter, 1, features, skipped, shown)


def _listed(
    failure: Failure, exporter: Exporter, stage: Stage, expected: Sequence[Expected]
) -> Expected | None:
    """The entry that names a failure."""
    names = (one for one in expected if one.names(exporter.name, stage.name, failure))
    return next(names, None)


def _miss(outcome: Outcome, stage: Stage, expected: Sequence[Expected]) -> None:
    """Entries for what was tried, and did not fail."""
    rule = rule_that_finds("unexpected pass")
    for one in expected:
        if not one.is_for(outcome.exporter.name, stage.name):
            continue
        if one.seldom or not one.is_tried(outcome.features):
            continue
        if not any(
            one.names(outcome.exporter.name, stage.name, failure) for failure, _ in outcome.expected
        ):
            message = f"{rule.summary.rstrip('.')}; {one.words}: {one.reason}"
            found = rule.finding(outcome.exporter.name, message)
            outcome.absent.append(replace(found, table=one.words))


def report_of(outcomes: Sequence[Outcome]) -> Report:
    """The report: an entry for each exporter and each file that it was to write."""
    return Report(
        tuple(file for one in outcomes for file in _entries(one)), __version__, "observed"
    )


def _entries(outcome: Outcome) -> Iterator[FileReport]:
    found: Mapping[str, list[Finding]] = {one: [] for one in sorted([RUN, *outcome.features])}
    for shown in outcome.shown:
        found.get(shown.failure.feature, found[RUN]).append(shown.failure.finding)
    for failure, reason in outcome.expected:
        noted = replace(
            failure.finding,
            verdict="note",
            message=f"expected ({reason}): {failure.finding.message}",
        )
        found.get(failure.feature, found[RUN]).append(noted)
    found[RUN].extend(outcome.absent)
    skipped = tuple(Skipped("CFM104", "", reason) for reason in outcome.skipped)
    for feature, findings in found.items():
        label = f"{outcome.exporter.name}: {feature}"
        yield FileReport(
            label,
            None,
            tuple(replace(one, file=label) for one in findings),
            skipped if feature == RUN else (),
            rules_run=len({one.rule for one in findings}) + 1,
            places_checked=outcome.features.get(feature, outcome.cases),
        )
