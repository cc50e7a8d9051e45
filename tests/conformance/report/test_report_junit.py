"""JUnit XML as a CI server would read it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest
import xmlschema
from hypothesis import given, settings
from report_samples import (
    FULL_REPORT,
    INTERVAL,
    RULES,
    UNREADABLE_REPORT,
    file_report,
    one_report,
    reports,
)

from ascend_conformance.finding import Report, Skipped
from ascend_conformance.report import FORMATS

JENKINS = xmlschema.XMLSchema(str(Path(__file__).with_name("jenkins_junit.xsd")))


def parsed(report: Report) -> Xml.Element:
    return Xml.fromstring(FORMATS["junit"](report, RULES))  # noqa: S314 - our own output


def test_a_file_is_a_suite_and_a_rule_a_case() -> None:
    text = FORMATS["junit"](FULL_REPORT, RULES)
    head, _, cases = text.partition("</properties>\n")
    assert head.startswith(
        """\
<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="ascend-ref" tests="6" failures="1" errors="0">
  <testsuite name="run/ascend_pytorch_profiler_1.db" tests="6" failures="1" errors="0" skipped="2">
    <properties>
      <property name="carrier" value="pytorch" />
"""
    )
    assert cases == (
        """\
    <testcase name="DB006 written-by-a-viewer" classname="run/ascend_pytorch_profiler_1.db">
      <system-out>note at the file
  A viewer has changed this file</system-out>
    </testcase>
    <testcase name="DB401 interval-ends-before-start" classname="run/ascend_pytorch_profiler_1.db">
      <failure type="violation" message="TASK.endNs: An interval ends before it starts: 2 of 12,000 rows (first: rowid 88)">violation at TASK.endNs
  An interval ends before it starts: 2 of 12,000 rows (first: rowid 88)
  expected: endNs &gt;= startNs
  example: row=88 startNs=2000 endNs=1000
  example: row=90 startNs=NULL
  fix: Write endNs &gt;= startNs.</failure>
    </testcase>
    <testcase name="DB420 swapped-types-and-shapes" classname="run/ascend_pytorch_profiler_1.db">
      <system-out>advice at COMPUTE_TASK_INFO.inputShapes
  Types and shapes are swapped: 7 of 7 rows (first: rowid 1) (erratum E23)
  expected: types in inputDataTypes</system-out>
    </testcase>
    <testcase name="DB301" classname="run/ascend_pytorch_profiler_1.db">
      <skipped message="NIC: table NIC is absent" />
    </testcase>
    <testcase name="DB302" classname="run/ascend_pytorch_profiler_1.db">
      <skipped message="NIC: table NIC is absent" />
    </testcase>
    <testcase name="90 rules without a finding" classname="run/ascend_pytorch_profiler_1.db" />
  </testsuite>
</testsuites>
"""  # noqa: E501 - the expected text has such lines
    )


def test_places_of_one_rule_share_a_case() -> None:
    root = parsed(one_report(file_report(INTERVAL, replace(INTERVAL, table="CANN_API"))))
    (failure,) = root.iter("failure")
    assert (failure.text or "").count("violation at ") == 2


def test_advice_beside_a_violation_of_the_same_rule_is_not_lost() -> None:
    advice = replace(INTERVAL, verdict="advice", table="CANN_API")
    root = parsed(one_report(file_report(INTERVAL, advice)))
    (case,) = (case for case in root.iter("testcase") if "DB401" in case.get("name", ""))
    assert [child.tag for child in case] == ["failure", "system-out"]


def test_an_unreadable_file_is_an_error() -> None:
    root = parsed(UNREADABLE_REPORT)
    (error,) = root.iter("error")
    assert error.get("message") == "file is not a database"
    assert root.get("errors") == "1"


def test_a_rule_that_is_skipped_elsewhere_says_so_in_its_case() -> None:
    skipped = tuple(Skipped("DB401", table, f"no column {table}.endNs") for table in ("B", "A"))
    root = parsed(one_report(file_report(INTERVAL, skipped=skipped)))
    (case,) = (case for case in root.iter("testcase") if "DB401" in case.get("name", ""))
    assert [child.tag for child in case] == ["failure", "system-out"]
    assert case[1].text == "skipped at A: no column A.endNs and 1 further place"


@settings(max_examples=60, deadline=None)
@given(reports())
def test_every_report_is_well_formed_and_counted_right(report: Report) -> None:
    root = parsed(report)
    totals = {"tests": "testcase", "failures": "failure", "errors": "error", "skipped": "skipped"}
    for element in [root, *root.iter("testsuite")]:
        for attribute, tag in totals.items():
            if element is root and attribute == "skipped":
                continue  # that of Jenkins has none there
            assert element.get(attribute) == str(len(list(element.iter(tag))))
    assert len(list(root.iter("testsuite"))) == len(report.files)


@pytest.mark.parametrize("report", [FULL_REPORT, UNREADABLE_REPORT], ids=["full", "unreadable"])
def test_jenkins_takes_it(report: Report) -> None:
    JENKINS.validate(FORMATS["junit"](report, RULES))


@settings(max_examples=20, deadline=None)
@given(reports())
def test_jenkins_takes_any_report(report: Report) -> None:
    JENKINS.validate(FORMATS["junit"](report, RULES))
