"""The pytest plugin: profiles to test an exporter with, and assertions about what it writes.

Loaded by the entry point ``pytest11``; everything slow is imported when a fixture is asked for.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pytest

if TYPE_CHECKING:
    from ascend_simulator.scenario import Scenario

    from .harness.case import Case, Output
    from .harness.exporters import Exporter
    from .harness.stages import Stage


class MakeProfile(Protocol):
    """Writes the profile of a scenario."""

    def __call__(self, scenario: Scenario | str, output: Output = "pytorch", seed: int = 0) -> Path:
        """The folder of the profile, with its database; of a preset by its name."""


class AssertConforms(Protocol):
    """Judges files as ``ascend-ref check`` does."""

    def __call__(self, path: Path | str, allow: Collection[str] = ()) -> None:
        """Fail on a violation of any rule but those allowed, by id or name."""


class AssertExports(Protocol):
    """Tries the exporter on one case."""

    def __call__(
        self, scenario: Scenario | str | Case, allow: Collection[str] = (), seed: int = 0
    ) -> None:
        """Fail where what it writes is not the truth; ``allow``: rules that may be broken."""


class AssertExporterConforms(Protocol):
    """Tries the exporter on drawn cases."""

    def __call__(self, scenarios: int = 25, seed: int = 0, expected: Path | None = None) -> None:
        """Fail with the report; ``expected`` is a file of known failures."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options of the plugin."""
    group = parser.getgroup("ascend", "exporters of Ascend profiles")
    group.addoption(
        "--ascend-exporter",
        metavar="CMD",
        help="the exporter under test: a command with {in} and {out}, jsonl:CMD, or a name",
    )
    group.addoption(
        "--ascend-stage", default="database-to-text", metavar="STAGE", help="what it does"
    )
    group.addoption(
        "--ascend-timeout", type=float, default=120.0, metavar="S", help="seconds of one export"
    )


@pytest.fixture
def ascend_profile(tmp_path_factory: pytest.TempPathFactory) -> MakeProfile:
    """A function that simulates a scenario, and gives the folder of its profile."""

    def make(scenario: Scenario | str, output: Output = "pytorch", seed: int = 0) -> Path:
        from ascend_simulator import write_run

        from .harness.database_to_text import FORMATS

        folder = tmp_path_factory.mktemp("ascend") / "run"
        run = write_run(_scenario(scenario), seed, folder, FORMATS[output][:1])
        return run.profiles[-1]

    return make


@pytest.fixture
def assert_conforms() -> AssertConforms:
    """A function that judges files and folders, and fails on violations."""

    def judge(path: Path | str, allow: Collection[str] = ()) -> None:
        __tracebackhide__ = True
        from .check import check

        report = check([path])
        unreadable = [one.unreadable for one in report.files if one.unreadable]
        found = [
            f"{one.rule} {one.name} at {one.place}: {one.message}"
            for one in report.findings
            if one.verdict in ("violation", "failure") and not {one.rule, one.name} & {*allow}
        ]
        if unreadable or found:
            pytest.fail("\n".join([*unreadable, *found]), pytrace=False)

    return judge


@pytest.fixture
def ascend_stage(pytestconfig: pytest.Config) -> Stage:
    """The stage of the exporter under test."""
    from .harness.stages import STAGES

    name = pytestconfig.getoption("--ascend-stage")
    if name not in STAGES:
        raise pytest.UsageError(f"--ascend-stage is {name}; expected one of {', '.join(STAGES)}")
    return STAGES[name]


@pytest.fixture
def ascend_exporter(pytestconfig: pytest.Config, ascend_stage: Stage) -> Iterator[Exporter]:
    """The exporter under test; a test that asks for it is skipped where none is given."""
    from .harness.limits import Limits
    from .harness.named import NoExporter, exporter_of

    text = pytestconfig.getoption("--ascend-exporter")
    if text is None:
        pytest.skip("no exporter is given with --ascend-exporter")
    limits = Limits(pytestconfig.getoption("--ascend-timeout"))
    try:
        found = exporter_of(text, ascend_stage.name, limits, ascend_stage.reference)
    except NoExporter as problem:
        raise pytest.UsageError(str(problem)) from problem
    yield found
    found.close()


@pytest.fixture
def assert_exports(ascend_exporter: Exporter, ascend_stage: Stage) -> AssertExports:
    """A function that tries the exporter on one scenario."""

    def tried(scenario: Scenario | str | Case, allow: Collection[str] = (), seed: int = 0) -> None:
        __tracebackhide__ = True
        from .harness.case import Case
        from .harness.trial import try_case

        if isinstance(scenario, Case):
            case = scenario
        else:
            case = Case(_scenario(scenario), ascend_stage.name, seed=seed)
        found = [
            f"{one.feature}: {one.finding.rule} {one.finding.message}"
            for one in try_case(ascend_exporter, ascend_stage, case).failures
            if one.fails and not {one.finding.rule, one.finding.name} & {*allow}
        ]
        if found:
            pytest.fail("\n".join([case.words, *found]), pytrace=False)

    return tried


@pytest.fixture
def assert_exporter_conforms(
    ascend_exporter: Exporter, ascend_stage: Stage
) -> AssertExporterConforms:
    """A function that tries the exporter on many drawn scenarios."""

    def tried(scenarios: int = 25, seed: int = 0, expected: Path | None = None) -> None:
        __tracebackhide__ = True
        from .harness.conform import conform, report_of
        from .harness.drawing import draw_cases
        from .harness.expected import read_expected
        from .harness.matrix import as_text
        from .media import load_rules
        from .report import FORMATS

        known = read_expected(expected) if expected else []
        cases = draw_cases(ascend_stage, scenarios, seed)
        outcome = conform(ascend_exporter, ascend_stage, cases, expected=known)
        if outcome.fails:
            text = FORMATS["text"](report_of([outcome]), load_rules())
            pytest.fail(f"{as_text([outcome])}\n{text}", pytrace=False)

    return tried


def _scenario(given: Any) -> Scenario:
    from ascend_simulator.scenario import preset

    found: Scenario = preset(given) if isinstance(given, str) else given
    return found
