"""Workflow commands."""

from __future__ import annotations

import re
from dataclasses import replace

from hypothesis import given, settings
from report_samples import (
    CLEAN_REPORT,
    FULL_REPORT,
    INTERVAL,
    RULES,
    UNREADABLE_REPORT,
    file_report,
    one_report,
    reports,
)

from ascend_conformance.finding import Report
from ascend_conformance.report import FORMATS

COMMAND = re.compile(r"::(error|warning|notice) (file=[^:,]*,)?title=[^:,]*::.*")


def test_each_finding_is_an_annotation() -> None:
    assert FORMATS["github"](FULL_REPORT, RULES) == (
        "::error file=run/ascend_pytorch_profiler_1.db,"
        "title=DB401 interval-ends-before-start at TASK.endNs"
        "::An interval ends before it starts: 2 of 12,000 rows (first: rowid 88)"
        "%0Aexpected: endNs >= startNs"
        "%0Aexample: row=88 startNs=2000 endNs=1000"
        "%0Aexample: row=90 startNs=NULL"
        "%0Afix: Write endNs >= startNs.\n"
        "::warning file=run/ascend_pytorch_profiler_1.db,"
        "title=DB420 swapped-types-and-shapes at COMPUTE_TASK_INFO.inputShapes"
        "::Types and shapes are swapped: 7 of 7 rows (first: rowid 1) (erratum E23)"
        "%0Aexpected: types in inputDataTypes\n"
        "::notice file=run/ascend_pytorch_profiler_1.db,title=DB006 written-by-a-viewer"
        "::A viewer has changed this file\n"
        "::error title=ascend-ref"
        "::does not conform: 1 violation, 1 advice, 1 note; 2 checks skipped\n"
    )


def test_a_clean_file_is_a_notice() -> None:
    expected = "::notice title=ascend-ref::conforms: no violation, no advice, no note\n"
    assert FORMATS["github"](CLEAN_REPORT, RULES) == expected


def test_an_unreadable_file_is_an_error() -> None:
    first = FORMATS["github"](UNREADABLE_REPORT, RULES).splitlines()[0]
    assert first == "::error file=a.db,title=cannot be judged::file is not a database"


def test_separators_in_names_are_encoded() -> None:
    finding = replace(INTERVAL, table="x::y,z", message="50%\n::error::")
    text = FORMATS["github"](one_report(file_report(finding, file="a:b,c%.db")), {})
    assert text.startswith(
        "::error file=a%3Ab%2Cc%25.db,"
        "title=DB401 interval-ends-before-start at x%3A%3Ay%2Cz.endNs::50%25\\n::error::%0A"
    )


@settings(max_examples=20, deadline=None)
@given(reports())
def test_no_text_can_start_a_command_of_its_own(report: Report) -> None:
    lines = FORMATS["github"](report, RULES).splitlines()
    assert all(COMMAND.fullmatch(line) for line in lines)
    unreadable = sum(file.unreadable is not None for file in report.files)
    assert len(lines) == len(report.findings) + unreadable + 1
