"""The pytest plugin in a repository of an exporter."""

from __future__ import annotations

import sys

import pytest

pytest_plugins = ["pytester"]

TESTS = """
from ascend_conformance.harness.drawing import cases
from hypothesis import HealthCheck, given, settings

def test_one_scenario(assert_exports):
    assert_exports("single-op")

def test_profile(ascend_profile, assert_conforms):
    assert_conforms(ascend_profile("single-op"))

def test_drawn(assert_exporter_conforms):
    assert_exporter_conforms(scenarios=1)

@settings(max_examples=1, deadline=None, suppress_health_check=list(HealthCheck))
@given(cases())
def test_strategies(case):
    assert case.stage == "database-to-text"
"""


EXPORTER = "import sys; open(sys.argv[1] + '/a.txt', 'w')"

FAILING = """
def test_wrong(assert_exports):
    assert_exports("single-op")

def test_allowed(assert_exports):
    assert_exports("single-op", allow=["nothing-exported"])
"""


@pytest.fixture
def repository(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makepyfile(TESTS)
    return pytester


@pytest.mark.exhaustive
def test_a_sound_exporter_passes(repository: pytest.Pytester) -> None:
    result = repository.runpytest_subprocess("--ascend-exporter", "reference")
    result.assert_outcomes(passed=4)


@pytest.mark.campaign
def test_without_an_exporter_its_tests_are_skipped(repository: pytest.Pytester) -> None:
    result = repository.runpytest_subprocess("-k", "drawn or scenario")
    result.assert_outcomes(skipped=2, deselected=2)


@pytest.mark.exhaustive
def test_a_wrong_exporter_fails_with_the_difference(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(FAILING, exporter=EXPORTER)
    command = f"{sys.executable} exporter.py {{out}} {{in}}"
    result = pytester.runpytest_subprocess("--ascend-exporter", command)
    result.assert_outcomes(failed=1, passed=1)
    result.stdout.fnmatch_lines(["*CFM106*"])


@pytest.mark.exhaustive
def test_what_is_no_exporter_is_an_error_in_one_line(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(FAILING)
    result = pytester.runpytest_subprocess("--ascend-exporter", "true {in}")
    result.assert_outcomes(errors=2)
    result.stdout.fnmatch_lines(["*the command has no {out}*"])
